"""Labelled trees that satisfy rules; random ones against all labelled trees: `promises`."""

from itertools import pairwise

import numpy as np
import pytest

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    AtMost,
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    FixedArc,
    FixedStart,
    ForbiddenArc,
    ForbiddenLabel,
    Leaves,
    PriceAndCut,
    SecondOrder,
    TreeProblem,
    head_margins,
)
from spacy_decoders.decoders.tree.rule_limits import LabelledArcs
from spacy_decoders.decoders.tree.rules import rules_on_classes
from spacy_decoders.decoders.tree.scoring import breaks_any
from spacy_decoders.errors import InfeasibleError, ProblemError, UndecidedError
from tests import oracles
from tests.decoders.tree.samples import LABELS, drawn_rules, fault, trees
from tests.decoders.tree.truth import JointTruth


def scores_of(rng, n):
    return 2 * rng.normal(size=(n + 1, n + 1)), 2 * rng.normal(size=(n + 1, n + 1, LABELS))


def test_by_hand_one_subject_a_head():
    """Both dependants of 1 look like subjects (0); the second loses least as an object (1)."""
    arcs, labels = np.zeros((4, 4)), np.full((4, 4, 2), -9.0)
    arcs[0, 1] = arcs[1, 2] = arcs[1, 3] = 5.0
    labels[1, 2], labels[1, 3], labels[0, 1] = [3, 0], [3, 2], [1, 0]
    free = Eisner().decode(TreeProblem(arcs, labels=labels))
    assert free.labels.tolist() == [0, 0, 0] and free.certificate.score == 22.0
    found = Eisner().decode(TreeProblem(arcs, labels=labels, rules=[AtMost([0])]))
    assert found.heads.tolist() == [0, 1, 1] and found.labels.tolist() == [0, 0, 1]
    assert found.certificate.score == 21.0 and found.certificate.is_optimal


@pytest.mark.parametrize("decoder", [Eisner(), ChuLiuEdmonds(), BranchAndBound()])
def test_impossible_rules_are_named(decoder):
    arcs = np.zeros((4, 4))
    rules = [ForbiddenArc(3, 2), FixedArc(1, 2), FixedArc(1, 3), Leaves(tokens=[1])]
    problem = TreeProblem(arcs, rules=rules, projective=not isinstance(decoder, ChuLiuEdmonds))
    with pytest.raises(InfeasibleError, match=r"rules\[3\] Leaves") as raised:
        decoder.decode(problem)
    named = [place for place in range(4) if f"rules[{place}]" in str(raised.value)]
    assert named in ([1, 3], [2, 3])
    with pytest.raises(InfeasibleError, match="token 2 has no candidate head"):
        without = np.array(arcs)
        without[:, 2] = -np.inf
        decoder.decode(
            TreeProblem(without, rules=[ForbiddenArc(1, 3)], projective=problem.projective)
        )


def test_wrong_rules_are_named():
    arcs, labels = np.zeros((3, 3)), np.zeros((3, 3, 2))
    for rules, message in [
        ([FixedArc(0, 3)], r"rules\[0\].*token"),
        ([AtMost([2])], r"rules\[0\].*labels are numbered from 0 to 1"),
        ([3], r"rules\[0\]: expected a Rule, got int"),
        ([FixedStart(2)], "boundaries"),
    ]:
        with pytest.raises(ProblemError, match=message):
            TreeProblem(arcs, labels=labels, rules=rules)
    for make, message in [
        (lambda: Leaves(), "labels or tokens"),
        (lambda: AtMost([0], -1), "count"),
        (lambda: FixedArc(2, 2), "head: token 2 can't be its own head"),
        (lambda: ForbiddenArc(1, 1), "head: token 1 can't be its own head"),
        (lambda: FixedStart(2, 1), "begins: expected True or False"),
    ]:
        with pytest.raises(ProblemError, match=message):
            make()


@pytest.mark.parametrize(
    "decoder", [Eisner(), SecondOrder(), ChuLiuEdmonds(), PriceAndCut(), BranchAndBound()]
)
def test_no_tree_denies_the_first_sentence(decoder):
    for n in (1, 2):
        problem = TreeProblem(
            np.zeros((n + 1, n + 1)),
            boundaries=np.zeros(n),
            rules=[FixedStart(n), FixedStart(1, False)],
            projective=isinstance(decoder, (Eisner, SecondOrder)),
        )
        with pytest.raises(InfeasibleError, match=r"rules\[1\]"):
            decoder.decode(problem)


def test_the_end_of_the_budget_leaves_a_gap():
    rng = np.random.default_rng(7)
    met = set()
    for _ in range(30):
        arcs, labels = scores_of(rng, 3)
        rules = [AtMost([0]), AtMost([1]), AtMost([2], 2), Leaves([2])]
        problem = TreeProblem(arcs, labels=labels, rules=rules)
        found = Eisner().decode(problem, budget=Budget(iterations=1))
        assert not fault(problem, found)
        assert found.certificate.bound >= float(JointTruth(problem).best) - 1e-9
        met.add(found.certificate.status)
    assert met == {"optimal", "bounded"}


def test_a_row_of_words_that_all_break_a_rule_is_relabelled_once(monkeypatch):
    n, asked, violation = 60, [], LabelledArcs.violation
    monkeypatch.setattr(
        LabelledArcs, "violation", lambda *given: asked.append(1) or violation(*given)
    )
    arcs, labels = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1, 2))
    for token in range(1, n + 1):
        arcs[max(token - 1 - token % 2, 0), token] = 9.0  # of two that follow each odd one
    labels[..., 0] = 5.0  # both are subjects, for all the labels know
    problem = TreeProblem(arcs, labels=labels, rules=[AtMost([0])])
    found = Eisner().decode(problem, budget=Budget(iterations=10))
    assert not breaks_any(problem.rules, found.heads, found.labels)
    assert n / 2 < len(asked) < n / 2 + 10 * 20


