"""The confidence in links: log-odds that they are right, from how they were decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ...arrays import Booleans, Floats, Floats32, Integers
from .weights import Feature

__all__ = ["Decided", "log_odds_right"]


#: The least and the largest lead, in all and of scores alone, that are distinguished.
_LEAST, _MOST = np.array([[0.0], [-10.0]]), np.array([[30.0], [10.0]])


@dataclass(frozen=True, eq=False)
class Decided:
    """The decisions for the mentions of windows, with features of the choices."""

    #: Where the choices of each mention begin: its candidates, then nothing. **Shape:**
    #: ``(mentions + 1,)``
    offsets: Integers
    #: The index of the chosen one among them. **Shape:** ``(mentions,)``
    choices: Integers
    #: The score of each choice, given all other links. **Shape:** ``(candidates + mentions,)``
    scores: Floats
    #: The score of each choice alone. **Shape:** ``(candidates + mentions,)``
    local: Floats
    #: The features of each choice. **Shape:** ``(candidates + mentions, 14)``
    features: Floats32
    #: How much more the best other choice for each mention costs, if the other links may change,
    #: and whether that is proven. **Shapes:** ``(mentions,)``
    margins: Floats
    exact: Booleans
    #: The number of mentions that share the form of each. **Shape:** ``(mentions,)``
    repeats: Integers
    #: The share of the candidates in its window that the graph has. **Shape:** ``(mentions,)``
    coverage: Floats

    @classmethod
    def together(cls, parts: Sequence[Decided]) -> Decided:
        """Concatenate the decisions for windows, of which there is at least one."""
        columns = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)[1:]
        }
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(np.cumsum([0, *sizes.tolist()]), **columns)

    @cached_property
    def sizes(self) -> Integers:
        """The number of choices of each mention, including nothing. **Shape:** ``(mentions,)``"""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> Integers:
        """The index of each mention's choice among all choices. **Shape:** ``(mentions,)``"""
        return self.offsets[:-1] + self.choices

    @cached_property
    def odds(self) -> Floats:
        """The log-odds that each choice is right. **Shape:** ``(mentions,)``"""
        return log_odds_right(self)

    @cached_property
    def given_others(self) -> Floats:
        """The probability of each candidate, and of nothing, given all other links.

        **Shape:** ``(candidates + mentions,)``
        """
        starts, sizes = self.offsets[:-1], self.sizes
        weights = np.exp(self.scores - np.maximum.reduceat(self.scores, starts).repeat(sizes))
        return np.asarray(weights / np.add.reduceat(weights, starts).repeat(sizes))

    def probabilities(self, right: Floats) -> Floats:
        """The probability of each candidate, and of nothing, given those of the chosen ones.

        The others share the rest in proportion to their scores. If one of them would be more
        probable than the choice, both become equally probable. **Shape:** ``(candidates +
        mentions,)``
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


#: The weights of: 1; the logarithm of the margin; the lead of the score alone over the other
#: candidates; the logarithm of the number of candidates; being the title.
_WEIGHTS = np.array([-0.87, 1.28, 0.09, -0.24, 0.99])
#: The weights, times the coverage, of: the logarithm of the lead over the other choices, given the
#: other links; the next three as above.
_BY_COVERAGE = np.array([0.83, -1.09, 0.23, 0.49])


def log_odds_right(decided: Decided) -> Floats:
    """Return the log-odds that each choice is right: **shape** ``(mentions,)``.

    A logistic regression, fitted on AIDA's train part and on four sets with Wikidata candidates,
    where the concept of a fifth of the mentions is not among the candidates. If a mention has no
    other choice, infinity; if nothing is chosen, the log-odds of the scores. The sets have names
    alone: for common nouns, the log-odds of the scores, by which nothing is a choice, are an upper
    bound.
    """
    rows, starts, last = decided.rows, decided.offsets[:-1], decided.offsets[1:] - 1
    values = np.stack([decided.scores, decided.local])
    values[1, last] = -np.inf  # the lead among the candidates
    others = values.copy()
    others[:, rows] = -np.inf
    best = np.maximum.reduceat(others, starts, axis=1)
    with np.errstate(invalid="ignore"):
        # how much each choice exceeds the best other one of its mention
        leads = np.where(np.isinf(best), np.inf, values[:, rows] - best)
    lead, alone = np.clip(leads, _LEAST, _MOST)
    linked = rows != last
    alone = np.where(linked, alone, 0.0)
    margins = np.log1p(np.clip(decided.margins, _LEAST[0], _MOST[0]) * decided.repeats)
    counts = np.log(np.maximum(1, decided.sizes - 1))
    title = decided.features[rows, Feature.TITLE].astype(np.float64)
    plain = [np.ones(len(rows)), margins, alone, counts, title]
    covered = [np.log1p(lead), margins, alone, counts]
    # summed one by one, since the rounding of matrix products depends on their size
    of_all, of_graph = (
        sum(map(np.multiply, weights, values))
        for weights, values in ((_WEIGHTS, plain), (_BY_COVERAGE, covered))
    )
    odds = of_all + decided.coverage * of_graph
    by_scores = _odds_of_scores(decided)
    odds = np.where(linked, odds, by_scores)
    # a single candidate is no evidence
    noun = decided.features[last, Feature.COMMON] > 0
    odds = np.where((counts > 0) & ~noun, odds, np.minimum(odds, by_scores))
    return np.asarray(np.where(np.isinf(leads[0]), np.inf, odds))


def _odds_of_scores(decided: Decided) -> Floats:
    """The log-odds of each choice, by a softmax of the scores."""
    others = np.exp(decided.scores - decided.scores[decided.rows].repeat(decided.sizes))
    others[decided.rows] = 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(np.add.reduceat(others, decided.offsets[:-1])))
