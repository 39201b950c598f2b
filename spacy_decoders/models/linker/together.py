"""The joint problem of linking: all mentions of a window, and nothing as a choice of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from .dominance import Group, undominated
from .weights import Feature

if TYPE_CHECKING:
    from ...decoders.representatives import RepresentativesProblem
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.pair_costs import PairCosts

__all__ = [
    "Forms",
    "JointProblem",
    "PairTerms",
    "Together",
    "link_problem",
    "pair_terms",
    "with_nothing",
]

#: How fast pairs lose weight where fewer of the candidates have links.
_BY_COVERAGE = 0.25
#: Ways to link all mentions from which on it pays to leave candidates out first.
_FEW = 1024
#: What is added to the number of other mentions: few of them prove less.
_CAUTION = 4.0


@dataclass(frozen=True, eq=False)
class Forms:
    """Which mentions have the same text, case and number apart.

    All mentions of a form weigh together as much as one: what fills a text with its name is not
    more related to everything else.
    """

    #: The form of each mention. **Shape:** ``(mentions,)``
    numbers: NDArray[np.int64]
    #: A number for each mention, the same for the same text in the same capitals. **Shape:**
    #: ``(mentions,)``
    spellings: NDArray[np.int64]

    def of(self, start: int, stop: int) -> Forms:
        """Those of a range of mentions."""
        _, numbers = np.unique(self.numbers[start:stop], return_inverse=True)
        return Forms(numbers.reshape(-1), self.spellings[start:stop])

    @property
    def count(self) -> int:
        """The number of different forms."""
        return int(self.numbers.max(initial=-1)) + 1

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How often the form of each mention is there. **Shape:** ``(mentions,)``"""
        return np.bincount(self.numbers)[self.numbers]

    def shares(self) -> NDArray[np.float64]:
        """The share of each pair of mentions in what their two forms are to each other.

        The shares of two different forms add to 1; those of a form with itself are 0.
        **Shape:** ``(mentions, mentions)``
        """
        each = 1.0 / self.repeats
        return np.where(self.numbers[:, None] == self.numbers, 0.0, np.outer(each, each))


