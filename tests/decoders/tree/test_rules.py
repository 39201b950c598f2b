"""Labelled trees that satisfy rules, against all labelled trees."""

from itertools import product

import numpy as np
import pytest

from spacy_decoders import verify
from spacy_decoders.decoders.tree import (
    AtMost,
    BranchAndBound,
    ChuLiuEdmonds,
    Constituent,
    Eisner,
    FixedArc,
    FixedLabel,
    FixedStart,
    ForbiddenArc,
    ForbiddenLabel,
    Leaves,
    PriceAndCut,
    Roots,
    SecondOrder,
    TreeProblem,
    score_tree,
    violations,
)
from spacy_decoders.errors import InfeasibleError
from tests import oracles
from tests.decoders.tree.samples import trees

LABELS = 3


def drawn_rules(rng, n, *, sentences=False):
    """Some rules of every kind."""
    token, labels = lambda: int(rng.integers(1, n + 1)), lambda: [int(rng.integers(LABELS))]
    first = token()
    kinds = [
        lambda: AtMost(labels(), int(rng.integers(3))),
        lambda: AtMost([0, 1]),
        lambda: AtMost([1, 2], heads=[token(), 0]),
        lambda: Leaves(labels()),
        lambda: Leaves(labels(), exempt=labels()),
        lambda: Leaves(tokens=[token()], exempt=labels()),
        lambda: Leaves(labels(), [token(), token()]),
        lambda: Leaves(tokens=[token()]),
        lambda: Roots([token(), token()], [0, 1]),
        lambda: FixedArc(int(rng.integers(n + 1)), token()),
        lambda: ForbiddenArc(int(rng.integers(n + 1)), token()),
        lambda: FixedLabel(token(), labels()),
        lambda: ForbiddenLabel(token(), labels()),
        lambda: Constituent(first, int(rng.integers(first, n + 1))),
    ]
    if sentences:
        kinds += [lambda: FixedStart(token(), bool(rng.integers(2)))] * 3
    return [kinds[place]() for place in rng.integers(len(kinds), size=rng.integers(1, 5))]


def best_by_force(problem):
    """The score of the best labelled tree that breaks no rule, -inf without one."""
    best = -np.inf
    if problem.boundaries is None:
        forests = [(heads, []) for heads in trees(problem.n, problem.projective, True)]
    else:
        forests = list(oracles.all_forests(problem.n, projective=problem.projective))
    for heads, starts in forests:
        siblings = None if problem.siblings is None else np.array(problem.siblings)
        if starts and siblings is not None:
            siblings[0] = 0.0  # the roots of different sentences
        base = oracles.tree_score(heads, problem.arcs, problem.grandparents, siblings)
        base += sum(problem.boundaries[s - 1] for s in starts if s > 1)
        if base == -np.inf:
            continue
        for labels in product(range(problem.labels.shape[2]), repeat=problem.n):
            parts = [problem.labels[h, m, one] for m, (h, one) in enumerate(zip(heads, labels), 1)]  # noqa: B905
            if base + sum(parts) > best and not any(
                oracles.breaks(rule, heads, labels) for rule in problem.rules
            ):
                best = base + sum(parts)
    return best


def check(decoder, problem):
    best = best_by_force(problem)
    try:
        solution = decoder.decode(problem)
    except InfeasibleError as error:
        assert best == -np.inf, (error, best)
        return "infeasible"
    assert solution.certificate.is_optimal
    assert solution.certificate.score == pytest.approx(best, abs=1e-9)
    assert score_tree(problem, solution.heads, solution.labels) == pytest.approx(best, abs=1e-9)
    assert not violations(problem, solution.heads, solution.labels)
    assert (solution.starts is None) == (problem.boundaries is None)
    assert verify(problem, solution).outcome != "refuted"
    return "optimal"


def scores_of(rng, n, share=0.1):
    labels = 2 * rng.normal(size=(n + 1, n + 1, LABELS))
    labels[rng.random(labels.shape) < share] = -np.inf
    return 2 * rng.normal(size=(n + 1, n + 1)), labels


@pytest.mark.parametrize("sentences", [False, True])
@pytest.mark.parametrize(
    "decoder", [SecondOrder(), BranchAndBound(), BranchAndBound("first-order"), PriceAndCut()]
)
def test_more_than_arcs(decoder, sentences):
    rng = np.random.default_rng(2)
    met = set()
    for place in range(20):
        n = int(rng.integers(1, 5))
        arcs, labels = scores_of(rng, n)
        grandparents, siblings = rng.normal(size=(2, n + 1, n + 1, n + 1))
        with_siblings = isinstance(decoder, BranchAndBound)
        problem = TreeProblem(
            arcs,
            grandparents,
            siblings if with_siblings else None,
            labels=labels,
            rules=drawn_rules(rng, n, sentences=sentences),
            boundaries=rng.normal(size=n) if sentences else None,
            projective=isinstance(decoder, SecondOrder) or place % 2 == 0,
        )
        met.add(check(decoder, problem))
    assert "optimal" in met


@pytest.mark.parametrize("sentences", [False, True])
@pytest.mark.parametrize("decoder", [Eisner(), ChuLiuEdmonds()])
def test_arcs_alone(decoder, sentences):
    rng = np.random.default_rng(1)
    met = set()
    for _ in range(60):
        n = int(rng.integers(1, 5))
        arcs, labels = scores_of(rng, n)
        problem = TreeProblem(
            arcs,
            labels=labels,
            rules=drawn_rules(rng, n, sentences=sentences),
            boundaries=rng.normal(size=n) if sentences else None,
            projective=isinstance(decoder, Eisner),
        )
        met.add(check(decoder, problem))
    assert met == {"optimal", "infeasible"}
