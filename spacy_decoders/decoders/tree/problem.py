"""Dependency-parsing problems and their solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    Immutable,
    checked_flags,
    checked_numbers,
    checked_scores,
    owned,
    read_only,
    refuse_beyond_memory,
)
from ...certificate import Certificate, Scope
from ...errors import ProblemError
from .factors import Factors
from .rules import Rule, checked_rules

__all__ = ["NO_GAPS", "TreeProblem", "TreeSolution"]

#: The most tokens for dense second-order arrays: longer sentences would exhaust memory.
LONGEST_DENSE = 400

#: The boundary scores that the kernels get for problems without boundaries.
NO_GAPS: NDArray[np.float64] = read_only(np.zeros(0))


@dataclass(frozen=True, eq=False)
class TreeProblem(Immutable):
    """The scores of all dependency trees over n tokens: one sentence, or several.

    Tokens are numbered from 1; 0 is the root. The score of a tree is the sum over its parts: one
    arc for each token, and all grandparents, siblings and factors that its arcs make up.

    Parameters
    ----------
    arcs
        (n + 1, n + 1), ``arcs[h, m]`` scores h as the head of m. Column 0 and the diagonal
        are ignored. ``-inf`` forbids an arc.
    grandparents
        (n + 1, n + 1, n + 1), ``grandparents[g, h, m]`` scores the chain g -> h -> m.
        Entries that no tree has (h = 0, m = 0, or two equal indices) are ignored.
    siblings
        (n + 1, n + 1, n + 1), ``siblings[h, a, b]`` with a < b scores every pair of
        modifiers of h, adjacent or not, on the same side or on both. Others are ignored.
    factors
        Any sets of arcs; also a compact way to give a few grandparents or siblings.
    allowed
        bool (n + 1, n + 1), False where an arc is not a candidate. If the mask comes from a
        heuristic, use :func:`~spacy_decoders.decoders.tree.prune`, which records that in the
        certificate's scope.
    projective
        Whether arcs must not cross (the root stands left of all tokens).
    single_root
        Whether exactly one token is attached to the root.
    scope
        ``"pruned"`` if a heuristic removed candidates first.
    boundaries
        (n,), ``boundaries[i]`` is the score (such as log-odds) of a sentence beginning at token
        i + 1; that of the first token is ignored. ``-inf`` forbids a boundary; to require one, use
        the rule :class:`~spacy_decoders.decoders.tree.FixedStart`. Trees and sentence boundaries
        are then decided jointly: every sentence is a span of tokens with its own tree, under one
        root (so `single_root` is implied), and no part spans two sentences. None for a single
        sentence.
    labels
        (n + 1, n + 1, labels), ``labels[h, m, l]`` is added to ``arcs[h, m]`` if that arc has
        label l. ``-inf`` forbids a label.
    rules
        What the tree must satisfy: :class:`~spacy_decoders.decoders.tree.AtMost`, `Leaves`,
        `FixedArc`, `ForbiddenArc`, `FixedLabel`, `ForbiddenLabel`, `FixedStart`.

    Attributes
    ----------
    arcs, allowed
        As the decoders see them: `arcs` is ``-inf`` and `allowed` False for forbidden arcs, arcs
        without an allowed label, the diagonal and column 0. Rules are not applied.

    Raises
    ------
    ProblemError
        If a shape does not fit, a score is NaN, ``+inf`` or beyond 1e100, or a factor names tokens
        that do not exist.

    Notes
    -----
    Scores are kept as float64 (which holds float32 exactly) and read-only; the caller's
    arrays are never changed.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> problem.n, problem.arcs[2].tolist()
    (2, [-inf, 2.0, -inf])
    """

    arcs: NDArray[np.float64]
    grandparents: NDArray[np.float64] | None = None
    siblings: NDArray[np.float64] | None = None
    factors: Factors | None = None
    allowed: NDArray[np.bool_] = None  # type: ignore[assignment]
    projective: bool = True
    single_root: bool = True
    scope: Scope = "full"
    boundaries: NDArray[np.float64] | None = None
    labels: NDArray[np.float64] | None = None
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        tokens = next(iter(getattr(self.arcs, "shape", ())), 1) - 1
        if tokens > LONGEST_DENSE:
            refuse_beyond_memory(
                "arcs",
                f"{tokens} tokens",
                4 * 8 * (tokens + 1) ** 2,
                "split the text into sentences",
            )
        given = _scores("arcs", self.arcs, (None, None))
        size = given.shape[0]
        if given.shape != (size, size) or size == 0:
            raise ProblemError(
                "arcs: expected a square array of n + 1 rows for n tokens, the root first; "
                f"got {given.shape}."
            )
        arcs = given.copy()
        arcs[:, 0] = -np.inf
        np.fill_diagonal(arcs, -np.inf)
        if self.allowed is not None:
            arcs[~_mask(self.allowed, size)] = -np.inf
        if self.labels is not None:
            labels = owned(_scores("labels", self.labels, (size, size, None)), self.labels)
            if labels.shape[2] == 0:
                raise ProblemError("labels: expected at least one label on the last axis.")
            self._set("labels", labels)
            arcs[(labels == -np.inf).all(axis=2)] = -np.inf
        if self.boundaries is not None:
            boundaries = _scores("boundaries", self.boundaries, (size - 1,)).copy()
            # one before or behind all possible roots is impossible; its score, however large,
            # would cost other scores their precision
            if len(roots := np.flatnonzero(arcs[0, 1:] > -np.inf)):
                boundaries[: roots[0] + 1] = boundaries[roots[-1] + 1 :] = -np.inf
            boundaries[:1] = 0.0  # a sentence always begins at the first token
            self._set("boundaries", read_only(boundaries))
            self._set("single_root", True)
        self._set("arcs", read_only(arcs))
        self._set("allowed", read_only(arcs > -np.inf))
        for name in ("grandparents", "siblings"):
            values = getattr(self, name)
            if values is not None:
                self._set(name, _dense(name, values, size))
        checked_flags(self, "projective", "single_root")
        if self.siblings is not None:
            self._set("siblings", self._without_root_pairs(self.siblings))
        if self.factors is not None:
            _check_factors(self.factors, size)
        if self.scope not in ("full", "pruned"):
            raise ProblemError(f"scope: expected 'full' or 'pruned', got {self.scope!r}.")
        self._check_rules(() if self.rules is None else self.rules)

    @classmethod
    def of_valid(
        cls,
        arcs: NDArray[np.float64],
        projective: bool,
        boundaries: NDArray[np.float64] | None = None,
    ) -> TreeProblem:
        """Return a first-order problem without validation, for scorers of many sentences.

        Arcs are float64 (n + 1, n + 1), contiguous and not shared, without NaN or ``+inf``, and
        become read-only; boundaries are float64 (n,), the first 0.
        """
        arcs[:, 0] = -np.inf
        np.fill_diagonal(arcs, -np.inf)
        empty = object.__new__(cls)
        return empty.unchecked(arcs=arcs, projective=projective, boundaries=boundaries)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclass is frozen

    def _check_rules(self, rules: Sequence[Rule]) -> None:
        count = None if self.labels is None else self.labels.shape[2]
        self._set("rules", checked_rules(rules, self.n, count, self.boundaries is not None))

    def unchecked(self, **values: Any) -> TreeProblem:
        """Return the problem with some fields replaced, of which only rules are validated.

        For scorers and searches that make many problems. Arrays are contiguous float64 of the
        right shapes, not shared, without NaN or ``+inf``; they become read-only. Arcs that
        this problem forbids must be ``-inf``.
        """
        other = object.__new__(TreeProblem)
        for value in values.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        other.__dict__.update(self.__dict__, **values)
        if "arcs" in values:
            other._set("allowed", read_only(other.arcs > -np.inf))
        if values.get("siblings") is not None:
            other._set("siblings", other._without_root_pairs(values["siblings"]))
        if values.get("rules"):
            other._check_rules(other.rules)
        return other

    def with_arcs(self, arcs: NDArray[np.float64]) -> TreeProblem:
        """Return the problem with these arc scores, and without labels and rules."""
        return self.unchecked(arcs=arcs, labels=None, rules=())

    def restricted(self, allowed: NDArray[np.bool_], *, scope: Scope | None = None) -> TreeProblem:
        """Return the problem with fewer candidate arcs, bool (n + 1, n + 1); only arcs are copied.

        Arcs that this problem forbids stay forbidden. The scope is ``"pruned"`` if a heuristic
        chose the arcs; None keeps it.
        """
        arcs = np.where(_mask(allowed, self.n + 1), self.arcs, -np.inf)
        return self.unchecked(arcs=arcs, scope=scope or self.scope)

    @property
    def n(self) -> int:
        """Number of tokens."""
        return int(self.arcs.shape[0]) - 1

    @property
    def gaps(self) -> NDArray[np.float64]:
        """The boundary scores by token number, float64 (n + 1,); empty without boundaries."""
        if self.boundaries is None:
            return NO_GAPS
        return read_only(np.concatenate([[0.0], self.boundaries]))

    def _without_root_pairs(self, siblings: NDArray[np.float64]) -> NDArray[np.float64]:
        """Set the scores of pairs of roots to 0, unless a sentence may have several."""
        if not self.single_root or not siblings[:1].any():
            return siblings
        kept = siblings.copy()
        kept[:1] = 0.0
        return read_only(kept)

    @property
    def has_one_root(self) -> bool:
        """Whether the tokens form one sentence, with exactly one token attached to the root."""
        return self.single_root and self.boundaries is None

    @property
    def is_constrained(self) -> bool:
        """Whether there are labels or rules."""
        return self.labels is not None or bool(self.rules)

    @property
    def is_first_order(self) -> bool:
        """Whether only arcs, their labels and boundaries are scored."""
        return self.grandparents is None and self.siblings is None and not self.has_factors

    @property
    def has_factors(self) -> bool:
        """Whether there are any factors."""
        return self.factors is not None and self.factors.count > 0


@dataclass(frozen=True, eq=False)
class TreeSolution(Immutable):
    """A decoded tree, or one for each sentence."""

    heads: NDArray[np.int32]
    """int32 (n,), ``heads[i]`` is the head of token i + 1, 0 for the root; read-only."""
    certificate: Certificate
    """The score of the tree, the proven bound, and the status."""
    rank_bound: float | None = None
    """In a list of the k best trees: an upper bound on every tree that does not precede this one.
    The rank is proven if the score attains it within the certificate's tolerance. Otherwise
    None."""
    starts: NDArray[np.bool_] | None = None
    """bool (n,), whether a sentence begins at each token; None without boundaries."""
    labels: NDArray[np.int32] | None = None
    """int32 (n,), the label of each token's arc; None without labels."""

    def __post_init__(self) -> None:
        for name, dtype in (("heads", np.int32), ("starts", np.bool_), ("labels", np.int32)):
            values = getattr(self, name)
            if values is not None:
                kept = read_only(np.ascontiguousarray(values, dtype=dtype))
                object.__setattr__(self, name, kept)


