"""A search that begins with each word's likely heads finds what any other finds."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import BranchAndBound, TreeProblem, score_tree
from spacy_decoders.decoders.tree.branch_and_bound import search
from spacy_decoders.decoders.tree.branch_and_bound.preparation import likely_arcs, slack_of
from tests import oracles


def problem_of(rng, n, single_root=True):
    size = (n + 1,) * 3
    arcs = rng.integers(-4, 5, size[:2]).astype(float)
    arcs[rng.random(arcs.shape) < 0.1] = -np.inf
    chains, pairs = (rng.integers(-4, 5, size).astype(float) for _ in range(2))
    return TreeProblem(arcs, chains, pairs, single_root=single_root)


@pytest.mark.parametrize("heads", [1, 2])
def test_equals_brute_force(rng, monkeypatch, heads):
    monkeypatch.setattr(search, "LIKELY_HEADS", heads)
    for _ in range(60):
        single_root = bool(rng.integers(2))
        problem = problem_of(rng, 5, single_root)
        trees = oracles.all_trees(5, projective=True, single_root=single_root)
        best = max(score_tree(problem, tree) for tree in trees)
        if best == -np.inf:
            continue
        certificate = BranchAndBound().decode(problem).certificate
        assert certificate.is_optimal
        assert certificate.score == pytest.approx(best)


def test_equals_a_search_among_all_arcs(rng, monkeypatch):
    problems = [problem_of(rng, n) for n in (16, 18, 20)]
    scores = [BranchAndBound().decode(p).certificate for p in problems]
    monkeypatch.setattr(search, "LIKELY_HEADS", 1000)
    for problem, with_likely in zip(problems, scores, strict=True):
        certificate = BranchAndBound().decode(problem, budget=Budget(iterations=2000)).certificate
        assert with_likely.score <= certificate.bound + 1e-6
        assert certificate.score <= with_likely.bound + 1e-6


def test_likely_arcs_are_candidates_of_least_slack(rng):
    problem = problem_of(rng, 6)
    slack = slack_of(problem)
    likely = likely_arcs(problem, slack, 2)
    assert likely is not None
    assert not (likely.astype(bool) & ~problem.allowed).any()
    for token in range(1, 7):
        chosen = slack[likely[:, token] == 1, token]
        others = slack[(likely[:, token] == 0) & problem.allowed[:, token], token]
        assert len(chosen) >= min(2, problem.allowed[:, token].sum())
        assert others.min(initial=np.inf) > chosen.max()


def test_without_a_tree_all_arcs_are_equally_likely():
    slack = slack_of(TreeProblem(np.full((3, 3), -np.inf)))
    assert (slack == 1.0).all()
