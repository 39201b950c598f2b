"""Bounds on solutions in which sentences go on from one block of a document to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...errors import InfeasibleError
from .decoder import TreeDecoder, rounding_slack
from .factors import Factors
from .problem import TreeProblem
from .rules import AtMost, FixedStart, ForbiddenArc, Roots, Rule

__all__ = ["Entered", "best_crossing", "bounds_if_entered", "relaxed_block"]

Floats = NDArray[np.float64]


class Entered(NamedTuple):
    """Bounds on a block some of whose tokens have heads before it, behind it, or both."""

    before: float
    behind: float
    both: float

    def bound(self, before: bool, behind: bool, alone: float) -> float:
        """Return the bound of this kind, `alone` if no head is outside."""
        if before:
            return self.both if behind else self.before
        return self.behind if behind else alone


class CutState(NamedTuple):
    """Whether the cut behind a block is crossed, and what is known of the crossed cuts before it.

    Attributes
    ----------
    crossed
        Whether a sentence goes on over the cut.
    explained
        Whether an earlier block, with crossed cuts only in between, has heads behind it.
    owed
        Whether a later block, with crossed cuts only in between, must have heads before it.
    """

    crossed: bool = False
    explained: bool = False
    owed: bool = False

    def after(self, before: bool, crossed: bool, behind: bool) -> CutState | None:
        """Return the state after one more block with such heads, None if there is no solution."""
        owed = self.owed and not before
        if not crossed:
            return None if owed else CutState()
        explained = self.explained or behind
        return CutState(True, explained, owed or not explained)


def best_crossing(
    alone: list[float], entered: list[Entered], paid: Floats, certain: NDArray[np.bool_]
) -> tuple[float, NDArray[np.bool_]]:
    """Return the bound on a document over all choices of cuts that sentences go on over.

    Parameters
    ----------
    alone, entered
        Bounds on each block, without heads outside of it and with some.
    paid
        The scores of the boundaries at the cuts, each paid where it is not crossed.
    certain
        bool (cuts,), those that are never crossed.

    Returns
    -------
    bound
        The best sum. A sentence that a cut divides has one root: so one of its blocks before the
        cut has heads behind that block, or one of those behind the cut has heads before it. This
        need not be a neighbour of the cut, since arcs may pass over whole blocks.
    crossed
        bool (cuts,), a choice that gives it.
    """
    if not alone:
        return 0.0, np.zeros(0, bool)
    none = CutState()
    reached: dict[CutState, tuple[float, CutState]] = {none: (0.0, none)}
    passed = []
    for k, by_itself in enumerate(alone):
        last = k == len(alone) - 1
        following: dict[CutState, tuple[float, CutState]] = {}
        for state, (value, _) in reached.items():
            for before in {False, state.crossed}:
                for crossed in (False,) if last or certain[k] else (False, True):
                    for behind in {False, crossed}:
                        after = state.after(before, crossed, behind)
                        if after is None:
                            continue
                        total = value + (0.0 if last or crossed else float(paid[k]))
                        total += entered[k].bound(before, behind, by_itself)
                        if after not in following or total > following[after][0]:
                            following[after] = total, state
        passed.append(following)
        reached = following
    bound, state = reached[none][0], none
    cuts = np.zeros(len(alone) - 1, bool)
    for k in range(len(cuts), 0, -1):
        state = passed[k][state][1]
        cuts[k - 1] = state.crossed
    return bound, cuts


def bounds_if_entered(
    problem: TreeProblem, before: Floats, behind: Floats, decoder: TreeDecoder
) -> Entered:
    """Bound what a block adds to solutions in which some of its tokens have their heads outside.

    Parameters
    ----------
    before, behind
        As in :class:`BlockScores`.
    decoder
        Bounds the relaxed block where there are other parts than arcs, or arcs may cross.
    """
    outside = np.maximum(before, behind)
    if problem.n == 0 or outside.max() == -np.inf:
        return Entered(-np.inf, -np.inf, -np.inf)
    if problem.is_first_order and problem.projective:
        from .kernels import eisner, forests, proofs

        arcs = problem.arcs
        if problem.labels is not None:
            arcs = read_only(arcs + problem.labels.max(axis=2))
        _, chart, _, positive = eisner.charted(arcs, False, problem.gaps)
        if proofs.chart_bound(arcs, False, problem.gaps, chart) == np.inf:
            return Entered(np.inf, np.inf, np.inf)  # an incorrect chart bounds nothing
        hanging = np.full((3, problem.n + 1), -np.inf)
        hanging[:, 1:] = before, arcs[0, 1:], behind
        bounds = forests.entered_bounds(chart[3], chart[2], hanging, problem.gaps)
        positive += float(np.maximum(problem.gaps, 0.0).sum() + np.maximum(outside, 0.0).sum())
        finite = [abs(bound) for bound in bounds if bound > -np.inf]
        slack = rounding_slack(2 * problem.n, max(finite, default=0.0), positive)
        return Entered(*(bound + slack for bound in bounds))
    relaxed, constant = relaxed_block(problem, outside)
    try:
        found = decoder.decode(relaxed).certificate.bound
    except InfeasibleError:
        return Entered(-np.inf, -np.inf, -np.inf)
    highest = np.inf if found is None else found + constant
    return Entered(
        highest if before.max() > -np.inf else -np.inf,
        highest if behind.max() > -np.inf else -np.inf,
        highest if min(before.max(), behind.max()) > -np.inf else -np.inf,
    )


def relaxed_block(problem: TreeProblem, outside: Floats) -> tuple[TreeProblem, float]:
    """Return a problem that bounds what a block's tokens add to solutions, and a constant.

    The root also stands for all tokens outside of the block. A token on it pays the better of the
    two, any label is free there, and boundaries that cost something need not be there.

    Notes
    -----
    Every solution of the document is one of this problem if arcs from outside are taken to come
    from the root: no arcs cross in it if none did before, and a token with its head outside of the
    block is not below any arc within.
    """
    arcs = np.array(problem.arcs)
    root = arcs[0, 1:]
    labels = problem.labels
    if labels is not None:
        labels = np.array(labels)
        root = root + labels[0, 1:].max(axis=1)
        labels[0] = 0.0
    arcs[0, 1:] = np.maximum(root, outside)
    grandparents = problem.grandparents
    if grandparents is not None:
        grandparents = np.array(grandparents)
        grandparents[0] = np.maximum(grandparents[0], 0.0)
    assert problem.boundaries is not None  # checked before
    gaps = np.maximum(problem.boundaries, 0.0)
    constant = 0.0 if problem.projective else float(gaps.sum())
    relaxed = replace(
        problem,
        arcs=arcs,
        allowed=np.isfinite(arcs),
        grandparents=grandparents,
        factors=_without_root(problem.factors),
        labels=labels,
        rules=_rules_within(problem),
        boundaries=read_only(gaps) if problem.projective else None,
        single_root=False,
    )
    return relaxed, constant


def _rules_within(problem: TreeProblem) -> tuple[Rule, ...]:
    """Return the rules that hold whatever the tokens outside are: none about the root's arcs."""
    kept: list[Rule] = []
    for rule in problem.rules:
        if isinstance(rule, Roots) or (isinstance(rule, ForbiddenArc) and rule.head == 0):
            continue
        # without boundaries there are no starts to speak of
        if isinstance(rule, FixedStart) and not (rule.begins and problem.projective):
            continue
        if isinstance(rule, AtMost):
            heads = range(1, problem.n + 1) if rule.heads is None else rule.heads
            kept.append(AtMost(rule.labels, rule.count, [h for h in heads if h > 0]))
        else:
            kept.append(rule)
    return tuple(kept)


def _without_root(factors: Factors | None) -> Factors | None:
    """Let factors with arcs of the root pay only what they gain, whatever arcs there are."""
    if factors is None or factors.count == 0 or (factors.arcs[:, 0] > 0).all():
        return factors
    owner = np.repeat(np.arange(factors.count), np.diff(factors.offsets))
    at_root = np.bincount(owner[factors.arcs[:, 0] == 0], minlength=factors.count) > 0
    scores = np.where(at_root, np.maximum(factors.scores, 0.0), factors.scores)
    low = np.where(at_root, 0, factors.at_least)
    high = np.where(at_root, np.diff(factors.offsets), factors.at_most)
    return Factors(factors.arcs, factors.offsets, scores, low, high)
