"""The joint problem of linking all mentions of a window, each to a candidate or to nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...decoders.representatives.validation import checked_distances
from ...errors import ProblemError
from .weights import Feature

if TYPE_CHECKING:
    from ...decoders.representatives import RepresentativesProblem
    from ...graph import ConceptGraph
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.pair_costs import PairCosts

__all__ = ["JointProblem", "link_problem", "scaled_pairs", "undominated"]

#: The exponent of the coverage, by which pairs are weighted.
_BY_COVERAGE = 0.25
#: The least number of joint choices for which it pays to eliminate candidates first.
_FEW = 1024
#: Added to the number of other forms, since few of them are weak evidence.
_CAUTION = 4.0
#: How much worse, relative to the scores, a candidate must be to be eliminated: more than
#: rounding.
_SAFETY = 1e-7


def scaled_pairs(table: CandidateTable, pairs: PairCosts) -> tuple[NDArray[np.float64], float]:
    """Compute the costs of pairs of choices, before they are weighted.

    If the graph has few of the candidates, nearness is weak evidence: all costs are scaled by the
    coverage, the mean share of each mention's candidates that have links, and by the number of
    forms.

    Returns the costs of all pairs of choices, **shape** ``(choices, choices)``, where nothing is
    far from all others, and the cost of pairs that have nothing in common.
    """
    choices = table.with_nothing[-1]
    if table.form_count < 2 and table.base is not None:  # without a base, `pairs` may raise
        return np.zeros((choices, choices)), 0.0  # mentions of one form are no pair
    found = np.asarray(pairs(table), np.float64)
    try:
        given = checked_distances(found)
    except ProblemError as error:
        raise ProblemError(f"pairs: {error}") from error
    far = float(getattr(pairs, "far", given.max(initial=0.0)))
    costs = np.full((choices, choices), far)
    costs[table.places[:, None], table.places] = given
    scale = table.coverage**_BY_COVERAGE / (max(0, table.form_count - 1) + _CAUTION)
    costs *= scale
    return costs, far * scale


@dataclass(frozen=True, eq=False)
class JointProblem:
    """The costs of the choices for the mentions of a window, alone and in pairs.

    The choices for a mention are its candidates and, last, nothing.
    """

    #: Where the choices of each mention begin, and the mention of each. **Shapes:**
    #: ``(mentions + 1,)``, ``(choices,)``
    offsets: NDArray[np.int64]
    own: NDArray[np.int64]
    #: The cost of each choice alone. **Shape:** ``(choices,)``
    local: NDArray[np.float64]
    #: The weighted costs of pairs of choices. **Shape:** ``(choices, choices)``
    costs: NDArray[np.float64]
    #: The weight of each pair of mentions. **Shape:** ``(mentions, mentions)``
    shares: NDArray[np.float64]
    #: The cost of linking two mentions with the same text to different concepts; None for none.
    #: **Shape:** ``(mentions, mentions)``
    apart: NDArray[np.float64] | None
    #: The choices that are decoded, without those that can't be best or second best. **Shape:**
    #: ``(kept,)``
    kept: NDArray[np.int64]
    #: The vertex of each choice, the same for the same concept, which breaks ties; and the graph,
    #: if there is one. **Shape:** ``(choices,)``
    vertices: NDArray[np.int64]
    graph: ConceptGraph | None

    @cached_property
    def problem(self) -> RepresentativesProblem:
        """The problem to decode."""
        from ...decoders.representatives import RepresentativesProblem

        return RepresentativesProblem.of_checked(
            self.between(self.kept, self.kept),
            np.searchsorted(self.kept, self.offsets),
            self.local[self.kept],
            self.vertices[self.kept],
            self.graph,
        )

    def chosen(self, choices: NDArray[Any]) -> NDArray[np.int64]:
        """The choices of a solution, as indices among all choices of each mention."""
        rows = self.kept[self.problem.offsets[:-1] + choices]
        return np.asarray(rows - self.offsets[:-1])

    def conditional_costs(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost of each choice, given those of the other mentions."""
        every = np.arange(len(self.own))
        pairs: NDArray[np.float64] = self.between(every, self.offsets[:-1] + chosen).sum(axis=1)
        return self.local + pairs

    def between(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """The costs of pairs of some choices with others. **Shape:** ``(some, others)``"""
        mine, theirs = self.own[some][:, None], self.own[others]
        costs = self.costs[some[:, None], others]
        costs *= self.shares[mine, theirs]
        if self.apart is not None:
            differ = self.vertices[some][:, None] != self.vertices[others]
            costs += self.apart[mine, theirs] * differ
        return np.asarray(costs)


def link_problem(
    table: CandidateTable,
    pairs: PairCosts,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    form_weight: float = 0.0,
    nothing: bool = True,
) -> JointProblem:
    """State the problem of linking the mentions of a window.

    `scores`, **shape** ``(choices,)``, are those of each choice alone, ``-inf`` if it is
    forbidden, and `weights` those of the features. `form_weight` is the cost of one of several
    mentions of a text meaning something else; `nothing` says whether mentions may be linked to
    nothing.
    """
    costs, far = scaled_pairs(table, pairs)
    offsets, repeats, shares = table.with_nothing, table.repeats, table.shares
    own = np.arange(len(table.mentions)).repeat(table.sizes + 1)
    vertices = np.zeros(len(own), np.int64)
    vertices[table.places] = table.keys + 1
    apart = None
    if form_weight and table.form_count < len(repeats):
        alike = table.spellings[:, None] == table.spellings[None, :]
        apart = alike * (form_weight / np.maximum(1, repeats * (repeats - 1)))[:, None]
        np.fill_diagonal(apart, 0.0)
    weight = max(0.0, float(weights[Feature.PAIRS]))
    costs *= weight
    local = -scores / repeats[own]
    if not local.min() > -np.inf:
        raise ProblemError("candidates: the score of one of them is not a finite number.")
    kept, graph = np.arange(len(own)), None
    if not nothing:
        # the paper's heuristics use the graph, in which nothing has no vertex
        last = offsets[1:] - 1
        local[last] = np.inf
        linkable = np.logical_or.reduceat(local < np.inf, offsets[:-1])
        local[last[~linkable]] = 0.0
        assert table.base is not None  # the component has checked this
        graph = table.base.graph
        vertices[table.places] = table.concepts
    elif math.prod((table.sizes + 1).tolist()) > _FEW:
        # in the scale of a single mention, as scores are
        most = scores
        if apart is not None:
            # a mention may gain as well from others of its text with the same candidate
            most = scores + (apart.sum(axis=1) * repeats)[own]
        voices = shares * repeats[:, None]
        kept = np.flatnonzero(undominated(offsets, scores, most, weight * far - costs, voices))
    return JointProblem(offsets, own, local, costs, shares, apart, kept, vertices, graph)


def undominated(
    offsets: NDArray[np.int64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
    near: NDArray[np.float64],
    voices: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which choices may be the best, or the best but one, in an optimal solution.

    One is eliminated if the lower bounds of two others of its mention, by what they gain from each
    other mention, exceed its upper bound. Then neither the best choice nor any margin changes: if
    one of the two is chosen, the other is an alternative at least as good. (Desmet et al. 1992,
    *The dead-end elimination theorem*, here with two witnesses.)

    **Shapes:** offsets (mentions + 1,), where the choices of each mention begin, at least two;
    least and most (n,), bounds on the score of each alone, ``-inf`` if it is forbidden; near (n,
    n), the gain of each pair; voices (mentions, mentions), the weight of each other mention for
    each mention, not negative. Returns bool (n,).
    """
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    high, low = (
        np.einsum("ij,ij->i", extreme.reduceat(near, offsets[:-1], axis=1), voices[own])
        for extreme in (np.maximum, np.minimum)
    )
    # the lower bound of each; then the second largest of each mention
    at_worst = least + low
    floor = at_worst[np.lexsort((at_worst, own))[offsets[1:] - 2]][own]
    at_best = most + high
    size = 1.0 + np.abs(np.where(np.isinf(at_best), 0.0, at_best)) + np.abs(floor)
    return np.asarray(np.isinf(floor) | (at_best >= floor - _SAFETY * size))
