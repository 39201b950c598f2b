"""What every decoder of representatives promises, checked in exact arithmetic.

`problems` draws small problems with all that has ever gone wrong; `check` decodes one with
every decoder and compares what the certificates claim with all choices, priced in fractions.
"""

import math
from collections import Counter
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from spacy_decoders import InfeasibleError, NotDecomposableError, verify
from spacy_decoders.decoders import representatives as core
from spacy_decoders.decoders.representatives import exact
from spacy_decoders.graph import ConceptGraph
from tests.decoders.claims import check_claim
from tests.oracles import all_representatives

MASKS = [sign * 10.0**power for power in (4, 7, 9, 12, 20, 30) for sign in (1, 1, 1, -1)]
COSTS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.0, 1.0, 0.5, 0.1]),
    st.floats(-1e3, 1e3),
    st.sampled_from(MASKS),
    st.sampled_from([1e-20, -1e-10, 1e10, 1e20, 5e-324, -1e-310, 1e-300]),
)
PLAIN = [core.ExactRepresentatives(), core.ExactRepresentatives(exact_margins=False, starts=1)]
PLAIN += [core.HittingDistance(), core.Greedy(2), core.LocalSearch(starts=2)]
OF_GRAPHS = [core.SpanningTree(1), core.Decomposable(1), core.Degree(), core.PageRank()]


@st.composite
def _problems(draw: Any) -> core.RepresentativesProblem:
    kind = draw(st.sampled_from(["graph", "whole", "real", "real"]))
    size = draw(st.integers(1, 9))
    k = draw(st.integers(1, 5))
    sets = [
        draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=4, unique=True))
        for _ in range(k)
    ]
    few = draw(st.lists(COSTS, min_size=1, max_size=8))
    cost = st.sampled_from(few) if draw(st.booleans()) else COSTS
    local = None
    if draw(st.booleans()):
        local = [[draw(st.one_of(cost, st.just(np.inf))) for _ in s] for s in sets]
        for costs in local:
            # a set without a candidate is a case of its own, but a rare one
            if draw(st.integers(0, 19)):
                costs[draw(st.integers(0, len(costs) - 1))] = draw(cost)
    weight = draw(st.sampled_from([1.0, 1.0, 0.0, 2.5, 1e-12, 1e9]))
    if kind == "graph":
        edges = [[draw(st.integers(0, v)), v + 1] for v in range(size)]
        edges += draw(st.lists(st.lists(st.integers(0, size), min_size=2, max_size=2), max_size=4))
        connection = draw(st.sampled_from([None, "maximal", "minimal"]))
        graph = ConceptGraph.from_edges(np.array(edges))
        options = {"unreachable": draw(st.sampled_from([None, 30.5]))}
        return core.RepresentativesProblem.from_graph(
            graph, sets, connection, local=local, weight=weight, **options
        )
    entry = st.integers(0, 12) if kind == "whole" else cost
    upper = [[draw(entry) for _ in range(size)] for _ in range(size)]
    array = np.array(upper, dtype=np.int64 if kind == "whole" else np.float64)
    distances = np.triu(array) + np.triu(array, 1).T
    return core.RepresentativesProblem(distances, sets, local, weight)


problems = _problems()


def check(problem: core.RepresentativesProblem) -> Counter[str]:
    """Decode with every decoder; raise AssertionError where a promise is broken."""
    met: Counter[str] = Counter()
    costs = all_representatives(problem)
    asked = [(decoder, 0) for decoder in (PLAIN if problem.graph is None else PLAIN + OF_GRAPHS)]
    asked.append((PLAIN[0], 10**9))  # it prices all choices instead of searching
    for decoder, few in asked:
        name = type(decoder).__name__
        try:
            with patch.object(exact, "FEW", few):
                solution = decoder.decode(problem)
        except InfeasibleError:
            assert not costs, f"{name}: infeasible, but there are {len(costs)} choices"
            met[f"{name} infeasible"] += 1
            continue
        except NotDecomposableError:
            met[f"{name} refused"] += 1
            continue
        met[f"{name} {solution.certificate.status}"] += 1
        _check_certificate(name, problem, solution, costs)
        if isinstance(decoder, (core.ExactRepresentatives, core.Decomposable)):
            _check_margins(name, problem, solution, costs)
            proven = solution.exact_margins
            met[f"{name} exact margins"] += int(proven.sum())
            if decoder in (PLAIN[0], OF_GRAPHS[1]):
                met[f"{name} margins not proven"] += int((~proven).sum())
        outcome = verify(problem, solution)
        assert outcome.outcome != "refuted", f"{name}: {outcome.reason}"
        met[f"{name} {outcome.outcome} by verify()"] += 1
    return met


def _check_certificate(
    name: str, problem: core.RepresentativesProblem, solution: Any, costs: dict[Any, Fraction]
) -> None:
    choices = tuple(solution.choices.tolist())
    assert choices in costs, f"{name}: {choices} is no legal choice"
    scale, least = problem.priced(problem.offsets[:-1] + choices)[1], min(costs.values())
    given = solution.certificate, costs[choices], least, scale
    check_claim(*given, rounding=1e-12 * scale + 1e-300, minimized=True)


def _check_margins(
    name: str, problem: core.RepresentativesProblem, solution: Any, costs: dict[Any, Fraction]
) -> None:
    """Compare with the best choices that differ, by the costs of these and of the best."""
    score = costs[tuple(solution.choices.tolist())]
    for i, choice in enumerate(solution.choices.tolist()):
        others = {c: cost for c, cost in costs.items() if c[i] != choice}
        margin = float(solution.margins[i])
        if not others:
            assert math.isinf(margin) and margin > 0 and solution.exact_margins[i], name
            continue
        assert math.isfinite(margin), name
        least = min(others, key=lambda c: others[c])
        true = others[least] - score
        both = least, solution.choices
        scale = sum(problem.priced(problem.offsets[:-1] + choices)[1] for choices in both)
        slack = Fraction(1e-6 * (1 + scale)) + abs(true) * Fraction(1e-6)
        if abs(true) > Fraction(float(np.finfo(np.float32).max)):
            continue
        assert Fraction(margin) <= true + slack, f"{name}: margin {i} is {margin}, not {true}"
        if solution.exact_margins[i]:
            assert Fraction(margin) >= true - slack, f"{name}: margin {i} is {margin}, not {true}"
