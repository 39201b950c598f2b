"""A local cost of inf forbids a candidate; margins are exact however far apart costs are."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders import InfeasibleError
from spacy_decoders.decoders.representatives import (
    Decomposable,
    Degree,
    ExactRepresentatives,
    Greedy,
    HittingDistance,
    LocalSearch,
    PageRank,
    RepresentativesProblem,
    SpanningTree,
)
from spacy_decoders.graph import ConceptGraph

PATH = ConceptGraph.from_edges([[v, v + 1] for v in range(5)])


SETS = [[0, 1, 2], [3, 4, 5]]


DECODERS = [
    ExactRepresentatives(),
    HittingDistance(),
    Greedy(),
    LocalSearch(),
    SpanningTree(),
    Decomposable(),
    Degree(),
    PageRank(),
]


def of_path(local) -> RepresentativesProblem:
    return RepresentativesProblem.from_graph(PATH, SETS, local=local)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: type(decoder).__name__)
def test_a_set_without_allowed_candidates_is_named(decoder):
    problem = of_path([[0.0, 0.0, 0.0], [np.inf] * 3])
    with pytest.raises(InfeasibleError, match=r"sets\[1\]: all 3 candidates are forbidden"):
        decoder.decode(problem)
