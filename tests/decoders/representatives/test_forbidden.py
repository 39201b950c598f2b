"""A local cost of inf forbids a candidate; margins are exact however far apart costs are."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError, verify
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
def test_forbidden_candidates_are_never_chosen(decoder):
    problem = of_path([[0.0, 0.0, np.inf], [np.inf, np.inf, 0.0]])
    solution = decoder.decode(problem)
    assert solution.vertices[0] != 2 and solution.vertices[1] == 5
    assert np.isfinite(solution.certificate.score)
    # nothing else is left in the second set
    assert solution.margins[1] == np.inf and solution.exact_margins[1]
    assert verify(problem, solution)
    # and it was not chosen for want of a reason
    free = decoder.decode(of_path(None))
    assert free.vertices[1] != 5


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: type(decoder).__name__)
def test_a_set_without_allowed_candidates_is_named(decoder):
    problem = of_path([[0.0, 0.0, 0.0], [np.inf] * 3])
    with pytest.raises(InfeasibleError, match=r"sets\[1\]: all 3 candidates are forbidden"):
        decoder.decode(problem)


def test_forbidding_is_leaving_out():
    rng = np.random.default_rng(1)
    for case in range(40):
        size = 20
        raw = rng.integers(1, 9, (size, size)) if case % 2 else rng.normal(size=(size, size))
        distances = np.triu(raw, 1) + np.triu(raw, 1).T
        sets = np.split(rng.permutation(size), 5)
        allowed = [rng.random(4) < 0.6 for _ in sets]
        for one in allowed:
            one[rng.integers(4)] = True
        masked = [np.where(one, 0.0, np.inf) for one in allowed]
        whole = RepresentativesProblem(distances, sets, masked)
        rest = RepresentativesProblem(
            distances, [s[one] for s, one in zip(sets, allowed, strict=True)]
        )
        for decoder in (ExactRepresentatives(), HittingDistance()):
            first, second = decoder.decode(whole), decoder.decode(rest)
            assert first.vertices.tolist() == second.vertices.tolist()
            assert first.certificate == second.certificate
            np.testing.assert_array_equal(first.margins, second.margins)


@pytest.mark.parametrize("cost", [np.nan, -np.inf])
def test_other_costs_that_are_no_numbers_are_refused(cost):
    with pytest.raises(ProblemError, match=r"local\[0\].*got (nan|-inf).*forbidden by a cost of"):
        of_path([[0.0, cost, 0.0], [0.0, 0.0, 0.0]])
    with pytest.raises(ProblemError, match="distances"):
        RepresentativesProblem([[0.0, cost], [cost, 0.0]], [[0], [1]])
