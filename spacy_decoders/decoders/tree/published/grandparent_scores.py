"""Grandparent scores that are computed on demand, and bounds on those not computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import TreeProblem

__all__ = ["DenseGrandparents", "GrandparentScorer", "ScoreTable"]

Floats = NDArray[np.float64]


class GrandparentScorer(Protocol):
    """Grandparent scores on demand, with bounds that hold without computing any.

    Attributes
    ----------
    by_arc
        float64 (n + 1, n + 1), ``by_arc[p, c]`` is at least ``score(g, p, c)`` for every g.
    by_chain
        float64 (n + 1, n + 1), ``by_chain[g, p]`` is at least ``score(g, p, c)`` for every c.
    """

    @property
    def by_arc(self) -> Floats: ...

    @property
    def by_chain(self) -> Floats: ...

    def score(self, g: ArrayLike, p: ArrayLike, c: ArrayLike) -> Floats:
        """Score chains g -> p -> c, given as three arrays of tokens of one length."""
        ...


@dataclass(frozen=True, eq=False)
class DenseGrandparents:
    """Scores given as a dense array.

    Examples
    --------
    >>> problem = TreeProblem(np.zeros((3, 3)), np.ones((3, 3, 3)), projective=False)
    >>> scores = DenseGrandparents.of(problem)
    >>> scores.score([0], [1], [2]), scores.by_arc[1]
    (array([1.]), array([-inf, -inf,   1.]))
    """

    values: Floats
    by_arc: Floats
    by_chain: Floats

    @classmethod
    def of(cls, problem: TreeProblem) -> DenseGrandparents:
        """Take a problem's grandparents, zero if it has none; forbidden arcs have none."""
        size = problem.n + 1
        values = np.zeros((size,) * 3) if problem.grandparents is None else problem.grandparents
        values = np.where(chains_of(problem.allowed), values, -np.inf)
        return cls(values, values.max(axis=0), values.max(axis=2))

    def score(self, g: ArrayLike, p: ArrayLike, c: ArrayLike) -> Floats:
        """Return the scores of chains."""
        found: Floats = self.values[np.asarray(g), np.asarray(p), np.asarray(c)]
        return found


class ScoreTable:
    """The grandparent scores of one sentence that are known, and bounds on the others.

    Parameters
    ----------
    scorer
        Called for each score at most once.
    allowed
        The arcs that may be in a tree.
    lowest
        Scores below this count as forbidden.

    Attributes
    ----------
    upper
        (n + 1, n + 1, n + 1), the score of each chain where it is known, a bound elsewhere;
        ``-inf`` where there can be no such chain.
    known
        Where `upper` is the score itself.
    scored
        How many chains were scored.
    lowered
        Whether any score was below the lowest.
    """

    def __init__(
        self, scorer: GrandparentScorer, allowed: NDArray[np.bool_], lowest: float
    ) -> None:
        self._scorer = scorer
        self._lowest = lowest
        possible = chains_of(allowed)
        bound = np.minimum(scorer.by_arc[None], scorer.by_chain[:, :, None])
        low = possible & (bound < lowest)
        self.upper: Floats = np.where(possible & ~low, bound, -np.inf)
        self.known: NDArray[np.bool_] = ~possible | low
        self.scored = 0
        self.lowered = bool((low & (bound > -np.inf)).any())

    def score(self, g: NDArray[np.intp], p: NDArray[np.intp], c: NDArray[np.intp]) -> Floats:
        """Return the scores of distinct chains, computing those not yet known."""
        new = ~self.known[g, p, c]
        if new.any():
            g0, p0, c0 = g[new], p[new], c[new]
            scores = np.asarray(self._scorer.score(g0, p0, c0), dtype=np.float64)
            low = scores < self._lowest
            self.lowered |= bool((low & (scores > -np.inf)).any())
            self.upper[g0, p0, c0] = np.where(low, -np.inf, scores)
            self.known[g0, p0, c0] = True
            self.scored += len(g0)
        return self.upper[g, p, c]

    def chains_of_tree(self, heads: NDArray[np.int64]) -> Floats:
        """Return the scores of a tree's chains; `heads` begins with -1 for the root."""
        c = np.flatnonzero(heads > 0)
        return self.score(heads[heads[c]], heads[c], c)


def chains_of(allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which chains g -> p -> c consist of allowed arcs."""
    chains = allowed[:, :, None] & allowed[None, :, :]
    chains[:, 0, :] = False
    size = len(allowed)
    tokens = np.arange(size)
    chains[tokens, :, tokens] = False  # g -> p -> g is a cycle
    return chains