@pytest.mark.parametrize("iterations", [1, 2, 3, None])
def test_margins_are_exact_or_none_whatever_the_budget(rng, iterations):
    met = 0
    for _ in range(150):
        arcs, labels = np.zeros((3, 3)), rng.normal(size=(3, 3, LABELS))
        rules = [Leaves([0]), Leaves([1]), ForbiddenLabel(2, 0)]
        problem = TreeProblem(arcs, labels=labels, rules=rules)
        worth = JointTruth(problem).score
        if not worth:
            continue
        best = max(worth, key=worth.__getitem__)
        found = head_margins(problem, best, budget=Budget(iterations=iterations))
        for token, margin in enumerate(found.tolist()):
            others = [s for heads, s in worth.items() if heads[token] != best[token]]
            if not np.isnan(margin):
                met += 1
                assert margin == pytest.approx(worth[best] - max(others, default=-np.inf))
    assert met or iterations == 1


def test_the_end_of_the_budget_before_any_tree_is_no_proof_of_none():
    n = 6
    arcs = np.full((n + 1, n + 1), -np.inf)  # the only chain crosses itself
    chain = [0, 1, 4, 2, 5, 3, 6]
    for head, token in pairwise(chain):
        arcs[head, token] = 0.0
    arcs[1, 2:] = arcs[2, 3:] = 1.0
    problem = TreeProblem(
        arcs, labels=np.zeros((n + 1, n + 1, 1)), rules=[AtMost([0])], projective=False
    )
    with pytest.raises(UndecidedError, match="the budget ended before any tree"):
        ChuLiuEdmonds().decode(problem, budget=Budget(iterations=1))
    assert ChuLiuEdmonds().decode(problem).certificate.is_optimal


@pytest.mark.parametrize("leaves", [[[0, 1]], [[0], [1]]], ids=["one", "two together"])
def test_rules_that_leave_no_heads_are_refuted_at_once(leaves):
    n, rules = 60, [*map(Leaves, leaves), AtMost([0], 3)]
    problem = TreeProblem(
        np.zeros((n + 1, n + 1)), labels=np.zeros((n + 1, n + 1, 2)), rules=rules
    )
    with pytest.raises(InfeasibleError) as raised:
        Eisner().decode(problem, budget=Budget(iterations=8))
    assert raised.value.rules == tuple(rules[:-1]) and raised.value.is_least


def clashing_rules(rng, n):
    """Rules of which some probably exclude each other."""
    pair = lambda: rng.permutation(n + 1)[:2].tolist()  # noqa: E731
    rules = []
    for kind in rng.integers(4, size=int(rng.integers(2, 8))):
        head, token = pair()
        if token == 0:
            head, token = token, head
        if kind == 3:
            rules.append(Leaves(tokens=[token]))
        else:
            rules.append(FixedArc(head, token) if kind else ForbiddenArc(head, token))
    return rules


def is_possible(n, rules):
    """Return whether some projective tree satisfies rules, by trying all."""
    return any(
        not any(rule.is_broken([-1, *heads], [-1] * (n + 1)) for rule in rules)
        for heads in oracles.all_trees(n, projective=True, single_root=True)
    )


@pytest.mark.parametrize("budget", [Budget(), Budget(iterations=1), Budget(seconds=1e-9)])
def test_named_rules_are_a_conflict_by_enumeration(budget):
    """The smallest without a limit; with one perhaps more, and then the message says so."""
    rng = np.random.default_rng(8)
    met = set()
    for _ in range(80):
        n = int(rng.integers(2, 5))
        rules = clashing_rules(rng, n)
        if is_possible(n, rules):
            continue
        problem = TreeProblem(rng.normal(size=(n + 1, n + 1)), rules=rules)
        with pytest.raises(InfeasibleError) as raised:
            Eisner().decode(problem, budget=budget)
        named = list(raised.value.rules)
        assert named and set(named) <= set(rules)
        assert not is_possible(n, named)
        if "budget ended" in str(raised.value):
            met.add("cut")
            continue
        met.add("smallest")
        for place in range(len(named)):
            assert is_possible(n, named[:place] + named[place + 1 :])
    assert "smallest" in met if budget == Budget() else "cut" in met
    assert ("cut" in met) == (budget != Budget())


def test_checks_of_rules_agree_with_the_oracle():
    rng = np.random.default_rng(13)
    met = set()
    for _ in range(300):
        n = int(rng.integers(1, 6))
        rules = [rule for rule in drawn_rules(rng, n) if rule.needs_labels or rng.random() < 0.3]
        heads = trees(n, False, True)[rng.integers(len(trees(n, False, True)))]
        labels = rng.integers(LABELS, size=n)
        broken = any(oracles.breaks(rule, heads, labels.tolist()) for rule in rules)
        given = np.array(heads, "i"), labels.astype("i")
        assert breaks_any(rules, *given) == broken
        met.add(broken)
        class_of, classes, stated = rules_on_classes(tuple(rules), LABELS)
        assert max(class_of) < classes
        others = class_of[labels].tolist()
        assert any(oracles.breaks(rule, heads, others) for rule in stated) == broken
    assert met == {True, False}
