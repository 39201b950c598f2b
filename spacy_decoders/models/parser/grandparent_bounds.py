"""Grandparent scores on demand, with upper bounds that need no score.

A decoder that prices grandparents (Parse, Price and Cut) asks for few of the n^3 scores. What
spares the others are two bounds that factor into one table lookup a template; the tables hold
maxima over all that is not yet known, and are made once for a trained model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .factor_templates import FactorTemplates
from .tree_scores import SentenceScores

__all__ = ["GrandparentBounds", "LazyGrandparents"]

#: The attributes of each template, as in the kernel: tags of g, h and m, the labels of the
#: upper and the lower arc, and the pattern of sides.
_TEMPLATES = ("ghmp", "gmp", "ulp", "ulh", "ulg", "ulm", "ump", "glp", "ghlp")
_ROLES = {"g": 0, "h": 1, "m": 2, "u": 3, "l": 4, "p": 5}

#: Patterns (g < h, h < m, g < m as binary digits) in which the lower arc points left, right;
#: and in which the upper one does.
_LOWER = ((0, 4, 5), (2, 3, 7))
_UPPER = ((0, 2, 3), (4, 5, 7))

Tables = tuple[NDArray[np.float64], ...]


@dataclass(frozen=True)
class GrandparentBounds:
    """Per-template maxima of one model's grandparent scores.

    Parameters
    ----------
    templates
        The scores.
    tags, labels
        How many different tags and labels there are.

    References
    ----------
    Riedel, Smith and McCallum (2012), Parse, Price and Cut, sections 4.3.1 and 4.3.2,
    equations 11-13.
    """

    templates: FactorTemplates
    tags: int
    labels: int

    def __post_init__(self) -> None:
        # by the direction of the known arc: left, right
        lower = tuple(self._maxima("hml", patterns) for patterns in _LOWER)
        upper = tuple(self._maxima("ghu", patterns) for patterns in _UPPER)
        object.__setattr__(self, "_lower", lower)
        object.__setattr__(self, "_upper", upper)

    def scores(self, sentence: SentenceScores) -> LazyGrandparents:
        """Return the grandparent scores of one sentence, on demand."""
        tags, labels = sentence.tags, sentence.labels
        n = len(tags)
        rows, columns = np.indices((n, n))
        right = rows < columns
        arc = {"h": tags[rows], "m": tags[columns], "l": labels}
        chain = {"g": tags[rows], "h": tags[columns], "u": labels}
        lower: tuple[Tables, Tables] = vars(self)["_lower"]
        upper: tuple[Tables, Tables] = vars(self)["_upper"]
        return LazyGrandparents(
            self.templates,
            sentence,
            by_arc=np.where(right, _looked_up(lower[1], arc), _looked_up(lower[0], arc)),
            by_chain=np.where(right, _looked_up(upper[1], chain), _looked_up(upper[0], chain)),
        )

    def _maxima(self, known: str, patterns: tuple[int, ...]) -> Tables:
        """For each template, its largest weight by the known attributes it has."""
        return tuple(self._values(known, patterns))

    def _values(self, known: str, patterns: tuple[int, ...]) -> Iterator[NDArray[np.float64]]:
        from .kernels import templates as kernels

        table, bits, codes = self.templates.weights("grandparents")
        sizes = dict.fromkeys("ghm", self.tags + 1) | dict.fromkeys("ul", self.labels + 1)
        for number, attributes in enumerate(_TEMPLATES, start=1):
            # known attributes first, so that what is left to maximise over comes last
            order = sorted(attributes, key=lambda role: (role not in known, role))
            total = np.zeros((1,) * len(order), dtype=np.uint64)
            for axis, role in enumerate(order):
                values = np.array(patterns) if role == "p" else np.arange(sizes[role])
                shape = [1] * len(order)
                shape[axis] = len(values)
                total = total + codes[_ROLES[role], values].reshape(shape)
            weights = table[kernels.rows_of(total.ravel(), np.uint64(number), bits)]
            hidden = tuple(axis for axis, role in enumerate(order) if role not in known)
            yield kernels.GAIN * weights.reshape(total.shape).astype("d").max(axis=hidden)


@dataclass(frozen=True)
class LazyGrandparents:
    """The grandparent scores of one sentence.

    Attributes
    ----------
    by_arc
        (n + 1, n + 1), ``by_arc[p, c]`` is at least ``score(g, p, c)`` for every g.
    by_chain
        (n + 1, n + 1), ``by_chain[g, p]`` is at least ``score(g, p, c)`` for every c.
    """

    templates: FactorTemplates
    sentence: SentenceScores
    by_arc: NDArray[np.float64]
    by_chain: NDArray[np.float64]

    def score(self, g: ArrayLike, p: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
        """Score chains g -> p -> c, given as three arrays of tokens of one length."""
        from .kernels import templates as kernels

        parts = np.stack([np.asarray(x, dtype=np.int32) for x in (g, p, c)], axis=1)
        found: NDArray[np.float64] = kernels.score_chains(
            *self.templates.weights("grandparents"),
            self.sentence.tags,
            self.sentence.labels,
            np.ascontiguousarray(parts),
        )
        return found


def _looked_up(maxima: Tables, known: dict[str, Any]) -> NDArray[np.float64]:
    total = np.zeros(known[next(iter(known))].shape)
    for table, attributes in zip(maxima, _TEMPLATES, strict=True):
        total += table[tuple(known[role] for role in sorted(set(attributes) & set(known)))]
    return total
