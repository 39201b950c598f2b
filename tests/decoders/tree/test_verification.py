"""What verify() says of trees that are too long to enumerate."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders import verify
from spacy_decoders.decoders import tree
from tests.decoders.tree.faults import problem_of

N = 8


@pytest.mark.parametrize(
    ("decoder", "parts"),
    [
        (tree.Eisner(), {}),
        (tree.BranchAndBound(), {"siblings": True}),
        (tree.PriceAndCut(), {"second": True, "projective": False}),
    ],
)
def test_does_not_confirm_a_worse_tree_called_optimal(decoder, parts):
    problem = problem_of(7, n=N, **parts)
    if "siblings" in parts:
        problem = replace(problem, factors=tree.Factors.valency(2, N, [-3.0, 0.0, 1.0]))
    best = decoder.decode(problem)
    token = int(np.argmax(problem.arcs[best.heads, range(1, N + 1)])) + 1
    allowed = problem.allowed.copy()
    allowed[best.heads[token - 1], token] = False
    second = decoder.decode(problem.restricted(allowed))
    assert second.certificate.is_optimal  # of the smaller problem
    found = verify(problem, second)
    assert found.outcome in ("refuted", "undecided")
    assert not found


UNORDERED = {"projective": False}


@pytest.mark.parametrize(
    "parts",
    [
        {"labels": 0.0, **UNORDERED},
        {"labels": 3.0, **UNORDERED},
        {"labels": 3.0, "rules": [tree.AtMost([0], 2)]},
        {"boundaries": 3.0, **UNORDERED},
        {"boundaries": -20.0, "labels": 3.0, **UNORDERED},
    ],
    ids=str,
)
def test_counts_what_labels_and_boundaries_add(parts):
    """The second best tree, called optimal, is refuted; the best is confirmed."""
    given, n = dict(parts), 6
    for seed in range(4):
        rng = np.random.default_rng(seed)
        if "labels" in parts:
            given["labels"] = parts["labels"] + rng.normal(size=(n + 1, n + 1, 3))
        if "boundaries" in parts:
            given["boundaries"] = parts["boundaries"] + 2 * rng.normal(size=n)
        problem = tree.TreeProblem(rng.normal(size=(n + 1, n + 1)), **given)
        best, second = tree.k_best(problem, 2)
        assert verify(problem, best).outcome == "confirmed"
        score = second.certificate.score
        exact = {"status": "optimal", "bound": score, "gap": 0.0, "tolerance": 1e-9}
        praised = replace(second.certificate, **exact, confidence=1.0)
        lie = replace(second, certificate=praised, rank_bound=None)
        assert verify(problem, lie).outcome == "refuted"


@pytest.mark.parametrize(
    "rule", [tree.AtMost([0]), tree.FixedArc(3, 4), tree.FixedLabel(2, 1), tree.Leaves([0])]
)
def test_rules_are_checked_apart_from_what_the_search_reads_of_them(rule, monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.normal(size=(N + 1, N + 1, 2))
    labels[:, :, 0] += 2.0
    problem = replace(problem_of(1, n=N), labels=labels, rules=(rule,))
    right = tree.BranchAndBound().decode(problem)
    assert right.certificate.is_optimal
    assert verify(problem, right)
    monkeypatch.setattr(type(rule), "limits", ())
    blind = replace(problem, rules=(replace(rule),))
    wrong = tree.BranchAndBound().decode(blind)
    assert (wrong.heads != right.heads).any() or (wrong.labels != right.labels).any()
    assert not verify(blind, wrong)
