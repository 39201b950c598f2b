"""The names of config files build what they say, with the same defaults."""

import pickle

import pytest
import spacy

import spacy_decoders
from spacy_decoders.components.linker.candidates import AliasCandidates, TextCandidates
from spacy_decoders.decoders import chain, path, tree
from spacy_decoders.knowledge import pair_costs
from spacy_decoders.registry import decoders
from tests.decoders.test_arguments import DECODERS

#: Classes that two cores have go by the names of both.
BEAMS = {chain.Beam: "ChainBeam", path.Beam: "PathBeam"}


def test_names_that_are_imported_on_first_use_are_listed():
    assert {"explain", "ConceptBase", "load"} <= {*dir(spacy_decoders)}
    assert "TYPE_CHECKING" not in dir(spacy_decoders)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        *(
            (BEAMS.get(type(decoder), type(decoder).__name__), {}, decoder)
            for _, decoder in DECODERS
        ),
        (
            "ColumnGeneration",
            {"reduced_cost": "left"},
            chain.ColumnGeneration(reduced_cost="left"),
        ),
        ("SecondOrder", {"grandparents": "outermost"}, tree.SecondOrder("outermost")),
        ("PriceAndCut", {"solver": "HIGHS", "relax": True}, tree.PriceAndCut("HIGHS", relax=True)),
        ("ColorCoding", {"failure": 0.01, "seed": 3}, path.ColorCoding(failure=0.01, seed=3)),
        ("PathBeam", {"width": 5, "lookahead": True}, path.Beam(5, lookahead=True)),
        ("IntegerProgram", {"formulation": "flow"}, path.IntegerProgram("HIGHS", "flow")),
    ],
)
def test_decoders(name, options, expected):
    built = decoders.get(f"spacy-decoders.{name}.v1")(**options)
    assert built == expected
    assert pickle.loads(pickle.dumps(built)) == expected


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("AliasCandidates", {}, AliasCandidates()),
        ("TextCandidates", {"limit": 3}, TextCandidates(3)),
        ("SharedNeighbours", {"most": 9}, pair_costs.SharedNeighbours(most=9)),
        ("GraphDistance", {}, pair_costs.GraphDistance()),
        ("EntityVectors", {}, pair_costs.EntityVectors()),
    ],
)
def test_parts_of_the_linker(name, options, expected):
    assert spacy.registry.misc.get(f"spacy-decoders.{name}.v1")(**options) == expected
