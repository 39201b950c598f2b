"""The names of the linker's parts in config files."""

import pytest
import spacy

from spacy_decoders.components.linker.candidates import AliasCandidates, TextCandidates
from spacy_decoders.knowledge import pair_costs


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("AliasCandidates", {}, AliasCandidates()),
        ("TextCandidates", {"limit": 3}, TextCandidates(3)),
        ("SharedNeighbours", {"within": "graph"}, pair_costs.SharedNeighbours(within="graph")),
        ("GraphDistance", {}, pair_costs.GraphDistance()),
        ("DirectLink", {}, pair_costs.DirectLink()),
        ("EntityVectors", {}, pair_costs.EntityVectors()),
    ],
)
def test_names_build_what_they_say(name, options, expected):
    assert spacy.registry.misc.get(f"spacy-decoders.{name}.v1")(**options) == expected


def test_without_a_path_the_shipped_concepts_are_opened():
    load = spacy.registry.misc.get("spacy-decoders.ConceptBase.v1")()
    assert load(spacy.blank("en").vocab).base.number("jaguar") >= 0
