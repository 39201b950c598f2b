"""What a choice among scored spans is, and what comes back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, checked_scores, owned, read_only
from ...certificate import Certificate
from ...errors import ProblemError

__all__ = ["SpanProblem", "SpanSolution"]


@dataclass(frozen=True, eq=False)
class SpanProblem:
    """The spans of one text, each with what it is worth.

    A set of spans is worth the sum of their scores; none at all is worth 0. Two spans of a set
    may not overlap, or, where they may nest, not cross: the one lies in the other, and is
    shorter, or they share no token.

    Parameters
    ----------
    spans
        **Shape (s, 2)**: first token and the token after the last.
    scores
        **Shape (s,)**, float: what each is worth; ``-inf`` forbids, and what is worth nothing or
        less is never chosen. Log-odds make the best set the likeliest one, if each span is a
        decision of its own.
    labels
        **Shape (s,)**: the kind of each span, as any hashable values; None if there are no kinds.
    nested
        Whether spans may lie in others. Of two spans with the same tokens only one is chosen.
    apart
        Whether there must be a token between any two spans that do not nest.
    once
        Kinds of which at most one span may be chosen.

    Raises
    ------
    ProblemError
        If a shape does not fit, a span has no token, a score is NaN or ``+inf``, an argument is
        of another type, or `once` has a kind but there are no labels.

    Examples
    --------
    >>> problem = SpanProblem([(0, 2), (1, 3), (2, 4)], [1.0, 1.5, 1.0])
    >>> problem.score([0, 2]), problem.fault([0, 1])
    (2.0, 'spans 0 and 1 overlap')
    """

    spans: NDArray[np.int64]
    scores: NDArray[np.float64]
    labels: Sequence[Hashable] | None = None
    nested: bool = False
    apart: bool = False
    once: Iterable[Hashable] = ()

    def __post_init__(self) -> None:
        for name, value in (("nested", self.nested), ("apart", self.apart)):
            if not isinstance(value, (bool, np.bool_)):
                raise ProblemError(f"{name}: expected True or False; got {value!r}.")
        none = isinstance(self.spans, (list, tuple, np.ndarray)) and not len(self.spans)
        given = np.zeros((0, 2), dtype=np.int64) if none else self.spans
        spans = owned(checked_indices("spans", given, (None, 2), low=0, dtype=np.int64), given)
        scores = checked_scores("scores", self.scores, (len(spans),), dtype=np.float64)
        empty = np.flatnonzero(spans[:, 0] >= spans[:, 1])
        if empty.size:
            begin, end = spans[empty[0]].tolist()
            raise ProblemError(
                f"spans: span {int(empty[0])} from token {begin} to {end} has no token; the "
                "second number is the token after the last."
            )
        labels = None if self.labels is None else _kinds("labels", self.labels)
        if labels is not None and len(labels) != len(spans):
            raise ProblemError(
                f"labels: expected one for each of the {len(spans)} spans, got {len(labels)}."
            )
        once = frozenset(_kinds("once", (self.once,) if isinstance(self.once, str) else self.once))
        if once and labels is None:
            raise ProblemError("once: it needs `labels`, the kind of each span.")
        object.__setattr__(self, "spans", spans)
        object.__setattr__(self, "scores", owned(scores, self.scores))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "once", once)

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def kinds(self) -> NDArray[np.int64]:
        """**Shape (s,)**: a number for each kind of `once`, -1 for all others."""
        numbers = {kind: number for number, kind in enumerate(sorted(self.once, key=repr))}
        labels = self.labels or (None,) * len(self)
        return np.array([numbers.get(label, -1) for label in labels], dtype=np.int64)

    def score(self, chosen: ArrayLike) -> float:
        """Return what some spans are worth together, whether they overlap or not."""
        which = checked_indices("chosen", np.asarray(chosen, int), (None,), low=0, high=len(self))
        return float(np.sum(self.scores[which]))

    def fault(self, chosen: ArrayLike) -> str | None:
        """Return why spans may not be chosen together; None if they may."""
        which = checked_indices("chosen", np.asarray(chosen, int), (None,), low=0, high=len(self))
        numbers = which.tolist()
        for position, a in enumerate(numbers):
            if self.scores[a] == -np.inf:
                return f"span {a} is forbidden"
            for b in numbers[position + 1 :]:
                fault = self._fault_of_pair(a, b)
                if fault:
                    return f"spans {a} and {b} {fault}"
        return None

    def _fault_of_pair(self, a: int, b: int) -> str | None:
        if a == b or tuple(self.spans[a]) == tuple(self.spans[b]):
            return "have the same tokens"
        (_, end), (other_begin, other_end) = sorted(
            self.spans[[a, b]].tolist(), key=lambda span: (span[0], -span[1])
        )
        if (
            self.labels is not None
            and self.labels[a] == self.labels[b]
            and (self.labels[a] in self.once)
        ):
            return f"are both of the kind {self.labels[a]!r}"
        if other_begin >= end:
            return "touch" if self.apart and other_begin == end else None
        if self.nested and other_end <= end:
            return None
        return "cross" if self.nested else "overlap"


def _kinds(name: str, given: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return kinds, each of them hashable."""
    try:
        kinds = tuple(given)
        hash(kinds)
    except TypeError as error:
        raise ProblemError(f"{name}: expected hashable kinds of spans ({error}).") from error
    return kinds


@dataclass(frozen=True, eq=False)
class SpanSolution:
    """The spans that were chosen.

    Attributes
    ----------
    chosen
        **Shape (chosen,)**, int32: numbers of the spans, in the order of the text; of nested
        ones the outer first.
    certificate
        What they are worth, and how good that is proven to be.
    """

    chosen: NDArray[np.int32]
    certificate: Certificate

    @classmethod
    def of(
        cls, problem: SpanProblem, chosen: NDArray[np.int64], certificate: Certificate
    ) -> SpanSolution:
        """Put the chosen spans into the order of the text."""
        spans = problem.spans[chosen]
        order = np.lexsort((-spans[:, 1], spans[:, 0]))
        return cls(read_only(chosen[order].astype(np.int32)), certificate)
