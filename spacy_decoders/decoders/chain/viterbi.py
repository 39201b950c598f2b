"""Dense Viterbi decoding over all pairs of labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...budget import UNLIMITED, Budget
from .decoder import ChainDecoder
from .problem import ChainModel, Sentences
from .proof import certify, decode_densely
from .solutions import ChainSolution

__all__ = ["Viterbi"]


@dataclass(frozen=True)
class Viterbi(ChainDecoder):
    """Exact decoding by dynamic programming over all pairs of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = Viterbi().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        labels = np.zeros(len(sentences.emissions), dtype=np.int32)
        decode_densely(model, sentences, np.arange(len(sentences)), labels)
        return certify("Viterbi", model, sentences, labels)

    def decode_tree(
        self,
        model: ChainModel,
        emissions: ArrayLike,
        parents: ArrayLike,
        *,
        budget: Budget = UNLIMITED,
    ) -> ChainSolution:
        """Find the best labels of the nodes of a tree, or of several.

        Parameters
        ----------
        model
            `transitions[x, y]` is the score of a child with label `y` of a parent with label `x`;
            `start` applies to every root, `end` to every leaf.
        emissions
            **Shape (n, L)**: the score of each label at each node.
        parents
            **Shape (n,)**: the parent of each node, in any order; -1 for a root. With
            ``[-1, 0, 1, ...]`` the tree is a chain.
        budget
            When to stop, as in :meth:`decode`; raises `UndecidedError` if no legal labelling is
            known by then.

        Raises
        ------
        ProblemError
            If a shape is wrong, a score is NaN or ``+inf``, or the parents do not form a forest.
        InfeasibleError
            If no labelling is legal.

        Examples
        --------
        >>> model = ChainModel([[1, 0], [0, 1]])
        >>> emissions = [[0, 0], [2, 0], [0, 0.5]]
        >>> solution = Viterbi().decode_tree(model, emissions, [-1, 0, 0])
        >>> solution.labels, solution.certificate.score
        (array([0, 0, 0], dtype=int32), 4.0)
        """
        from . import LabelTree

        return LabelTree.of(model, emissions, parents, budget).viterbi()
