"""The graphs of texts of any kind and length."""

import numpy as np
import pytest

from tests.components.headline.titled import TEXTS, blank


def test_a_very_long_text():
    rng = np.random.default_rng(0)
    words = ["w" + "".join(chr(97 + int(d)) for d in str(i)) for i in range(1500)]
    text = " ".join(words[int(i)] for i in np.minimum(rng.zipf(1.3, 20_000) - 1, 1499))
    doc = blank(length=3, max_vertices=300)(text)
    certificate = doc._.headlines[0]["certificate"]
    assert certificate["scope"] in ("full", "pruned")
    assert len(doc._.headlines[0]["tokens"]) == 3


@pytest.mark.parametrize(
    "decoder",
    [
        {"@decoders": "spacy-decoders.ExactPath.v1"},
        {"@decoders": "spacy-decoders.ColorCoding.v1", "failure": 1e-4},
        {"@decoders": "spacy-decoders.PathBeam.v1", "width": 100, "lookahead": True},
        {"@decoders": "spacy-decoders.IntegerProgram.v1"},
    ],
)
def test_every_decoder_writes_the_same_headline(decoder):
    expected = blank(length=3, n_best=2)(TEXTS["Sorting by heaps"])
    doc = blank(length=3, n_best=2, decoder=decoder, seconds=None)(TEXTS["Sorting by heaps"])
    assert doc._.headline == expected._.headline
    scores = [headline["score"] for headline in doc._.headlines]
    assert scores == pytest.approx([h["score"] for h in expected._.headlines], abs=1e-6)
