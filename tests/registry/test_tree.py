"""The names of tree decoders in config files."""

import pickle

import pytest

from spacy_decoders.decoders.tree import ChuLiuEdmonds, Eisner, PriceAndCut, SecondOrder
from spacy_decoders.registry import decoders


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("Eisner", {}, Eisner()),
        ("ChuLiuEdmonds", {}, ChuLiuEdmonds()),
        ("SecondOrder", {}, SecondOrder()),
        ("SecondOrder", {"grandparents": "outermost"}, SecondOrder("outermost")),
        ("PriceAndCut", {}, PriceAndCut()),
        ("PriceAndCut", {"solver": "HIGHS", "relax": True}, PriceAndCut("HIGHS", relax=True)),
    ],
)
def test_config_names_build_decoders(name, options, expected):
    decoder = decoders.get(f"spacy-decoders.{name}.v1")(**options)
    assert decoder == expected
    assert pickle.loads(pickle.dumps(decoder)) == expected
