"""The joint problem of linking: all mentions of a window, and nothing as a choice of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .weights import Feature

if TYPE_CHECKING:
    from ...decoders.representatives import RepresentativesProblem
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.pair_costs import PairCosts

__all__ = ["Forms", "PairTerms", "link_problem", "pair_terms", "with_nothing"]

#: Tokens over which the voice of a mention for another fades to a third, and what is left far off.
_FADES, _FAR_OFF = 15.0, 0.05
#: How fast pairs lose weight where fewer of the candidates have links.
_BY_COVERAGE = 1.5
#: What is added to the number of other mentions: few of them prove less.
_CAUTION = 3.0


@dataclass(frozen=True, eq=False)
class Forms:
    """Which mentions have the same text, case apart, and where each stands.

    All mentions of a form weigh together as much as one: what fills a text with its name is not
    more related to everything else. Among them, the nearer ones of two forms weigh more.

    Attributes
    ----------
    numbers
        The form of each mention. **Shape:** ``(mentions,)``
    spellings
        A number for each mention, the same for the same text in the same capitals. **Shape:**
        ``(mentions,)``
    places
        The token at which each begins. **Shape:** ``(mentions,)``
    """

    numbers: NDArray[np.int64]
    spellings: NDArray[np.int64]
    places: NDArray[np.float64]

    def of(self, start: int, stop: int) -> Forms:
        """Those of a range of mentions."""
        _, numbers = np.unique(self.numbers[start:stop], return_inverse=True)
        return Forms(numbers.reshape(-1), self.spellings[start:stop], self.places[start:stop])

    @property
    def count(self) -> int:
        """The number of different forms."""
        return int(self.numbers.max(initial=-1)) + 1

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How often the form of each mention is there. **Shape:** ``(mentions,)``"""
        return np.bincount(self.numbers)[self.numbers]

    @property
    def same(self) -> NDArray[np.bool_]:
        """Which pairs of mentions have the same form. **Shape:** ``(mentions, mentions)``"""
        return np.asarray(self.numbers[:, None] == self.numbers[None, :])

    def shares(self) -> NDArray[np.float64]:
        """The share of each pair of mentions in what their two forms are to each other.

        The shares of two different forms add to 1; those of a form with itself are 0.
        **Shape:** ``(mentions, mentions)``
        """
        if self.count == len(self.numbers):
            shares = np.ones((self.count, self.count))
            np.fill_diagonal(shares, 0.0)
            return shares
        apart = np.abs(self.places[:, None] - self.places[None, :])
        near = np.exp(-apart / _FADES) + _FAR_OFF
        member = np.zeros((len(self.numbers), self.count))
        member[np.arange(len(self.numbers)), self.numbers] = 1.0
        sums = member.T @ near @ member
        shares = near / sums[self.numbers[:, None], self.numbers[None, :]]
        shares[self.same] = 0.0
        return shares


def with_nothing(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the candidates of each mention begin if linking nothing stands behind each's own."""
    return np.asarray(offsets + np.arange(len(offsets)))


@dataclass(frozen=True, eq=False)
class PairTerms:
    """What pairs are worth before they are weighed, and the facts that the weight depends on.

    Attributes
    ----------
    costs
        Between candidates, and nothing behind those of each mention: nothing is far from all.
        Divided by the number of other mentions, times the coverage. **Shape:** ``(n, n)``
    far
        What a pair costs that has nothing in common, scaled alike.
    facts
        What the weights ``pairs``, ``few``, ``uncovered`` and ``sparse`` are multiplied by.
        **Shape:** ``(4,)``
    """

    costs: NDArray[np.float64]
    far: float
    facts: NDArray[np.float64]

    def weight(self, weights: NDArray[np.float64]) -> float:
        """The weight of pairs in this document, never below 0."""
        own = weights[[Feature.PAIRS, Feature.FEW, Feature.UNCOVERED, Feature.SPARSE]]
        return max(0.0, float(own @ self.facts))


def pair_terms(table: CandidateTable, forms: Forms, pairs: PairCosts) -> PairTerms:
    """Compute what the candidates of mentions cost beside each other.

    Where the graph knows few of the candidates, that two of these are near says little: the
    coverage, the mean share of each mention's candidates that have links, scales all pairs.
    """
    rows = _rows(table.offsets)
    size = len(table) + len(table.mentions)
    given = pairs(table)
    far = getattr(pairs, "far", None)
    far = float(given.max(initial=0.0)) if far is None else float(far)
    costs = np.full((size, size), far)
    costs[np.ix_(rows, rows)] = given
    coverage, links = 1.0, 1.0
    if table.base is not None and len(table):
        degree = table.base.graph.degree[table.concepts]
        starts = table.offsets[:-1]
        known = np.add.reduceat((degree > 0).astype(np.float64), starts)
        coverage = float((known / np.diff(table.offsets)).mean())
        links = float(degree.mean())
    scale = coverage**_BY_COVERAGE / (max(0, forms.count - 1) + _CAUTION)
    facts = np.array([1.0, 1.0 / max(1, forms.count), 1.0 - coverage, 1.0 / (1.0 + links)])
    return PairTerms(scale * costs, scale * far, facts)


def link_problem(
    table: CandidateTable,
    forms: Forms,
    terms: PairTerms,
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    form_weight: float = 0.0,
    nothing: bool = True,
) -> RepresentativesProblem:
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
    costs = terms.weight(weights) * terms.costs * shares[np.ix_(own, own)]
    keys = np.full(len(own), -1, np.int64)
    keys[_rows(table.offsets)] = table.keys
    if form_weight and forms.count < len(repeats):
        alike = forms.spellings[:, None] == forms.spellings[None, :]
        differ = alike[np.ix_(own, own)] & (keys[:, None] != keys[None, :])
        differ[own[:, None] == own[None, :]] = False
        times = repeats[own]
        costs += differ * (form_weight / np.maximum(1, times * (times - 1)))[:, None]
    local = -scores / repeats[own]
    graph = None
    vertices = keys + 1
    if not nothing:
        # the paper's heuristics look into the graph, where nothing has no place
        last = offsets[1:] - 1
        local[last] = np.inf
        linkable = np.logical_or.reduceat(local < np.inf, offsets[:-1])
        local[last[~linkable]] = 0.0
        if table.base is not None:
            graph = table.base.graph
            vertices = np.zeros(len(own), np.int64)
            vertices[_rows(table.offsets)] = table.concepts
    spans = [slice(*span) for span in pairwise(offsets.tolist())]
    members = np.arange(len(own), dtype=np.int32)
    return RepresentativesProblem(
        costs,
        [members[span] for span in spans],
        [local[span] for span in spans],
        # the pairs are weighed already
        float(max(1, len(spans) - 1)),
        vertices,
        graph,
    )


def _rows(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of candidates where nothing stands behind those of each mention."""
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.asarray(np.arange(int(offsets[-1])) + own)
