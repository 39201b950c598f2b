"""Long documents: trees and sentence boundaries in linear time, with a bound on all others.

A document is cut where sentences probably begin, and every block is decoded by itself. Besides,
what its tokens add to solutions in which some have their heads in other blocks is bounded. Where a
sentence goes on over a cut, the boundary is not paid, and one of the two blocks has such a token:
the best choice of these cuts bounds the whole document. Blocks that it joins are merged and
decoded again, until the bound is attained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_scores, checked_whole
from ...budget import UNLIMITED, Budget, Clock, rest_of
from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError
from .crossing import Entered, best_crossing, bounds_if_entered
from .decoder import TreeDecoder
from .problem import TreeProblem, TreeSolution
from .rules import AtMost, FixedStart

__all__ = ["BlockScores", "decode_document"]

Floats = NDArray[np.float64]


class BlockScores(NamedTuple):
    """What :func:`decode_document` asks of some consecutive tokens of a document.

    Attributes
    ----------
    problem
        Their trees and sentences by themselves, with boundaries. Its rules are those of the
        document that speak of these tokens alone. Where a :class:`FixedStart` forbids a sentence
        to begin, no cut stays, a block's first token included; ``-inf`` in `boundaries` does the
        same at less cost. An :class:`AtMost` whose heads include the root
        (`heads` None or with 0) counts the root's dependants in all sentences of the document.
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
        If `scores_of` returns a problem without boundaries or of another size; if blocks that may
        not be merged together break an :class:`AtMost` of the root, which holds in each.
    InfeasibleError
        If there is no tree, or a sentence has to begin where none may.

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
    never = np.flatnonzero(certain[1:] & (scores[1:] == -np.inf)) + 1
    if never.size:
        raise InfeasibleError(
            f"fixed: a sentence has to begin at token {never[0]}, but boundaries[{never[0]}] is "
            "-inf, which forbids it; change one of the two."
        )
    document = _CutDocument(scores_of, scores, certain, decoder, longest, budget.start())
    return document.decode(first_cuts(scores, certain, least, longest))


@dataclass(frozen=True)
class DecodedBlock:
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
    root_limits
        Rules that also count dependants of the root, which all blocks share.
    """

    begin: int
    end: int
    solution: TreeSolution
    score: float
    scale: float
    alone: float
    entered: Entered
    root_limits: tuple[AtMost, ...]


class _CutDocument:
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
        self.blocks: dict[tuple[int, int], DecodedBlock] = {}

    def decode(self, cuts: list[int]) -> TreeSolution:
        """Decode the blocks between these tokens, merged as far as the bound needs it."""
        while True:
            ends = [0, *cuts, len(self.boundaries)]
            steps = [step for step in pairwise(ends) if step[0] < step[1]]
            dropped = self._decode_new(steps, cuts)
            if dropped:
                cuts = [cut for cut in cuts if cut not in dropped]
                continue
            blocks = [self.blocks[step] for step in steps]
            broken = _broken_limit(blocks)
            if broken is not None:
                cuts = self._merged_for(broken, cuts)
                continue
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

    def _decode_new(self, steps: list[tuple[int, int]], cuts: list[int]) -> set[int]:
        """Decode the blocks that are new; return the cuts that can't stay.

        Those are the cuts that rules of their blocks forbid, else one at an end of a block that
        has no tree by itself.
        """
        dropped: set[int] = set()
        for step in steps:
            if step in self.blocks:
                continue
            scores = self._scores(*step)
            if step[0] > 0 and FixedStart(1, False) in scores.problem.rules:
                if self.certain[step[0]]:
                    raise InfeasibleError(
                        f"fixed: a sentence has to begin at token {step[0]}, but a FixedStart of "
                        "its block forbids it; drop one of the two."
                    )
                dropped.add(step[0])
            elif not dropped:
                try:
                    self.blocks[step] = self._decoded(*step, scores)
                except InfeasibleError:
                    if len(steps) == 1:
                        raise
                    return {self._open_end(step, cuts)}
        return dropped

    def _open_end(self, block: tuple[int, int], cuts: list[int]) -> int:
        """Return a cut at an end of a block without a tree."""
        for cut in block[::-1]:
            if cut in cuts and not self.certain[cut]:
                return cut
        raise InfeasibleError(
            f"tokens {block[0]} to {block[1]} have no tree, and their ends are fixed."
        )

    def _scores(self, begin: int, end: int) -> BlockScores:
        """Ask for the scores of a block, and refuse those of another."""
        scores = self.scores_of(begin, end)
        problem = scores.problem
        if problem.n != end - begin or problem.boundaries is None:
            raise ProblemError(
                f"scores_of: expected a problem of {end - begin} tokens with boundaries for "
                f"tokens {begin} to {end}, got one of {problem.n} tokens."
            )
        return scores

    def _decoded(self, begin: int, end: int, scores: BlockScores) -> DecodedBlock:
        """Decode a block, and bound it with heads outside."""
        problem, before, behind = scores
        before = checked_scores("before", before, (problem.n,), dtype=np.float64)
        behind = checked_scores("behind", behind, (problem.n,), dtype=np.float64)
        own = self.decoder.decode(problem, budget=rest_of(self.clock, self.iterations))
        self.iterations += own.certificate.iterations
        score, scale = self.decoder.objective(problem, own.heads, _labels(own))
        alone = np.inf if own.certificate.bound is None else own.certificate.bound
        entered = bounds_if_entered(problem, before, behind, self.decoder)
        limits = tuple(
            rule
            for rule in problem.rules
            if isinstance(rule, AtMost) and (rule.heads is None or 0 in rule.heads)
        )
        return DecodedBlock(begin, end, own, score, scale, alone, entered, limits)

    def _merged_for(self, broken: AtMost, cuts: list[int]) -> list[int]:
        """Drop cuts so that fewer blocks share a rule, as far as they may grow."""
        fewer = self._merged(cuts, ~self.certain[cuts])
        if len(fewer) == len(cuts):
            raise ProblemError(
                f"rules: {broken} also counts the dependants of the root, over all sentences of "
                "the document, and blocks can't be decoded apart under it; give it heads= from 1 "
                "on, raise longest, or decode the document as one problem."
            )
        return fewer

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
        self, blocks: list[DecodedBlock], paid: float, absolute: float, bound: float
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
            if labelled and own.labels is not None:
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


def _broken_limit(blocks: list[DecodedBlock]) -> AtMost | None:
    """Return a rule that holds in every block, but not for the root of all together."""
    at_root = np.concatenate(
        [np.zeros(0, np.int32)]
        + [
            block.solution.labels[block.solution.heads == 0]
            for block in blocks
            if block.solution.labels is not None
        ]
    )
    for rule in {rule: None for block in blocks for rule in block.root_limits}:
        if np.isin(at_root, rule.labels).sum() > rule.count:
            return rule
    return None


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
