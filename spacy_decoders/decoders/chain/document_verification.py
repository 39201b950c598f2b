"""Check the labels of a document by plain dynamic programming, apart from all decoders.

With the hubs of all factors given, sentences are independent: the check enumerates the hubs of
each group of sentences that factors tie together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np

from ...errors import ProblemError
from ...verify import Findings
from .documents import DocumentProblem

__all__ = ["examine_document"]


def examine_document(problem: Any, solution: Any, *, seconds: float) -> Findings:
    """Return the score of a document's labels, and an upper bound on the best.

    Parameters
    ----------
    problem
        The `DocumentProblem`.
    solution
        A `DocumentSolution` of it.
    seconds
        After so much time there is no bound.

    Raises
    ------
    ProblemError
        If `problem` is none.
    """
    if not isinstance(problem, DocumentProblem):
        raise ProblemError(f"problem: expected a DocumentProblem; got {type(problem).__name__}.")
    plain = _Plain(problem)
    labels = np.asarray(solution.labels)
    total = len(plain.emissions)
    if labels.shape != (total,) or (labels.size and labels.dtype.kind not in "iu"):
        return Findings.illegal(f"labels of {labels.dtype}, {labels.shape}, for {total} tokens.")
    outside = np.flatnonzero((labels < 0) | (labels >= len(plain.kinds)))
    if outside.size:
        return Findings.illegal(f"the label of token {outside[0]} is none of the model's.")
    terms = plain.terms(labels.tolist())
    if -math.inf in terms:
        return Findings.illegal("it has a forbidden score (-inf), or a factor forbids it.")
    score = math.fsum(terms)
    bound = plain.bound(monotonic() + seconds)
    return Findings(None, score, math.fsum(map(abs, terms)), score, bound)


class _Plain:
    """A problem as Python's lists."""

    def __init__(self, problem: DocumentProblem) -> None:
        given: Any = problem
        self.emissions = given.emissions.tolist()
        self.lengths = given.lengths.tolist()
        self.transitions = problem.model.transitions.tolist()
        self.first = problem.model.start_scores.tolist()
        self.last = problem.model.end_scores.tolist()
        self.kinds = problem.entities.kinds.tolist()
        self.goes_on = problem.entities.goes_on.tolist()
        self.mentions = {tuple(span): m for m, span in enumerate(given.mentions.tolist())}
        self.evidence = [[*row, 0.0] for row in given.evidence.tolist()]
        self.members = [of.tolist() for of in problem.members]
        self.costs = given.costs.tolist()
        self.begins = [0, *itertools.accumulate(self.lengths)]

    def terms(self, labels: list[int]) -> list[float]:
        """Return all terms of the score of some labels."""
        terms: list[float] = []
        states = [-1] * len(self.mentions)  # -1 reads the last column, of no entity
        for begin, stop in itertools.pairwise(self.begins):
            start = None
            for i in range(begin, stop):
                y = labels[i]
                before = self.first if i == begin else self.transitions[labels[i - 1]]
                terms += [self.emissions[i][y], before[y]]
                if self.goes_on[y]:
                    continue
                if start is not None:
                    self._note(states, start, i, labels)
                start = i if self.kinds[y] >= 0 else None
            if stop > begin:
                terms.append(self.last[labels[stop - 1]])
                if start is not None:
                    self._note(states, start, stop, labels)
        terms += [self.evidence[m][state] for m, state in enumerate(states)]
        for of, costs in zip(self.members, self.costs, strict=True):
            terms.append(-min(math.fsum(hub[states[m]] for m in of) for hub in costs))
        return terms

    def bound(self, ends: float) -> float:
        """Return an upper bound on all labels, infinite if the time is over."""
        total = 0.0
        for sentences, factors in self._groups():
            best = -math.inf
            hubs = range(len(self.costs[0])) if self.costs else range(0)
            for chosen in itertools.product(hubs, repeat=len(factors)):
                if monotonic() > ends:
                    return math.inf
                worth = [list(row) for row in self.evidence]
                for f, hub in zip(factors, chosen, strict=True):
                    for m in self.members[f]:
                        for kind, cost in enumerate(self.costs[f][hub]):
                            worth[m][kind] -= cost
                value = 0.0
                for s in sentences:
                    value = _up(value + self._best_of(s, worth))
                best = max(best, value)
            total = _up(total + best)
        return total

    def _groups(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield sentences and factors that depend on each other."""
        owner = {}
        for (start, _), m in self.mentions.items():
            owner[m] = max(s for s, begin in enumerate(self.begins[:-1]) if begin <= start)
        group = list(range(len(self.lengths)))
        for of in self.members:
            tied = {group[owner[m]] for m in of}
            for s, own in enumerate(group):
                if own in tied:
                    group[s] = min(tied)
        for own in sorted(set(group)):
            factors = [f for f, of in enumerate(self.members) if of and group[owner[of[0]]] == own]
            yield [s for s in range(len(group)) if group[s] == own], factors

    def _best_of(self, s: int, worth: list[list[float]]) -> float:
        """Bound a sentence, given what each mention is worth by kind."""
        begin, stop = self.begins[s], self.begins[s + 1]
        if begin == stop:
            return 0.0
        own = [m for (start, _), m in self.mentions.items() if begin <= start < stop]
        base = 0.0
        for m in own:
            base = _up(base + worth[m][-1])
        # by label and where the present entity began
        states: dict[tuple[int, int], float] = {(-1, -1): base}
        for i in range(begin, stop):
            after: dict[tuple[int, int], float] = {}
            for (x, start), score in states.items():
                for y, emission in enumerate(self.emissions[i]):
                    link = self.first[y] if x < 0 else self.transitions[x][y]
                    value = _up(_up(score + link) + emission)
                    if not self.goes_on[y]:
                        value = self._left(value, x, start, i, worth)
                    key = (y, start if self.goes_on[y] else i if self.kinds[y] >= 0 else -1)
                    if value > after.get(key, -math.inf):
                        after[key] = value
            states = after
        return max(
            (
                _up(self._left(score, x, start, stop, worth) + self.last[x])
                for (x, start), score in states.items()
            ),
            default=-math.inf,
        )

    def _left(self, value: float, x: int, start: int, end: int, worth: list[list[float]]) -> float:
        m = self.mentions.get((start, end))
        if m is None or start < 0:
            return value
        return _up(_up(value + worth[m][self.kinds[x]]) + _up(-worth[m][-1]))

    def _note(self, states: list[int], start: int, end: int, labels: list[int]) -> None:
        m = self.mentions.get((start, end))
        if m is not None:
            states[m] = self.kinds[labels[start]]


def _up(value: float) -> float:
    """Return a sum that is no less than the exact one; what is forbidden stays so."""
    return math.nextafter(value, math.inf) if math.isfinite(value) else value
