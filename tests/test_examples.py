"""The examples work as they stand."""

import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, Viterbi
from tests.processes import python

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def argmax_decoder(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "argmax_decoder"))
    import argmax_decoder

    yield argmax_decoder
    del sys.modules["argmax_decoder"]


def test_a_decoder_from_another_package(argmax_decoder, rng):
    """It decodes as it says: sound bounds, and optimal only where it is."""
    decoder = argmax_decoder.argmax()
    optimal = 0
    for _ in range(200):
        size, n = rng.integers(1, 5), rng.integers(0, 6)
        scale = rng.choice([0.0, 0.1, 3.0])
        model = ChainModel(scale * rng.normal(size=(size, size)), rng.normal(size=size))
        emissions = rng.normal(size=(n, size)).astype(np.float32)
        found = decoder.decode(model, emissions).certificate
        best = Viterbi().decode(model, emissions).certificate.score
        assert found.score <= best + 1e-4
        assert found.bound >= best - 1e-4
        if found.is_optimal:
            optimal += 1
            assert found.score == pytest.approx(best, abs=1e-4)
    assert optimal


def test_it_is_known_by_its_entry_point(argmax_decoder, tmp_path):
    """Installed, its name works in a config: shown in a process that sees its metadata."""
    site = tmp_path / "argmax_decoder-0.1.0.dist-info"
    site.mkdir()
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: argmax-decoder\nVersion: 0.1.0\n")
    (site / "entry_points.txt").write_text(
        "[spacy_decoders]\nargmax-decoder.Argmax.v1 = argmax_decoder:argmax\n"
    )
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, "
        f"{str(EXAMPLES / 'argmax_decoder')!r}]\n"
        "import spacy\n"
        "nlp = spacy.blank('en')\n"
        "tagger = nlp.add_pipe('exact_tagger', config={'decoder': "
        "{'@decoders': 'argmax-decoder.Argmax.v1'}})\n"
        "tagger.add_label('X'); tagger.add_label('Y')\n"
        "from spacy.training import Example\n"
        "gold = Example.from_dict(nlp.make_doc('a b'), {'tags': ['X', 'Y']})\n"
        "nlp.initialize(lambda: [gold])\n"
        "print(nlp('a b')._.certificates['exact_tagger'][0]['decoder'])\n"
    )
    assert python("-c", code).stdout.strip() == "Argmax"
