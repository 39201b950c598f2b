"""What config names stand for: imported late, with the types and defaults of its own."""

import inspect
from importlib.metadata import entry_points
from typing import Literal

import pytest
import spacy
from confection import ConfigValidationError

from spacy_decoders.decoders.tree import PriceAndCut
from spacy_decoders.registry.deferred import Deferred


def test_a_signature_has_types_and_defaults():
    signature = inspect.signature(Deferred("decoders.tree:PriceAndCut"))
    assert next(iter(signature.parameters)) == "solver"
    assert signature.parameters["solver"].annotation == Literal["HIGHS", "CBC"]
    assert signature.parameters["solver"].default == PriceAndCut().solver


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"@decoders": "spacy-decoders.PriceAndCut.v1", "solver": "GLPK"}, "solver"),
        ({"@decoders": "spacy-decoders.PriceAndCut.v1", "solvr": "CBC"}, "solvr"),
        ({"@decoders": "spacy-decoders.ChainBeam.v1", "width": "wide"}, "width"),
        ({"@misc": "spacy-decoders.TextCandidates.v1", "limits": 3}, "limits"),
        ({"@architectures": "spacy-decoders.WordSelection.v1", "features": 3}, "features"),
    ],
)
def test_configs_are_refused_by_the_name_of_the_option(block, message):
    with pytest.raises(ConfigValidationError, match=message):
        spacy.registry.resolve({"block": block})


REGISTERED = [
    entry
    for group in ("architectures", "callbacks", "factories", "misc", "readers", "scorers")
    for entry in entry_points(group=f"spacy_{group}")
    if entry.value.startswith("spacy_decoders.")
] + list(entry_points(group="spacy_decoders"))


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda entry: entry.name)
def test_types_of_arguments_are_no_strings(entry):
    # most releases of spaCy 3.8 have a confection that takes the signature as it is
    for parameter in inspect.signature(entry.load()).parameters.values():
        assert not isinstance(parameter.annotation, str), parameter
