"""Long documents: trees and sentence boundaries in linear time, with a bound on all others.

A document is cut where sentences probably begin, and every block is decoded by itself. Besides, what
its tokens add to solutions is bounded in which some of them have their heads in other blocks. Where a
sentence goes on over a cut, the boundary is not paid, and at least one of the two blocks has such a
token: the best choice of these cuts bounds the whole document. Blocks that it joins are merged and
decoded again, until the bound is attained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_scores, checked_whole, read_only
from ...budget import UNLIMITED, Budget, Clock, rest_of
from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError
from .decoder import TreeDecoder, rounding_slack
from .factors import Factors
from .problem import TreeProblem, TreeSolution
from .rules import AtMost, FixedStart, Roots, Rule

__all__ = ["BlockScores", "decode_document"]

Floats = NDArray[np.float64]


class BlockScores(NamedTuple):
    """What :func:`decode_document` asks of some consecutive tokens of a document.

    Attributes
    ----------
    problem
        Their trees and sentences by themselves, with boundaries.
    before, behind
        float64 (tokens,), upper bounds on what a token adds to a solution in which its head is a
        token before the block, or behind it: the arc, its best label, and all that parts with this
        arc may gain or save. ``-inf`` where no such arc exists.
    """

    problem: TreeProblem
    before: ArrayLike
    behind: ArrayLike


def decode_document(
    scores_of: Callable[[int, int], BlockScores],
    boundaries: ArrayLike,
    decoder: TreeDecoder,
    *,
    fixed: ArrayLike | None = None,
    least: int = 20,
    longest: int = 200,
    budget: Budget = UNLIMITED,
) -> TreeSolution:
    """Decide on the trees and the sentences of a long document, block by block.

    The time is linear in the number of tokens as long as sentences have a limited length, and the
    result is that of one decoding of the whole wherever the certificate is ``optimal``.

    Parameters
    ----------
    scores_of
        Called with the first token of a block and the one after its last, both from 0; returns its
        :class:`BlockScores`, whose boundaries are those of the document.
    boundaries
        (n,), the scores of a sentence beginning at each token, as in :class:`TreeProblem`.
    decoder
        Finds the trees of a block, and bounds all others.
    fixed
        bool (n,), the tokens where a sentence begins in any case; None for none.
    least
        A block of fewer tokens is not ended, to save calls.
    longest
        Blocks of more tokens are cut at their highest boundary even if no sentence is likely to
        begin there, and blocks are not merged beyond it: the certificate may then have a gap.
    budget
        For the whole document. Its end leaves a gap.

    Returns
    -------
    TreeSolution
        Over all tokens, with `starts`, and `labels` where the blocks have them.

    Raises
    ------
    ProblemError
        If `scores_of` returns a problem without boundaries or of another size.
    InfeasibleError
        If there is no tree.

    Examples
    --------
    >>> from spacy_decoders.decoders.tree import Eisner
    >>> arcs, odds = np.full((7, 7), -3.0), np.array([0.0, -4, -4, 6, -4, -4])
    >>> arcs[[0, 1, 1, 0, 4, 4], [1, 2, 3, 4, 5, 6]] = 1.0
    >>> def scores_of(begin, end):
    ...     kept = [0, *range(begin + 1, end + 1)]
    ...     problem = TreeProblem(arcs[np.ix_(kept, kept)], boundaries=odds[begin:end])
    ...     return BlockScores(problem, np.full(end - begin, -3.0), np.full(end - begin, -3.0))
    >>> solution = decode_document(scores_of, odds, Eisner(), least=1)
    >>> solution.heads, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1, 0, 4, 4], dtype=int32), 12.0, 'optimal')
    """
    scores = checked_scores("boundaries", boundaries, (None,), dtype=np.float64)
    least, longest = checked_whole("least", least, low=1), checked_whole("longest", longest, low=1)
    certain = np.zeros(len(scores), bool)
    if fixed is not None:
        certain[:] = np.asarray(fixed, bool)
    document = _Document(scores_of, scores, certain, decoder, longest, budget.start())
    return document.decode(first_cuts(scores, certain, least, longest))


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


@dataclass(frozen=True)
class Block:
    """Some consecutive tokens, decoded by themselves.

    Attributes
    ----------
    begin, end
        The first token, and the one after the last, from 0.
    solution
        The best trees and sentences.
    score, scale
        What they are worth, and the sum of the absolute scores of their parts.
    alone
        A bound on what its tokens add to solutions in which no head of theirs is outside.
    entered
        Bounds on what they add where some have heads before the block, behind it, or both.
    """

    begin: int
    end: int
    solution: TreeSolution
    score: float
    scale: float
    alone: float
    entered: Entered


class _Document:
    """The blocks of a document; those that were decoded are kept."""

    def __init__(
        self,
        scores_of: Callable[[int, int], BlockScores],
        boundaries: Floats,
        certain: NDArray[np.bool_],
        decoder: TreeDecoder,
        longest: int,
        clock: Clock,
    ) -> None:
        self.scores_of = scores_of
        self.boundaries = boundaries
        self.certain = certain
        self.decoder = decoder
        self.longest = longest
        self.clock = clock
        self.iterations = 0
        self.blocks: dict[tuple[int, int], Block] = {}

    def decode(self, cuts: list[int]) -> TreeSolution:
        """Decode the blocks between these tokens, merged as far as the bound needs it."""
        while True:
            ends = [0, *cuts, len(self.boundaries)]
            steps = [step for step in zip(ends, ends[1:], strict=False) if step[0] < step[1]]
            without = self._first_without_tree(steps)
            if without is not None:
                cuts = self._merged_with_next(cuts, without)
                continue
            blocks = [self.blocks[step] for step in steps]
            paid = self.boundaries[cuts]
            bound, crossed = best_crossing(
                [block.alone for block in blocks],
                [block.entered for block in blocks],
                paid,
                self.certain[cuts],
            )
            solution = self._joined(blocks, float(paid.sum()), float(np.abs(paid).sum()), bound)
            if solution.certificate.is_optimal or self.clock.exhausted(self.iterations):
                return solution
            fewer = self._merged(cuts, crossed)
            if len(fewer) == len(cuts):
                return solution
            cuts = fewer

    def _first_without_tree(self, steps: list[tuple[int, int]]) -> tuple[int, int] | None:
        """Decode what is new; return the first block that has no tree by itself."""
        for step in steps:
            if step not in self.blocks:
                try:
                    self.blocks[step] = self._decoded(*step)
                except InfeasibleError:
                    if len(steps) == 1:
                        raise
                    return step
        return None

    def _merged_with_next(self, cuts: list[int], block: tuple[int, int]) -> list[int]:
        """Drop a cut at an end of a block without a tree."""
        ends = [cut for cut in block[::-1] if cut in cuts and not self.certain[cut]]
        if not ends:
            raise InfeasibleError(
                f"tokens {block[0]} to {block[1]} have no tree, and their ends are fixed."
            )
        return [cut for cut in cuts if cut != ends[0]]

    def _decoded(self, begin: int, end: int) -> Block:
        """Decode the relaxed block, and the block itself where that is not enough."""
        problem, before, behind = self.scores_of(begin, end)
        if problem.n != end - begin or problem.boundaries is None:
            raise ProblemError(
                f"scores_of: expected a problem of {end - begin} tokens with boundaries for "
                f"tokens {begin} to {end}, got one of {problem.n} tokens."
            )
        sides = [
            checked_scores(name, values, (problem.n,), dtype=np.float64)
            for name, values in (("before", before), ("behind", behind))
        ]
        own = self.decoder.decode(problem, budget=rest_of(self.clock, self.iterations))
        self.iterations += own.certificate.iterations
        score, scale = self.decoder.objective(problem, own.heads, _labels(own))
        alone = own.certificate.bound
        entered = bounds_if_entered(problem, *sides, self.decoder)
        return Block(begin, end, own, score, scale, np.inf if alone is None else alone, entered)

    def _merged(self, cuts: list[int], crossed: NDArray[np.bool_]) -> list[int]:
        """Drop the cuts that the best relaxed solution crosses, as far as blocks may grow."""
        kept, begin = [], 0
        ends = [*cuts[1:], len(self.boundaries)]
        for cut, end, over in zip(cuts, ends, crossed.tolist(), strict=True):
            if not over or end - begin > self.longest:
                kept.append(cut)
                begin = cut
        return kept

    def _joined(
        self, blocks: list[Block], paid: float, absolute: float, bound: float
    ) -> TreeSolution:
        """Return the solutions of all blocks as one, compared with the bound."""
        n = len(self.boundaries)
        heads, starts = np.zeros(n, np.int32), np.zeros(n, bool)
        labels = np.zeros(n, np.int32)
        labelled = bool(blocks) and all(block.solution.labels is not None for block in blocks)
        score, scale, tolerance = paid, absolute, 0.0
        scope = "full"
        for block in blocks:
            part, own = slice(block.begin, block.end), block.solution
            heads[part] = np.where(own.heads > 0, own.heads + block.begin, 0)
            starts[part] = own.starts
            if labelled:
                labels[part] = own.labels
            score, scale = score + block.score, scale + block.scale
            tolerance += max(own.certificate.tolerance, 1e-9 * (1.0 + block.scale))
            if own.certificate.scope != "full":
                scope = own.certificate.scope
        certificate = Certificate.from_bound(
            type(self.decoder).__name__,
            score,
            bound,
            tolerance=tolerance,
            scale=scale,
            scope=scope,  # type: ignore[arg-type]
            iterations=self.iterations,
        )
        return TreeSolution(heads, certificate, starts=starts, labels=labels if labelled else None)


def _labels(solution: TreeSolution) -> NDArray[np.int64] | None:
    return None if solution.labels is None else solution.labels.astype(np.int64)


def first_cuts(
    boundaries: Floats, certain: NDArray[np.bool_], least: int, longest: int
) -> list[int]:
    """Return where to cut a document at first: at likely boundaries, and in long stretches.

    Examples
    --------
    >>> first_cuts(np.array([0.0, -1, 2, -1, 3, -5, -1, -4]), np.zeros(8, bool), 2, 3)
    [2, 4, 6]
    """
    n, begin = len(boundaries), 0
    cuts = []
    likely = [*np.flatnonzero((boundaries > 0.0) | certain).tolist(), n]
    for end in likely:
        while end - begin > longest:  # no likely boundary: take the least unlikely
            inner = boundaries[begin + 1 : min(begin + longest, end - 1) + 1]
            late = len(inner) // 2
            if inner[late:].max() == -np.inf:
                break
            begin += 1 + late + int(inner[late:].argmax())
            cuts.append(begin)
        if 0 < end < n and (end - begin >= least or certain[end]):
            cuts.append(end)
            begin = end
    return cuts


class CutState(NamedTuple):
    """Whether the cut behind a block is crossed, and some head of the block stands behind it."""

    crossed: bool
    behind: bool


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
        The best sum. A sentence that a cut divides has one root: so the block before the cut has
        heads behind it, or the block behind the cut has heads before it.
    crossed
        bool (cuts,), a choice that gives it.
    """
    if not alone:
        return 0.0, np.zeros(0, bool)
    none = CutState(False, False)
    reached: dict[CutState, tuple[float, CutState]] = {none: (0.0, none)}
    passed = []
    for k, by_itself in enumerate(alone):
        last = k == len(alone) - 1
        following: dict[CutState, tuple[float, CutState]] = {}
        for state, (value, _) in reached.items():
            # heads before the block: perhaps if the cut there is crossed, surely if none is behind
            for before in {state.crossed and not state.behind, state.crossed}:
                for crossed in (False,) if last or certain[k] else (False, True):
                    for behind in {False, crossed}:
                        total = value + (0.0 if last or crossed else float(paid[k]))
                        total += entered[k].bound(before, behind, by_itself)
                        after = CutState(crossed, behind)
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
    Every solution of the document, with the arcs that pass over the block's ends taken to come from
    the root, is one of this problem: no arcs cross in it if none did before, and a token with its
    head outside of the block is not below any arc within.
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
        allowed=None,
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
        if isinstance(rule, Roots) or (isinstance(rule, FixedStart) and not rule.begins):
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