def with_nothing(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the candidates of each mention begin if linking nothing stands behind each's own."""
    return np.asarray(offsets + np.arange(len(offsets)))


@dataclass(frozen=True, eq=False)
class PairTerms:
    """What pairs are worth before they are weighed."""

    #: The group of each mention: those with the same form and candidates. **Shape:**
    #: ``(mentions,)``
    group: NDArray[np.int64]
    #: A mention of each group. **Shape:** ``(groups,)``
    first: NDArray[np.int64]
    #: Where the candidates of each group begin, nothing behind them. **Shape:**
    #: ``(groups + 1,)``
    offsets: NDArray[np.int64]
    #: Between the candidates of all groups; nothing is far from all. Divided by the number of
    #: other forms, times the coverage. **Shape:** ``(n, n)``
    costs: NDArray[np.float64]
    #: What a pair costs that has nothing in common, scaled alike.
    far: float

    def rows(self) -> NDArray[np.int64]:
        """The row of `costs` of each mention's candidates, nothing behind them, end to end."""
        none = np.empty(0, np.int64)
        spans = [np.arange(self.offsets[g], self.offsets[g + 1]) for g in self.group]
        return np.concatenate([none, *spans])


def pair_terms(table: CandidateTable, forms: Forms, pairs: PairCosts) -> PairTerms:
    """Compute what the candidates of mentions cost beside each other.

    Where the graph knows few of the candidates, that two of these are near says little: the
    coverage, the mean share of each mention's candidates that have links, scales all pairs.
    """
    groups: dict[tuple[int, bytes], int] = {}
    first: list[int] = []
    keys, spans = table.keys, table.offsets.tolist()
    member = []
    for unit, form in enumerate(forms.numbers.tolist()):
        key = (form, keys[spans[unit] : spans[unit + 1]].tobytes())
        if key not in groups:
            groups[key] = len(first)
            first.append(unit)
        member.append(groups[key])
    once = table if len(first) == len(member) else table.of(first)
    offsets = with_nothing(once.offsets)
    if forms.count > 1 or table.base is None:  # without a base, pairs may refuse
        given = np.asarray(pairs(once), np.float64)
    else:  # mentions of one form share no pair
        given = np.zeros((len(once), len(once)))
    if given.size and not (np.isfinite(given.min()) and np.isfinite(given.max())):
        raise ProblemError("pairs: the distances of some candidates are not finite numbers.")
    far = getattr(pairs, "far", None)
    far = float(given.max(initial=0.0)) if far is None else float(far)
    scale = once.coverage**_BY_COVERAGE / (max(0, forms.count - 1) + _CAUTION)
    rows = _rows(once.offsets)
    costs = np.full((int(offsets[-1]), int(offsets[-1])), far)
    costs[np.ix_(rows, rows)] = given
    costs *= scale
    return PairTerms(np.array(member), np.array(first), offsets, costs, scale * far)


@dataclass(frozen=True, eq=False)
class JointProblem:
    """What the mentions of a window cost, alone and together."""

    #: To be decoded: of the candidates that can be chosen, or be the best other choice.
    problem: RepresentativesProblem
    #: Which candidates, nothing behind those of each mention, these are. **Shape:**
    #: ``(candidates + mentions,)``
    kept: NDArray[np.bool_]
    #: Where the candidates of each mention begin, all of them. **Shape:** ``(mentions + 1,)``
    offsets: NDArray[np.int64]
    #: What each candidate costs alone. **Shape:** ``(candidates + mentions,)``
    local: NDArray[np.float64]
    #: What each candidate costs beside those of each mention, weighed: looked up for the
    #: choices.
    together: Together

    def chosen(self, choices: NDArray[Any]) -> NDArray[np.int64]:
        """The choices of a solution as places among all candidates of each mention."""
        rows = np.flatnonzero(self.kept)
        return np.asarray(rows[self.problem.offsets[:-1] + choices] - self.offsets[:-1])

    def conditional_costs(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each of all candidates costs beside what the other mentions have chosen."""
        return self.local + self.together.beside(self.offsets[:-1] + chosen)


@dataclass(frozen=True, eq=False)
class Together:
    """What candidates cost beside each other, of mentions that share the costs of their groups."""

    #: Between the candidates of groups, weighed. **Shape:** ``(n, n)``
    costs: NDArray[np.float64]
    #: The row of each candidate there, and its mention. **Shapes:** ``(candidates + mentions,)``
    rows: NDArray[np.int64]
    own: NDArray[np.int64]
    #: The share of each pair of mentions. **Shape:** ``(mentions, mentions)``
    shares: NDArray[np.float64]
    #: What two mentions of a text cost that mean different things. **Shape:**
    #: ``(mentions, mentions)``
    apart: NDArray[np.float64]
    #: A number for each candidate's concept, -1 for nothing. **Shape:**
    #: ``(candidates + mentions,)``
    keys: NDArray[np.int64]

    def among(self, some: NDArray[np.int64]) -> NDArray[np.float64]:
        """The costs between some candidates. **Shape:** ``(some, some)``"""
        return self._between(some, some)

    def beside(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """What every candidate costs beside one of each mention. **Shape:** ``(candidates,)``"""
        every = np.arange(len(self.rows))
        return np.asarray(self._between(every, chosen).sum(axis=1))

    def _between(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        mine, theirs = self.own[some], self.own[others]
        costs = self.costs[self.rows[some][:, None], self.rows[others]]
        costs *= self.shares[mine[:, None], theirs]
        if self.apart.any():
            differ = self.keys[some][:, None] != self.keys[others]
            costs += self.apart[mine[:, None], theirs] * differ
        return np.asarray(costs)


def link_problem(
    table: CandidateTable,
    forms: Forms,
    terms: PairTerms,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    form_weight: float = 0.0,
    nothing: bool = True,
) -> JointProblem:
    """State what the mentions of a window cost, alone and together.

    Parameters
    ----------
    table
        Their candidates.
    forms
        Which of them have the same text.
    terms
        What `pair_terms` gave for these.
    scores
        Of each candidate alone, and of nothing behind those of each mention; ``-inf`` forbids.
        **Shape:** ``(candidates + mentions,)``
    weights
        Of the features.
    form_weight
        What it costs that one of several mentions of a text means something else.
    nothing
        Whether a mention may be linked to nothing.
    """
    from ...decoders.representatives import RepresentativesProblem

    offsets = with_nothing(table.offsets)
    own = np.repeat(np.arange(len(table.mentions)), np.diff(offsets))
    shares, repeats = forms.shares(), forms.repeats
    keys = np.full(len(own), -1, np.int64)
    keys[_rows(table.offsets)] = table.keys
    apart = np.zeros_like(shares)
    if form_weight and forms.count < len(repeats):
        alike = forms.spellings[:, None] == forms.spellings[None, :]
        apart = alike * (form_weight / np.maximum(1, repeats * (repeats - 1)))[:, None]
        np.fill_diagonal(apart, 0.0)
    weight = max(0.0, float(weights[Feature.PAIRS]))
    costs = weight * terms.costs
    together = Together(costs, terms.rows(), own, shares, apart, keys)
    local = -scores / repeats[own]
    kept = np.ones(len(own), bool)
    graph = None
    if nothing:
        far = weight * terms.far
        if math.prod(np.diff(offsets).tolist()) > _FEW:
            kept = _undominated(terms, forms, shares, apart, scores, far - costs)[together.rows]
        vertices = keys + 1
    else:
        # the paper's heuristics look into the graph, where nothing has no place
        last = offsets[1:] - 1
        local[last] = np.inf
        linkable = np.logical_or.reduceat(local < np.inf, offsets[:-1])
        local[last[~linkable]] = 0.0
        vertices = np.zeros(len(own), np.int64)
        if table.base is not None:
            graph = table.base.graph
            vertices[_rows(table.offsets)] = table.concepts
    some = np.flatnonzero(kept)
    sizes = np.bincount(own[some], minlength=len(table.mentions))
    spans = [slice(*span) for span in pairwise([0, *np.cumsum(sizes).tolist()])]
    members = np.arange(len(some), dtype=np.int32)
    problem = RepresentativesProblem(
        together.among(some),
        [members[span] for span in spans],
        [local[some[span]] for span in spans],
        # the pairs are weighed already
        float(max(1, len(spans) - 1)),
        vertices[some],
        graph,
    )
    return JointProblem(problem, kept, offsets, local, together)


def _undominated(
    terms: PairTerms,
    forms: Forms,
    shares: NDArray[np.float64],
    apart: NDArray[np.float64],
    scores: NDArray[np.float64],
    near: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Which candidates of each group are worth decoding."""
    count = len(terms.first)
    # in the scale of a single mention, as scores are; mentions of a group have equal shares
    voices = shares[terms.first] * forms.repeats[terms.first, None]
    voices = voices @ np.eye(count)[terms.group]
    slack = apart.sum(axis=1) * forms.repeats
    sizes = np.diff(terms.offsets)[terms.group]
    ends = np.cumsum(sizes)
    groups = []
    for g in range(count):
        units = np.flatnonzero(terms.group == g)
        rows = np.stack([scores[ends[u] - sizes[u] : ends[u]] for u in units])
        groups.append(Group(rows, float(slack[units].max())))
    return undominated(groups, near, voices)


def _rows(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of candidates where nothing stands behind those of each mention."""
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.asarray(np.arange(int(offsets[-1])) + own)
