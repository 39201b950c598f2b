"""What being installed costs, and that it works where nothing may be written."""

import json
import sys

import pytest

from tests.processes import python

HEAVY = ("numba", "networkx", "mip", "scipy", "llvmlite")


def test_a_blank_pipeline_imports_nothing_heavy():
    code = """
import json, sys
import spacy
spacy.blank("en")
spacy.registry.decoders.get_all()
import spacy_decoders, spacy_decoders.cli
before = sorted(sys.modules)
import spacy_decoders.components.headline.generator
print(json.dumps([before, sorted(sys.modules)]))
"""
    imported, with_headlines = json.loads(python("-c", code).stdout)
    assert "spacy_decoders.components.factories.exact_tagger" in imported
    assert "spacy_decoders.components.tagger.tagger" not in imported
    assert not [name for name in with_headlines if name.split(".")[0] in HEAVY]


@pytest.mark.slow
@pytest.mark.timeout(0)  # compiling takes what it takes
@pytest.mark.skipif(sys.platform == "win32", reason="permissions mean something else there")
def test_a_read_only_installation_without_a_cache_works(tmp_path):
    # whoever runs the tests may be able to write anywhere, so nothing can be read or written
    code = """
from spacy_decoders import kernel_cache

def nowhere(*given):
    raise PermissionError("nowhere")

kernel_cache._Files.load = kernel_cache.written_whole = nowhere

import spacy_decoders
viterbi = {"components.tagger.decoder": {"@decoders": "spacy-decoders.Viterbi.v1"}}
doc = spacy_decoders.load(config=viterbi)("The old man can fish.")
assert [token.tag_ for token in doc] == ["DT", "JJ", "NN", "MD", "VB", "."]
from spacy_decoders.decoders.chain.kernels.rescoring import path_scores
assert not path_scores.stats.cache_hits
print(doc._.certificates["tagger"][0]["status"])
"""
    nowhere = str(tmp_path / "missing" / "home")
    environment = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "IPYTHONDIR": nowhere}
    assert python("-c", code, **environment).stdout.strip() == "optimal"
