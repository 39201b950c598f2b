"""Non-local factors scored by discrete templates over tags, labels, sides and distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...errors import ProblemError
from .factor_weights import FAMILIES, Family
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from .kernels.templates import Weights

__all__ = ["FactorTemplates"]

#: Tags and labels beyond this number share a code.
_CODES = 1024


#: Weights that are looked at before all: of a table that is trained, few are zero.
_FIRST = 256


# An import inside of a function, sentence by sentence, takes longer than to look for these.
@cache
def _kernels() -> Any:
    from .kernels import templates  # compiled where it is first needed

    return templates


@lru_cache(maxsize=1)
def _codes() -> NDArray[np.uint64]:
    """Return a fixed pseudorandom code for each value of each role in a template."""
    codes = np.random.default_rng(20130801).integers(0, 2**64, size=(9, _CODES), dtype=np.uint64)
    codes.flags.writeable = False
    return codes


@dataclass(frozen=True)
class FactorTemplates:
    """Scores of non-local factors from one network's weight tables.

    Parameters
    ----------
    model
        A :func:`~spacy_decoders.models.parser.factor_weights.FactorWeights` layer.
    families
        Which families to score.
    window
        Pairs of siblings are scored only within this distance in tokens: more distant ones do not
        improve accuracy and make proofs harder.
    """

    model: Model[Any, Any]
    families: tuple[Family, ...] = ("grandparents", "siblings")
    window: int = 15

    def __post_init__(self) -> None:
        unknown = set(self.families).difference(FAMILIES)
        if unknown:
            raise ProblemError(f"factors: expected any of {FAMILIES}, got {sorted(unknown)}.")
        if self.window < 1:
            raise ProblemError(f"window: expected at least 1; got {self.window}.")

    def add_to_arcs(self, sentence: SentenceScores, arcs: Any) -> None:
        """Add the scores of single arcs to an array of arc scores, in place.

        Arcs without a label get an upper bound.
        """
        if "arcs" in self.families:
            tokens = _kernels().Tokens(sentence.tags, sentence.words, sentence.labels)
            weights = self.weights["arcs"]
            _kernels().add_arc_scores(weights, tokens, self._most_of_arcs, arcs)

    def scores(
        self, sentence: SentenceScores, allowed: NDArray[np.bool_]
    ) -> dict[str, NDArray[np.float64]]:
        """Return the scores of the families of several arcs, over the allowed arcs."""
        if self.of_arcs_alone:
            return {}
        kernels, weights = _kernels(), self.weights
        tokens = kernels.Tokens(sentence.tags, sentence.words, sentence.labels)
        found: dict[str, NDArray[np.float64]] = {}
        if "grandparents" in weights:
            of_chains = weights["grandparents"]
            found["grandparents"] = kernels.score_grandparents(of_chains, tokens, allowed)
        if "siblings" in weights:
            of_pairs = weights["siblings"]
            found["siblings"] = kernels.score_siblings(of_pairs, tokens, allowed, self.window)
        for family, scores in found.items():
            if not np.isfinite(scores.sum()):
                raise ProblemError(f"factors: the weights of {family} are not all finite.")
        return found

    def add(
        self,
        tables: Mapping[Family, NDArray[np.float32]],
        sentence: SentenceScores,
        heads: NDArray[np.int32],
        amount: float,
    ) -> None:
        """Add `amount` to the rows of all factors in a tree: the gradient of its score.

        Parameters
        ----------
        tables
            What to add to, one array a family, shaped like the weights.
        sentence
            The network's scores.
        heads
            The tree, shape (n,), 0 for the root.
        amount
            What each occurrence adds.
        """
        from .kernels import templates as kernels

        size = np.float32(amount)
        tokens = kernels.Tokens(sentence.tags, sentence.words, sentence.labels)
        heads = np.ascontiguousarray(heads, dtype=np.int32)
        for family, weights in self.weights.items():
            place = weights._replace(table=tables[family])
            if family == "arcs":
                kernels.add_arcs(place, tokens, heads, size)
            elif family == "grandparents":
                kernels.add_grandparents(place, tokens, heads, size)
            else:
                kernels.add_siblings(place, tokens, heads, self.window, size)

    def tree_score(self, sentence: SentenceScores, heads: NDArray[np.int32]) -> float:
        """Return the sum of the factor scores of a tree, in memory that is linear in n."""
        from .kernels.templates import GAIN

        weights = self.weights
        counts = {family: np.zeros_like(of.table) for family, of in weights.items()}
        self.add(counts, sentence, heads, 1.0)
        return GAIN * sum(
            float(np.dot(of.table.astype("d"), counts[family])) for family, of in weights.items()
        )

    def most(self, n: int) -> float:
        """Return an upper bound on the sum of the factor scores of any tree of n tokens."""
        from .kernels import templates as kernels

        touched: dict[Family, int] = {
            "arcs": (kernels.ARC_ROWS + kernels.BETWEEN) * n,
            "grandparents": kernels.GRANDPARENT_ROWS * n,
            "siblings": kernels.SIBLING_ROWS * n * self.window,
        }
        return kernels.GAIN * sum(
            touched[family] * max(0.0, float(of.table.max()))
            for family, of in self.weights.items()
        )

    @property
    def of_arcs_alone(self) -> bool:
        """Whether no factor has more than one arc."""
        return set(self.families) <= {"arcs"}

    @cached_property
    def _most_of_arcs(self) -> float:
        """An upper bound on each weight of arcs, with room for what sums are rounded by."""
        table: Any = self.model.get_param("arcs")
        return 1.000001 * max(0.0, float(table.max()))

    @property
    def is_trained(self) -> bool:
        """Whether any weight differs from zero."""
        # not by a generator: in Python each step of one is a call
        for weights in self.weights.values():
            if weights.table[:_FIRST].any() or weights.table.any():
                return True
        return False

    @property
    def weights(self) -> dict[Family, Weights]:
        """The weights of each family, and the codes by which its rows are found."""
        kernels = _kernels()
        found: dict[Family, Weights] = {}
        bits = np.uint64(self.model.get_dim("nO").bit_length() - 1)
        for family in self.families:
            table: Any = self.model.get_param(family)
            found[family] = kernels.Weights(table, bits, _codes())
        return found
