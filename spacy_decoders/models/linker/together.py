"""The joint problem of linking: all mentions of a window, and nothing as a choice of each."""

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

#: How fast pairs lose weight where fewer of the candidates have links.
_BY_COVERAGE = 0.25
#: Ways to link all mentions from which on it pays to leave candidates out first.
_FEW = 1024
#: What is added to the number of other mentions: few of them prove less.
_CAUTION = 4.0
#: By which part of the scores in question a candidate must be worse to be left out, beyond all
#: rounding.
_SAFETY = 1e-7


def scaled_pairs(table: CandidateTable, pairs: PairCosts) -> tuple[NDArray[np.float64], float]:
    """Compute what the choices of mentions cost beside each other, before that is weighed.

    Where the graph knows few of the candidates, that two of these are near says little: the
    coverage, the mean share of each mention's candidates that have links, scales all pairs, and
    so does the number of forms.

    Returns the costs of all choices, **shape** ``(choices, choices)``, nothing being far from all,
    and what a pair costs that has nothing in common.
    """
    choices = table.with_nothing[-1]
    if table.form_count < 2 and table.base is not None:  # without a base, pairs may refuse
        return np.zeros((choices, choices)), 0.0  # mentions of one form share no pair
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
    """What the choices of the mentions of a window cost, alone and together.

    The choices of a mention are its candidates and, behind them, nothing.
    """

    #: Where the choices of each mention begin, and the mention of each. **Shapes:**
    #: ``(mentions + 1,)``, ``(choices,)``
    offsets: NDArray[np.int64]
    own: NDArray[np.int64]
    #: What each costs alone. **Shape:** ``(choices,)``
    local: NDArray[np.float64]
    #: What they cost beside each other, weighed. **Shape:** ``(choices, choices)``
    costs: NDArray[np.float64]
    #: The share of each pair of mentions in that. **Shape:** ``(mentions, mentions)``
    shares: NDArray[np.float64]
    #: What two mentions of a text cost that mean different things, None if nothing. **Shape:**
    #: ``(mentions, mentions)``
    apart: NDArray[np.float64] | None
    #: The choices that are decoded: not those that are never the best, nor the best but one.
    #: **Shape:** ``(kept,)``
    kept: NDArray[np.int64]
    #: The vertex of each choice, the same for the same concept, by which ties are broken; and, if
    #: there is one, its graph. **Shape:** ``(choices,)``
    vertices: NDArray[np.int64]
    graph: ConceptGraph | None

    @cached_property
    def problem(self) -> RepresentativesProblem:
        """What is to be decoded."""
        from ...decoders.representatives import RepresentativesProblem

        return RepresentativesProblem.of_checked(
            self.between(self.kept, self.kept),
            np.searchsorted(self.kept, self.offsets),
            self.local[self.kept],
            self.vertices[self.kept],
            self.graph,
        )

    def chosen(self, choices: NDArray[Any]) -> NDArray[np.int64]:
        """The choices of a solution as places among all those of each mention."""
        rows = self.kept[self.problem.offsets[:-1] + choices]
        return np.asarray(rows - self.offsets[:-1])

    def conditional_costs(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each choice costs beside what the other mentions have chosen."""
        every = np.arange(len(self.own))
        pairs: NDArray[np.float64] = self.between(every, self.offsets[:-1] + chosen).sum(axis=1)
        return self.local + pairs

    def between(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """What some choices cost beside others. **Shape:** ``(some, others)``"""
        if len(self.offsets) == 2:  # a mention has no pair with itself
            return np.zeros((len(some), len(others)))
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
    """State what the mentions of a window cost, alone and together.

    Of their candidates, and of nothing behind those of each mention, there are the scores of each
    alone, **shape** ``(choices,)``, of which ``-inf`` forbids, and the weights of the features.
    `form_weight` is what it costs that one of several mentions of a text means something else;
    `nothing` says whether a mention may be linked to nothing.
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
        raise ProblemError("candidates: what speaks for one of them is no finite number.")
    kept, graph = np.arange(len(own)), None
    if not nothing:
        # the paper's heuristics look into the graph, where nothing has no place
        last = offsets[1:] - 1
        local[last] = np.inf
        linkable = np.logical_or.reduceat(local < np.inf, offsets[:-1])
        local[last[~linkable]] = 0.0
        assert table.base is not None  # the component has asked for one
        graph = table.base.graph
        vertices[table.places] = table.concepts
    elif math.prod((table.sizes + 1).tolist()) > _FEW:
        # all in the scale of a single mention, as scores are
        most = scores
        if apart is not None:
            # what else a mention may gain by a candidate: that others of its text have chosen it
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
    """Which candidates may be chosen, or be the best other choice, in any best answer.

    One is left out if two others of its mention, by the least that they gain by each other
    mention, are better than it is by the most. Then neither the best choice nor any margin
    changes: where one of the two is the choice, the other is an alternative at least as good.
    (Desmet et al. 1992, *The dead-end elimination theorem*, here with two witnesses.)

    **Shapes:** offsets (mentions + 1,), where the candidates of each mention begin, at least two;
    least and most (n,), what each is worth by itself, ``-inf`` where it is forbidden; near
    (n, n), what two gain by each other; voices (mentions, mentions), the weight that each mention
    gives to each other one, not negative. Returns bool (n,).
    """
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    high, low = (
        np.einsum("ij,ij->i", extreme.reduceat(near, offsets[:-1], axis=1), voices[own])
        for extreme in (np.maximum, np.minimum)
    )
    # each is at least this much; of the two best, the lower
    at_worst = least + low
    floor = at_worst[np.lexsort((at_worst, own))[offsets[1:] - 2]][own]
    at_best = most + high
    size = 1.0 + np.abs(np.where(np.isinf(at_best), 0.0, at_best)) + np.abs(floor)
    return np.asarray(np.isinf(floor) | (at_best >= floor - _SAFETY * size))
