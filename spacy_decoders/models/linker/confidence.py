"""How sure it is that a mention's link is right: log-odds from how the decision was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .weights import Feature

__all__ = ["Decided", "log_odds_right"]

Floats = NDArray[np.float64]

#: Costs, and scores alone, beyond which a decision can't be surer.
_LEAST, _MOST = np.array([[0.0], [-10.0]]), np.array([[30.0], [10.0]])


@dataclass(frozen=True, eq=False)
class Decided:
    """What was chosen for each mention of windows, and what is known of the choices."""

    #: Where the candidates of each mention begin, nothing behind them. **Shape:**
    #: ``(mentions + 1,)``
    offsets: NDArray[np.int64]
    #: The place of each choice among them. **Shape:** ``(mentions,)``
    choices: NDArray[np.int64]
    #: Of each candidate, all other mentions linked as they are. **Shape:**
    #: ``(candidates + mentions,)``
    scores: Floats
    #: Of each candidate alone. **Shape:** ``(candidates + mentions,)``
    local: Floats
    #: Of each candidate. **Shape:** ``(candidates + mentions, 14)``
    features: NDArray[np.float32]
    #: What the best other choice for each mention costs, whatever the others then are, and
    #: whether that is proven. **Shapes:** ``(mentions,)``
    margins: Floats
    exact: NDArray[np.bool_]
    #: How many mentions have the form of each. **Shape:** ``(mentions,)``
    repeats: NDArray[np.int64]
    #: The share of the candidates there that the graph knows. **Shape:** ``(mentions,)``
    coverage: Floats

    @classmethod
    def together(cls, parts: Sequence[Decided]) -> Decided:
        """What was decided for several windows, one behind the other; at least one."""
        columns = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)[1:]
        }
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(np.cumsum([0, *sizes.tolist()]), **columns)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many choices each mention has, nothing among them. **Shape:** ``(mentions,)``"""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The choices, among all that there are. **Shape:** ``(mentions,)``"""
        return self.offsets[:-1] + self.choices

    @cached_property
    def odds(self) -> Floats:
        """The log-odds that each choice is right. **Shape:** ``(mentions,)``"""
        return log_odds_right(self)

    @cached_property
    def given_others(self) -> Floats:
        """The probability of each candidate, and nothing, given all other links.

        **Shape:** ``(candidates + mentions,)``
        """
        starts, sizes = self.offsets[:-1], self.sizes
        weights = np.exp(self.scores - np.maximum.reduceat(self.scores, starts).repeat(sizes))
        return np.asarray(weights / np.add.reduceat(weights, starts).repeat(sizes))

    def probabilities(self, right: Floats) -> Floats:
        """The probability of each candidate, and nothing, where that of each choice is `right`.

        The others share the rest by their scores. Where one of them would be more probable than
        the choice, both are equally probable. **Shape:** ``(candidates + mentions,)``
        """
        starts, sizes = self.offsets[:-1], self.sizes
        shares = self.given_others.copy()
        shares[self.rows] = 0.0
        shares /= np.maximum(np.add.reduceat(shares, starts), 1e-300).repeat(sizes)
        most = np.maximum.reduceat(shares, starts)
        right = np.maximum(right, most / (1.0 + most))
        shares *= (1.0 - right).repeat(sizes)
        shares[self.rows] = right
        return np.minimum(shares, 1.0)


#: Weights of: 1; the logarithm of the margin; the lead alone over the other candidates; the
#: logarithm of the number of candidates; being the title.
_WEIGHTS = np.array([-0.87, 1.28, 0.09, -0.24, 0.99])
#: Weights, times the coverage, of: the logarithm of the lead over the other choices while the
#: other links stay; the next three as above.
_BY_COVERAGE = np.array([0.83, -1.09, 0.23, 0.49])


def log_odds_right(decided: Decided) -> Floats:
    """Return the log-odds that each choice is right: **shape** ``(mentions,)``.

    A logistic regression, fitted on AIDA's train part and on four sets with Wikidata candidates,
    in a fifth of whose mentions what is meant is not among the candidates. Where a
    mention may be nothing else, infinity; where nothing is chosen, the log-odds of the scores. The
    sets have names alone: for a common noun the scores, where nothing is a choice, bound it.
    """
    rows, starts, last = decided.rows, decided.offsets[:-1], decided.offsets[1:] - 1
    values = np.stack([decided.scores, decided.local])
    values[1, last] = -np.inf  # the lead among the candidates
    others = values.copy()
    others[:, rows] = -np.inf
    best = np.maximum.reduceat(others, starts, axis=1)
    with np.errstate(invalid="ignore"):
        # by what each choice is more than the best of its mention's others
        leads = np.where(np.isinf(best), np.inf, values[:, rows] - best)
    lead, alone = np.clip(leads, _LEAST, _MOST)
    linked = rows != last
    alone = np.where(linked, alone, 0.0)
    margins = np.log1p(np.clip(decided.margins, _LEAST[0], _MOST[0]) * decided.repeats)
    counts = np.log(np.maximum(1, decided.sizes - 1))
    title = decided.features[rows, Feature.TITLE].astype(np.float64)
    plain = [np.ones(len(rows)), margins, alone, counts, title]
    covered = [np.log1p(lead), margins, alone, counts]
    # one by one: how products of matrices are rounded depends on their size
    of_all, of_graph = (
        sum(map(np.multiply, weights, values))
        for weights, values in ((_WEIGHTS, plain), (_BY_COVERAGE, covered))
    )
    odds = of_all + decided.coverage * of_graph
    by_scores = _odds_of_scores(decided)
    odds = np.where(linked, odds, by_scores)
    # that there is only one candidate proves nothing
    noun = decided.features[last, Feature.COMMON] > 0
    odds = np.where((counts > 0) & ~noun, odds, np.minimum(odds, by_scores))
    return np.asarray(np.where(np.isinf(leads[0]), np.inf, odds))


def _odds_of_scores(decided: Decided) -> Floats:
    """The log-odds of each choice by a softmax of the scores."""
    others = np.exp(decided.scores - decided.scores[decided.rows].repeat(decided.sizes))
    others[decided.rows] = 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(np.add.reduceat(others, decided.offsets[:-1])))
