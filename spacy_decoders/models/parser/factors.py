"""Learnt factors: scores of arcs, grandparents and siblings by discrete templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...arrays import Booleans, Floats, Floats32, Integers32
from ...errors import ProblemError

if TYPE_CHECKING:
    from .tree_scores import SentenceScores

__all__ = ["FAMILIES", "FactorTemplates", "FactorWeights", "Family", "add_families"]

Family = Literal["arcs", "grandparents", "siblings"]

#: The families of factors: h -> m; g -> h -> m; a and b under h.
FAMILIES: tuple[Family, ...] = get_args(Family)

#: Tags and labels from this number on share a code.
_CODES = 1024

#: Stands for an absent gradient.
_NOTHING = np.zeros(0, dtype=np.float32)


@cache
def _codes() -> NDArray[np.uint64]:
    """Return a fixed pseudorandom code for each value of each role in a template."""
    # saved weights depend on these numbers, and bit generators return the same in all releases
    return np.random.PCG64(20130801).random_raw(9 * _CODES).reshape(9, _CODES)


def FactorWeights(rows: int) -> Model[Any, Any]:
    """Build a layer with a weight table of so many rows (a power of two) for each factor family.

    The tables are parameters like any other: trained, averaged, stored and copied with the
    model. Rows are hashes of template values.
    """
    if rows < 2 or rows & (rows - 1):
        raise ProblemError(f"factor_rows: expected a power of two, got {rows}.")
    return Model("factor_weights", _forward, dims={"nO": rows}, params=dict.fromkeys(FAMILIES))


def _forward(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    raise TypeError("factor_weights holds parameters; score with FactorTemplates.")


def add_families(model: Model[Any, Any], families: Iterable[Family]) -> None:
    """Allocate zero tables for the families that have none yet."""
    for family in families:
        if not model.has_param(family):
            model.set_param(family, model.ops.alloc1f(model.get_dim("nO")))


@dataclass(frozen=True)
class FactorTemplates:
    """The scores of factors by a network's weight tables."""

    #: A :func:`FactorWeights` layer.
    model: Model[Any, Any]
    #: The families that are scored.
    families: tuple[Family, ...] = ("grandparents", "siblings")
    #: The largest distance in tokens of pairs of siblings that are scored: farther ones do not
    #: improve accuracy, and make proofs harder.
    window: int = 15

    def add_to_arcs(self, sentence: SentenceScores, arcs: Floats) -> None:
        """Add the template scores of arcs to an array of arc scores, in place.

        Arcs without a label get an upper bound.
        """
        if "arcs" in self.families:
            self._score("arcs", sentence, self._most_of_arcs, arcs)

    def scores(self, sentence: SentenceScores, allowed: Booleans) -> dict[str, Floats]:
        """Return the scores of the families with several arcs, over the allowed arcs."""
        found: dict[str, Floats] = {}
        for family in self.families:
            if family == "arcs":
                continue
            found[family] = self._score(family, sentence, allowed, self.window)
            if not np.isfinite(found[family].sum()):
                raise ProblemError(f"factors: the weights of {family} are not all finite.")
        return found

    def add(
        self,
        gradients: Mapping[Family, Floats32],
        sentence: SentenceScores,
        heads: Integers32,
        amount: float,
    ) -> None:
        """Add `amount` to the rows of all factors in a tree: the gradient of its score.

        The `gradients` are shaped like the weights; the `heads` of the tree are of shape (n,), 0
        for the root.
        """
        tree = np.zeros(sentence.arcs.shape, dtype=bool)
        tree[heads, np.arange(1, len(heads) + 1)] = True
        for family in self.families:
            given: Any = (tree, self.window)
            if family == "arcs":
                given = (0.0, np.where(tree, 0.0, -np.inf))
            self._score(family, sentence, *given, gradient=gradients[family], amount=amount)

    @property
    def of_arcs_alone(self) -> bool:
        """Whether no factor has more than one arc."""
        return set(self.families) <= {"arcs"}

    @property
    def is_trained(self) -> bool:
        """Whether any weight differs from zero."""
        tables: list[Any] = [self.model.get_param(family) for family in self.families]
        return any(table.any() for table in tables)

    @cached_property
    def _most_of_arcs(self) -> float:
        """An upper bound on each weight of arcs, with a margin for rounding."""
        table: Any = self.model.get_param("arcs")
        return 1.000001 * max(0.0, float(table.max()))

    def _score(
        self,
        family: Family,
        sentence: SentenceScores,
        *given: Any,
        gradient: Floats32 = _NOTHING,
        amount: float = 0.0,
    ) -> Any:
        """Run the kernel of a family, with further arguments, and a gradient to update."""
        from .kernels import factors as kernels  # compiled where it is first needed

        table: Any = self.model.get_param(family)
        bits = np.uint64(len(table).bit_length() - 1)
        weights = kernels.Weights(table, bits, _codes(), gradient, np.float32(amount))
        tags, labels = (np.minimum(of, _CODES - 1) for of in (sentence.tags, sentence.labels))
        tokens = kernels.Tokens(tags, sentence.words, labels)
        return getattr(kernels, f"score_{family}")(weights, tokens, *given)