def _scores(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    return checked_scores(name, values, shape, dtype=np.float64)


def _dense(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Return scores of pairs of arcs, 0 where no tree has both, since others cost precision."""
    if size > LONGEST_DENSE + 1:
        raise ProblemError(
            f"{name}: a dense array for {size - 1} tokens would not fit in memory (at most "
            f"{LONGEST_DENSE}); give the parts that matter as Factors, or leave them out."
        )
    given = owned(_scores(name, values, (size, size, size)), values)
    places = np.arange(size)
    first, second, third = places[:, None, None], places[:, None], places
    if name == "siblings":  # head, modifier, later modifier
        real = (second > 0) & (second < third) & (first != second) & (first != third)
    else:  # grandparent, head, modifier
        real = (second > 0) & (third > 0) & (first != second) & (first != third)
        real &= second != third
    if (given[~real] == 0.0).all():
        return given
    return read_only(np.where(real, given, 0.0))


def _mask(values: ArrayLike, size: int) -> NDArray[np.bool_]:
    mask = checked_numbers("allowed", values)
    if mask.shape != (size, size) or mask.dtype != np.bool_:
        raise ProblemError(
            f"allowed: expected a bool array of shape ({size}, {size}), got {mask.dtype} "
            f"{mask.shape}."
        )
    return mask


def _check_factors(factors: Factors, size: int) -> None:
    if not isinstance(factors, Factors):
        raise ProblemError(f"factors: expected Factors, got {type(factors).__name__}.")
    if factors.arcs.size and factors.arcs.max() >= size:
        row = int(np.argmax(factors.arcs.max(axis=1)))
        raise ProblemError(
            f"factors.arcs: there are only {size - 1} tokens; got "
            f"{tuple(factors.arcs[row].tolist())} in row {row}."
        )
