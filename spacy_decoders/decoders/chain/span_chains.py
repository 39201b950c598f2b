"""Sentences with mentions as the kernels take them, and the potentials of their factors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .documents import DocumentProblem
from .kernels import span_bounds, spans
from .kernels.spans import SpanChain, SpanMentions

__all__ = ["Edges", "SpanSentences", "factor_values"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Edges(NamedTuple):
    """The pairs of a factor and a mention of it, factor by factor."""

    factors: list[int]  # the numbers of the problem's factors
    offsets: list[int]  # (factors + 1,): the edges of each
    mentions: Indices  # (edges,): the mention of each edge, among those of the sentences
    sharing: Floats  # (edges,): how many edges the sentence of each has


class SpanSentences:
    """Some sentences of a problem with some of its mentions, and how to decode and bound them.

    Parameters
    ----------
    problem
        The problem.
    mentions
        The numbers of the mentions; their sentences are those that are decoded.
    """

    def __init__(self, problem: DocumentProblem, mentions: Indices) -> None:
        owners = problem.owners[mentions]
        spans_of: Any = problem.mentions
        order = np.lexsort((spans_of[mentions, 1], owners))
        self.problem = problem
        self.mentions = mentions[order]
        self.chosen = np.unique(owners)
        offsets = problem.sentences.offsets
        lengths = offsets[self.chosen + 1] - offsets[self.chosen]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        shift = self.offsets[:-1] - offsets[self.chosen]
        rows = np.arange(self.offsets[-1])
        self.tokens = rows - np.repeat(shift, lengths)
        self.emissions = problem.sentences.emissions[self.tokens]
        self.owners = np.searchsorted(self.chosen, owners[order])
        moved = spans_of[self.mentions] + shift[self.owners][:, None]
        self.starts = np.ascontiguousarray(moved[:, 0])
        self.ends = np.ascontiguousarray(moved[:, 1])
        self.firsts = np.searchsorted(self.owners, np.arange(len(self.chosen) + 1))
        model, entities = problem.model, problem.entities
        self.chain = SpanChain(
            model.transitions.astype(np.float64),
            model.start_scores.astype(np.float64),
            model.end_scores.astype(np.float64),
            entities.kinds,
            entities.goes_on,
        )
        self.slots = self._slots()

    def edges(self, factors: list[int]) -> Edges:
        """Return the edges of some factors, all of whose mentions are among the sentences'."""
        place = np.zeros(len(np.asarray(self.problem.mentions)), dtype=np.int64)
        place[self.mentions] = np.arange(len(self.mentions))
        members = [place[self.problem.members[f]] for f in factors]
        mentions = np.concatenate([np.zeros(0, dtype=np.int64), *members])
        offsets = np.cumsum([0, *map(len, members)]).tolist()
        owners = self.owners[mentions]
        sharing = np.bincount(owners, minlength=len(self.chosen))[owners].astype(np.float64)
        return Edges(factors, offsets, mentions, sharing)

    def potentials(self, edges: Edges, messages: Floats) -> tuple[Floats, float]:
        """Return what mentions are worth by kind, and what all are worth that are no entity.

        **Shapes (M, K)** for messages of **shape (edges, K + 1)**.
        """
        evidence: Any = self.problem.evidence
        total = np.zeros((len(self.mentions), evidence.shape[1] + 1))
        total[:, :-1] = evidence[self.mentions]
        np.add.at(total, edges.mentions, messages)
        return total[:, :-1] - total[:, -1:], math.fsum(total[:, -1].tolist())

    def max_marginals(self, worth: Floats) -> tuple[Floats, Floats]:
        """Return the best score of each sentence, and by mention and its kind."""
        best = np.zeros(len(self.chosen))
        found = np.empty((len(self.mentions), worth.shape[1] + 1))
        spans.max_marginals(
            self.chain, self.emissions, self.offsets, self.slots, worth, best, found
        )
        return best, found

    def best_paths(self, worth: Floats) -> NDArray[np.int32] | None:
        """Return the best labels of the sentences' tokens; None if there are none."""
        labels = np.zeros(len(self.emissions), dtype=np.int32)
        failed = spans.best_paths(
            self.chain, self.emissions, self.offsets, self.slots, worth, labels
        )
        return labels if failed < 0 else None

    def bounds(self, worth: Floats) -> Floats:
        """Return an upper bound on each sentence, proven apart from the search."""
        found = np.empty(len(self.chosen))
        span_bounds.span_bounds(
            self.chain,
            self.emissions,
            self.offsets,
            self.firsts,
            self.starts,
            self.ends,
            worth,
            found,
        )
        return found

    def _slots(self) -> SpanMentions:
        """Give mentions that begin at the same token a slot, others that overlap another."""
        slots = np.zeros(len(self.mentions), dtype=np.int64)
        begins = np.zeros(len(self.emissions), dtype=np.int64)
        beyond: dict[int, int] = {}  # the token behind the longest mention of each beginning
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            beyond[start] = max(beyond.get(start, 0), end)
        busy: list[int] = []  # the token behind what each slot stands for
        for start in sorted(beyond):
            free = next((w for w, end in enumerate(busy) if end <= start), len(busy))
            busy[free : free + 1] = [beyond[start]]
            begins[start] = free + 1
        keeps = np.zeros((len(self.emissions), len(busy) + 1), dtype=bool)
        for start, end in beyond.items():
            keeps[start + 1 : end, begins[start]] = True
        slots[:] = begins[self.starts]
        return SpanMentions(self.firsts, self.ends, slots, begins, keeps)


def factor_values(costs: Floats, messages: Floats) -> tuple[Floats, Floats]:
    """Return what a factor is worth with each hub, and what each of its mentions adds to that.

    Parameters
    ----------
    costs
        **Shape (K + 1, K + 1)**.
    messages
        **Shape (mentions, K + 1)**: what the chains hold of the factor's scores.

    Returns
    -------
    **Shapes (K + 1,)** and **(mentions, K + 1)**.
    """
    best = (-messages[:, None, :] - costs).max(axis=2)
    return best.sum(axis=0), best
