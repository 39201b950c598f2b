"""The whole product in surroundings that are not like at home: places, languages, no network."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import python

#: What users do, in a folder whose name has blanks and several scripts, warnings being errors.
DAY = """
import sys, warnings
from pathlib import Path
warnings.simplefilter("error")
warnings.filterwarnings("ignore", category=DeprecationWarning)
import spacy
import spacy_decoders
from spacy_decoders import ConceptBase, explain
from spacy_decoders.annotate import Job, annotate
from spacy_decoders.cli.knowledge import build_from_file

here = Path(sys.argv[1])
nlp = spacy_decoders.load()
nlp.to_disk(here / "nlp")
nlp = spacy.load(here / "nlp")
doc = nlp("Zoë met José in Köln; the old man can fish.")
assert doc[-5].tag_ == "JJ", [token.tag_ for token in doc]
(here / "texts.jsonl").write_text('{"text": "Zoë lives in Köln."}\\n', encoding="utf8")
job = Job(here / "texts.jsonl", here / "out", str(here / "nlp"), format="jsonl")
assert annotate(job, progress=False).written == 1
(here / "concepts.tsv").write_text("id\\ttitle\\nc1\\tKöln\\nc2\\tΑθήνα\\n", encoding="utf8")
build_from_file(here / "concepts.tsv", here / "kb", hubs=1)
assert ConceptBase.open(here / "kb").titles[1] in ("Köln", "Αθήνα")
explain(doc).save(here / "page.html")
assert "Köln" in (here / "page.html").read_text(encoding="utf8")
print("good")
"""


def spend_a_day(folder, *, interpreter=(sys.executable,), **environment):
    """Run in the folder, with other variables."""
    (folder / "Ein Ordner ü 日本").mkdir()
    (folder / "day.py").write_text(DAY, encoding="utf8")
    first, *rest = interpreter
    arguments = (*rest, folder / "day.py", folder / "Ein Ordner ü 日本")
    assert python(*arguments, interpreter=first, **environment).stdout.endswith("good\n")


def test_a_folder_with_other_scripts_the_language_c_and_no_network(tmp_path):
    isolated = ("unshare", "--map-root-user", "--net")
    if not shutil.which("unshare") or subprocess.run([*isolated, "true"], check=False).returncode:
        isolated = ()  # no network of its own may be made here
    language = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    spend_a_day(tmp_path, interpreter=(*isolated, sys.executable), **language)


@pytest.mark.slow
@pytest.mark.timeout(0)  # it compiles everything
def test_without_a_home_and_a_place_for_compiled_code(tmp_path):
    spend_a_day(tmp_path, without=("HOME", "XDG_CACHE_HOME"), NUMBA_CACHE_DIR="/proc/none")
    assert not Path("/proc/none").exists()
