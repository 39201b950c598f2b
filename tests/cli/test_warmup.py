"""``python -m spacy decoders warmup``: after it nothing is compiled any more."""

import re
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from spacy_decoders.cli.warmup import CORES, run_pipeline, tasks_of
from spacy_decoders.decoders.chain.posterior import ChainPosteriors
from spacy_decoders.registry import decoders
from tests.processes import python

from .commands import run

PACKAGE = Path(__file__).parents[2] / "spacy_decoders"

WORK = """
import spacy
import spacy_decoders
from pathlib import Path
from spacy.training import Example
from spacy_decoders import Budget
from spacy_decoders.cli.knowledge import build_from_file, show
from spacy_decoders.decoders.path import Beam, ExactPath, PathProblem
from spacy_decoders.kernel_cache import progress

text = (
    "The committee that met in Geneva on Tuesday said that it would, if the members agreed, send "
    "the report which Mary Jones had written to the United Nations before the end of the year, "
    "although some of the delegates from Brazil and Germany had asked for more time to read it. "
    "Prices rose. Python is a language; the python in the zoo is not. What did they see?"
)
nlp = spacy_decoders.load()
docs = list(nlp.pipe([text, "Short.", "", text.replace("Geneva", "Paris")]))
assert all(doc._.headline is not None for doc in [*docs, nlp(" ")])
blank = spacy.blank("en")
words = ["Dogs", "bark", "loudly", "."]
gold = {"words": words, "tags": ["NNS", "VBP", "RB", "."], "heads": [1, 1, 1, 1],
        "deps": ["nsubj", "ROOT", "advmod", "punct"]}
for factory in ("exact_tagger", "branch_and_bound_parser"):
    blank.add_pipe(factory)
examples = [Example.from_dict(blank.make_doc(" ".join(words)), gold) for _ in range(4)]
blank.initialize(lambda: examples)
for _ in range(3):
    blank.update(examples)
blank("Dogs bark.")
problem = PathProblem([0, 0, 0], [[0, 2, 1], [1, 0, 3], [0, 0, 0]], [0, 0, 0], [0, 1, 2])
for decoder in (Beam(1), ExactPath()):
    decoder.decode(problem, 2, budget=Budget(seconds=1.0))
table = Path("concepts.tsv")
table.write_text("id\\ttitle\\taliases\\tlinks\\nsun\\tSun\\tsol\\t\\n", encoding="utf8")
build_from_file(table, Path("kb"), hubs=1)
show(Path("kb"), verify=True)
assert spacy_decoders.__file__.startswith({place!r}), spacy_decoders.__file__
print(progress.functions)
"""


@pytest.mark.slow  # `make test` runs it before all tests
def test_warmup_compiles_every_registered_decoder():
    made, wanted = map(int, re.findall(r"(\d+) of (\d+) are compiled", run("warmup"))[0])
    assert made == wanted > 5


def test_a_pipeline_is_run_with_its_alternatives():
    likely_runs = ChainPosteriors.likely_runs
    with patch.object(ChainPosteriors, "likely_runs", autospec=True) as alternatives:
        alternatives.side_effect = likely_runs
        run_pipeline("en")
    assert alternatives.called
    said = run("warmup", "--model", "nope", code=1)
    assert "find model 'nope'" in said and "OSError" not in said and "of 1" not in said


@pytest.mark.slow
def test_a_pipeline_is_warmed_up():
    assert "1 of 1 are compiled and ready" in run("warmup", "--pipeline", "en")


def test_every_decoder_of_ours_is_run_by_its_core():
    ours = {name for name in decoders.get_all() if name.startswith("spacy-decoders.")}
    assert ours <= {name for core in CORES for name in tasks_of(core)}


@pytest.mark.slow
@pytest.mark.timeout(0)  # compiling takes what it takes
def test_nothing_is_compiled_after_a_warmup(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    work = WORK.replace("{place!r}", repr(str(tmp_path)))
    for command in (["-m", "spacy", "decoders", "warmup"], ["-c", work]):
        done = python(
            *command, folder=tmp_path, without=("NUMBA_CACHE_DIR",), PYTHONPATH=str(tmp_path)
        )
    assert done.stdout.split()[-1] == "0" and "compil" not in done.stderr
