"""The names of path decoders in config files."""

import pickle

import pytest

from spacy_decoders.decoders.path import Beam, ColorCoding, ExactPath, IntegerProgram
from spacy_decoders.registry import decoders


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("ExactPath", {}, ExactPath()),
        ("ColorCoding", {"failure": 0.01, "seed": 3}, ColorCoding(failure=0.01, seed=3)),
        ("PathBeam", {"width": 5, "lookahead": True}, Beam(5, lookahead=True)),
        ("PathBeam", {}, Beam()),
        ("IntegerProgram", {}, IntegerProgram()),
        ("IntegerProgram", {"formulation": "flow"}, IntegerProgram("HIGHS", "flow")),
    ],
)
def test_names_build_decoders_with_the_same_defaults(name, options, expected):
    built = decoders.get(f"spacy-decoders.{name}.v1")(**options)
    assert built == expected
    assert pickle.loads(pickle.dumps(built)) == expected
