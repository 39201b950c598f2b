"""Non-local factors scored by discrete templates over tags, labels, sides and distances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...errors import ProblemError
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from ...decoders.tree import Factors, TreeProblem

__all__ = ["FAMILIES", "Family", "FactorTemplates", "FactorWeights", "add_families"]

Family = Literal["arcs", "grandparents", "siblings", "tri_siblings", "great_grandparents"]

#: The factor families: h -> m by its words and the tags about and between; g -> h -> m; a and
#: b under h; a, b and c under h; f -> g -> h -> m.
FAMILIES: tuple[Family, ...] = get_args(Family)

#: Tags and labels beyond so many share a code.
_CODES = 1024


def FactorWeights(rows: int) -> Model[Any, Any]:
    """Hold one weight table of so many rows (a power of two) for each factor family.

    The tables are parameters like any other: trained, averaged, stored and copied with the
    model. Their rows are hashes of template values.
    """
    if rows < 2 or rows & (rows - 1):
        raise ProblemError(f"factor_rows: expected a power of two, got {rows}.")
    return Model(
        "factor_weights",
        _forward,
        dims={"nO": rows},
        params=dict.fromkeys(FAMILIES),
    )


def _forward(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    raise TypeError("factor_weights holds parameters; score with FactorTemplates.")


def add_families(model: Model[Any, Any], families: Iterable[Family]) -> None:
    """Allocate the tables of some families that have none yet, all zero."""
    for family in families:
        if not model.has_param(family):
            model.set_param(family, model.ops.alloc1f(model.get_dim("nO")))


@lru_cache(maxsize=1)
def _codes() -> NDArray[np.uint64]:
    """Return a random code for each value of each role in a template; the same for ever."""
    codes = np.random.default_rng(20130801).integers(0, 2**64, size=(9, _CODES), dtype=np.uint64)
    codes.flags.writeable = False
    return codes


@dataclass(frozen=True)
class FactorTemplates:
    """Scores of non-local factors from one network's weight tables.

    Parameters
    ----------
    model
        A :func:`FactorWeights` layer.
    families
        Which families to score.
    window
        Pairs and triples of siblings count only if they lie so many tokens apart at most:
        farther ones bring no accuracy and spoil proofs.
    reach
        Factors of three arcs are made only of each token's `reach` best heads by first-order
        scores: the model knows no others. All arcs still take part in the tree.
    """

    model: Model[Any, Any]
    families: tuple[Family, ...] = ("grandparents", "siblings")
    window: int = 15
    reach: int = 3

    def __post_init__(self) -> None:
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown:
            raise ProblemError(f"factors: expected any of {FAMILIES}, got {unknown}.")
        if self.window < 1 or self.reach < 1:
            raise ProblemError(
                f"window and reach must be at least 1; got {self.window}, {self.reach}."
            )

    @property
    def bits(self) -> np.uint64:
        """Binary digits of a row number."""
        return np.uint64(self.model.get_dim("nO").bit_length() - 1)

    def problem(
        self,
        sentence: SentenceScores,
        *,
        projective: bool,
        k: int | None = None,
        beam: float | None = None,
    ) -> TreeProblem:
        """Return the decoding problem of one sentence.

        Parameters
        ----------
        sentence
            The network's scores.
        projective
            Whether arcs may not cross.
        k, beam
            Keep the likely heads of each token only, as
            :func:`~spacy_decoders.decoders.tree.prune` does, and score nothing else.
        """
        from ...decoders.tree import TreeProblem, prune
        from .kernels import templates as kernels

        arcs: Any = sentence.arcs
        if "arcs" in self.families:
            arcs = arcs.astype("d")
            kernels.add_arc_scores(
                *self.weights("arcs"), sentence.tags, sentence.words, sentence.labels, arcs
            )
        problem = TreeProblem(arcs, projective=projective)
        if k is not None or beam is not None:
            problem = prune(problem, k, beam=beam)
        grandparents = siblings = None
        if "grandparents" in self.families:
            grandparents = kernels.score_grandparents(
                *self.weights("grandparents"), sentence.tags, sentence.labels, problem.allowed
            )
        if "siblings" in self.families:
            siblings = kernels.score_siblings(
                *self.weights("siblings"),
                sentence.tags,
                sentence.words,
                sentence.labels,
                problem.allowed,
                self.window,
            )
        factors = self._sparse(sentence, problem.allowed)
        for family, scores in (("grandparents", grandparents), ("siblings", siblings)):
            if scores is not None and not np.isfinite(scores.sum()):
                raise ProblemError(f"factors: the weights of {family} are not all finite.")
        return problem.completed(grandparents=grandparents, siblings=siblings, factors=factors)

    def _sparse(self, sentence: SentenceScores, allowed: NDArray[np.bool_]) -> Factors | None:
        """The factors of three arcs among each token's best heads."""
        from ...decoders.tree import Factors
        from .kernels import templates as kernels

        chosen = [family for family in self.families if family in _THREE_ARCS]
        if not chosen:
            return None
        near = _best_heads(sentence.arcs, self.reach) & allowed
        factors = Factors.empty()
        for family in chosen:
            if family == "tri_siblings":
                parts = kernels.list_tri_siblings(near, self.window)
                score, make = kernels.score_tri_siblings, Factors.tri_siblings
            else:
                parts = kernels.list_great_grandparents(near)
                score, make = kernels.score_great_grandparents, Factors.great_grandparents
            factors += make(
                parts, score(*self.weights(family), sentence.tags, sentence.labels, parts)
            )
        return factors

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

        size, tags, labels = np.float32(amount), sentence.tags, sentence.labels
        heads = np.ascontiguousarray(heads, dtype=np.int32)
        near = _best_heads(sentence.arcs, self.reach) & _tree_mask(heads)
        for family in self.families:
            place = (tables[family], self.bits, _codes())
            if family == "arcs":
                kernels.add_arcs(*place, tags, sentence.words, labels, heads, size)
            elif family == "grandparents":
                kernels.add_grandparents(*place, tags, labels, heads, size)
            elif family == "siblings":
                kernels.add_siblings(
                    *place, tags, sentence.words, labels, heads, self.window, size
                )
            elif family == "tri_siblings":
                parts = kernels.list_tri_siblings(near, self.window)
                kernels.add_tri_siblings(*place, tags, labels, parts, size)
            else:
                parts = kernels.list_great_grandparents(near)
                kernels.add_great_grandparents(*place, tags, labels, parts, size)

    def tree_score(self, sentence: SentenceScores, heads: NDArray[np.int32]) -> float:
        """Return what the factors of a tree are worth, in memory that is linear in n."""
        from .kernels.templates import GAIN

        counts = {family: np.zeros_like(self.weights(family)[0]) for family in self.families}
        self.add(counts, sentence, heads, 1.0)
        return GAIN * sum(
            float(np.dot(self.weights(family)[0].astype("d"), count))
            for family, count in counts.items()
        )

    def most(self, n: int) -> float:
        """Return an upper bound on what the factors of any tree of n tokens are worth."""
        from .kernels import templates as kernels

        parts: dict[Family, tuple[int, int]] = {
            "arcs": (kernels.ARC_ROWS + kernels.BETWEEN, n),
            "grandparents": (kernels.GRANDPARENT_ROWS, n),
            "siblings": (kernels.SIBLING_ROWS, n * self.window),
            "tri_siblings": (kernels.TRI_SIBLING_ROWS, n * self.window * (self.window - 1) // 2),
            "great_grandparents": (kernels.GREAT_GRANDPARENT_ROWS, n),
        }
        return kernels.GAIN * sum(
            parts[family][0] * parts[family][1] * max(0.0, float(self.weights(family)[0].max()))
            for family in self.families
        )

    @property
    def is_trained(self) -> bool:
        """Whether any weight differs from zero."""
        return any(bool(self.weights(family)[0].any()) for family in self.families)

    def weights(self, family: Family) -> tuple[NDArray[np.float32], np.uint64, Any]:
        """The weights of a family, and what finds a row in them."""
        weights: Any = self.model.get_param(family)
        return weights, self.bits, _codes()


_THREE_ARCS = ("tri_siblings", "great_grandparents")


def _best_heads(arcs: NDArray[Any], reach: int) -> NDArray[np.bool_]:
    """A mask (n + 1, n + 1) of each token's best heads by first-order scores."""
    size = len(arcs)
    best: NDArray[np.bool_] = np.zeros((size, size), dtype=bool)
    if size > 1:
        order = np.argsort(-arcs[:, 1:], axis=0, kind="stable")[:reach]
        best[order, np.arange(1, size)] = True
    return best & (arcs > -np.inf)


def _tree_mask(heads: NDArray[np.int32]) -> NDArray[np.bool_]:
    mask = np.zeros((len(heads) + 1, len(heads) + 1), dtype=bool)
    mask[heads, np.arange(1, len(heads) + 1)] = True
    return mask
