"""The names of chain decoders in config files."""

import pickle

import pytest

from spacy_decoders.decoders.chain import (
    Beam,
    ColumnGeneration,
    ForwardDominance,
    PrunedViterbi,
    Viterbi,
)
from spacy_decoders.registry import decoders


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("ForwardDominance", {}, ForwardDominance()),
        ("Viterbi", {}, Viterbi()),
        ("PrunedViterbi", {}, PrunedViterbi()),
        ("ChainBeam", {}, Beam(5)),
        ("ChainBeam", {"width": 1}, Beam(1)),
        ("ColumnGeneration", {"reduced_cost": "left"}, ColumnGeneration(reduced_cost="left")),
    ],
)
def test_names_build_decoders_with_the_same_defaults(name, options, expected):
    built = decoders.get(f"spacy-decoders.{name}.v1")(**options)
    assert built == expected
    assert pickle.loads(pickle.dumps(built)) == expected
