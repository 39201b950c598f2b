"""Column generation: exact decoding over restricted label domains."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ....arrays import Floats32, is_number, read_only
from ....budget import UNLIMITED, Budget
from ....errors import ProblemError
from ..decoder import ChainDecoder
from ..kernels.layout import BLOCK, aligned
from ..problem import ChainModel, Sentences
from ..proof import certify, decode_densely
from ..solutions import ChainSolution
from .kernels import column_generation as kernels

__all__ = ["ColumnGeneration"]

NAME, NO_LIMIT = "ColumnGeneration", -1
MODES = {"both": kernels.BOTH, "left": kernels.LEFT, "split": kernels.SPLIT}


@dataclass(frozen=True)
class ColumnGeneration(ChainDecoder):
    """Exact decoding by column generation in the linear program of the chain.

    The domain of every token starts with the label of the best emission. Max-product over these
    restricted domains gives a labelling and dual variables; labels of pairs with a positive
    reduced cost join the domains; when there are none, the duals prove that the labelling is
    optimal.

    Parameters
    ----------
    gap
        Stop as soon as the labelling is proven to be within this gap of the best score; at 0.0,
        when it is proven optimal.
    reduced_cost
        ``"both"``: messages from both ends (equation 12), the fastest; ``"left"``: from the
        left alone (equation 8); ``"split"``: from the left, with half of each emission charged
        to either side (equation 9).

    Raises
    ------
    ProblemError
        If `gap` is negative or not a number, or `reduced_cost` is unknown.

    Notes
    -----
    A forbidden transition has no finite dual, so labels of no legal labelling are removed first,
    and each label joins with the neighbours that it needs in the adjacent domains.

    If the domains of a sentence grow beyond a fifth of all labels, restricting them saves no time,
    and the sentence is decoded densely.

    References
    ----------
    David Belanger, Alexandre Passos, Sebastian Riedel, Andrew McCallum. MAP Inference in
    Chains using Column Generation. NIPS 2012: sections 3.1 and 4, figure 1.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = ColumnGeneration().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    pace: ClassVar[float] = 5.0
    gap: float = 0.0
    reduced_cost: Literal["both", "left", "split"] = "both"

    def __post_init__(self) -> None:
        if not is_number(self.gap) or not 0.0 <= self.gap < np.inf:
            raise ProblemError(f"gap: expected a finite number of at least 0, got {self.gap!r}.")
        if self.reduced_cost not in [*MODES]:
            raise ProblemError(
                f"reduced_cost: expected one of {', '.join(map(repr, MODES))}, "
                f"got {self.reduced_cost!r}."
            )

    def decode_tree(
        self,
        model: ChainModel,
        emissions: ArrayLike,
        parents: ArrayLike,
        *,
        budget: Budget = UNLIMITED,
    ) -> ChainSolution:
        """Find the best labels of the nodes of a tree, or of several, with reduced costs (8).

        Arguments and errors are those of :meth:`.Viterbi.decode_tree`.

        Examples
        --------
        >>> model = ChainModel([[1, 0], [0, 1]])
        >>> emissions = [[0, 0], [2, 0], [0, 0.5]]
        >>> solution = ColumnGeneration().decode_tree(model, emissions, [-1, 0, 0])
        >>> solution.labels, solution.certificate.score
        (array([0, 0, 0], dtype=int32), 4.0)
        """
        from .label_trees import LabelTree

        return LabelTree.of(model, emissions, parents, budget).column_generation(self.gap)

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        legal = legal_emissions(model, sentences)
        padded = model.padded
        arrays = kernels.ChainArrays(
            padded.transitions,
            padded.transposed,
            *largest_transitions(model),
            legal.emissions.reshape(-1),
            model.size,
            len(padded.end),
            MODES[self.reduced_cost],
            has_forbidden(model),
        )
        limit = budget.iterations or NO_LIMIT
        labels, count, left = kernels.decode(arrays, legal.offsets, float(self.gap), limit)
        if len(left):
            decode_densely(model, legal, left, labels)
        early = self.gap > 0 or budget.iterations is not None
        return certify(NAME, model, sentences, labels, repair=not early, iterations=count)


@lru_cache(maxsize=1)  # sentences of one model follow one another
def has_forbidden(model: ChainModel) -> bool:
    """Whether any transition is ``-inf``."""
    return bool(np.isneginf(model.transitions.min()))


@lru_cache(maxsize=1)
def largest_transitions(model: ChainModel) -> tuple[Floats32, Floats32]:
    """Return the largest transition into and out of each label: both **shape (width,)**.

    The width is the number of labels rounded up to a multiple of 64, with ``-inf`` beyond them:
    the bounds U of the reduced-cost oracle of Belanger et al. 2012, section 4.3.
    """
    found = []
    for axis in (0, 1):
        wide: Floats32 = aligned(-(-model.size // BLOCK) * BLOCK)
        wide[:] = -np.inf
        wide[: model.size] = model.transitions.max(axis=axis)
        found.append(read_only(wide))
    return found[0], found[1]


def legal_emissions(model: ChainModel, sentences: Sentences) -> Sentences:
    """Forbid the labels of no legal labelling, if there are forbidden transitions.

    Raises `InfeasibleError` if a sentence has no legal labelling.
    """
    if not has_forbidden(model):
        return sentences
    padded = model.padded
    legal, sentence, token = kernels.legal_emissions(
        padded.transitions,
        padded.transposed,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        len(padded.end),
    )
    if sentence >= 0:
        raise sentences.infeasible(sentence, token)
    return Sentences(read_only(legal.reshape(-1, model.size)), sentences.offsets)
