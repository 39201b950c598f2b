"""The examples work as they stand."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from spacy_decoders import InfeasibleError
from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.errors import UndecidedError
from tests.oracles import all_chains
from tests.processes import python

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def argmax_decoder(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "argmax_decoder"))
    import argmax_decoder

    yield argmax_decoder
    del sys.modules["argmax_decoder"]


def test_a_decoder_from_another_package(argmax_decoder, rng):
    """It decodes as it says: sound bounds, and optimal or infeasible only where it is."""
    decoder, ends = argmax_decoder.argmax(), Counter()
    for _ in range(400):
        size, n = rng.integers(1, 5), rng.integers(0, 6)
        scale = rng.choice([0.0, 0.1, 3.0])
        arrays = (scale * rng.normal(size=(size, size)), rng.normal(size=size))
        for array in arrays:
            array[rng.random(array.shape) < rng.choice([0.0, 0.2, 0.9])] = -np.inf
        model = ChainModel(*arrays)
        emissions = rng.normal(size=(n, size)).astype(np.float32)
        weights = model.transitions, model.start, model.end
        best = all_chains(*weights, emissions)[0][0] if n else 0.0
        try:
            found = decoder.decode(model, emissions).certificate
        except (InfeasibleError, UndecidedError) as error:
            ends[type(error)] += 1
            assert isinstance(error, UndecidedError) or best == -np.inf
            continue
        ends[found.status] += 1
        assert found.score <= best + 1e-4
        assert found.bound >= best - 1e-4
        if found.is_optimal:
            assert found.score == pytest.approx(best, abs=1e-4)
    assert {*ends} == {"bounded", "optimal", InfeasibleError, UndecidedError}


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
