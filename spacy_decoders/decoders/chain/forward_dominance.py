"""Forward dominance: exact decoding in one pass, at little more than the cost of argmax."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Integers32, checked_type
from ...budget import UNLIMITED, Budget
from .decoder import ChainDecoder, lacks_time
from .kernels import search
from .kernels.layout import LANES
from .problem import ChainModel, Sentences
from .proof import certify, decode_densely, decode_exactly, proof_of, proven
from .solutions import ChainSolution, ChainSolutions

__all__ = ["ForwardDominance"]


NAME = "ForwardDominance"


@dataclass(frozen=True)
class ForwardDominance(ChainDecoder):
    """Exact decoding that keeps, at each token, only the labels that may be on the best path.

    ``D[g, x] = max over y of (T[x, y] - T[g, y])`` is the most that label `x` can gain on label
    `g` by the next transition. A label `x` is pruned if ``a[x] + D[g, x] < a[g]`` for the prefix
    scores `a`: whatever follows, the path through `g` scores more. With trained scores, one or two
    labels survive on average.

    Notes
    -----
    The labels `g` are those of a greedy labelling, the reference. The best labelling
    through the survivors is the best of all. :mod:`.kernels.dual` has the pruning, which also
    handles forbidden and masked transitions, :mod:`.kernels.search` the search. An independent
    proof follows: the same pruning from the right, with tables of its own and the labels found as
    the reference, bounds the best labelling in float64. Labels that do not attain that bound are
    decoded again in float64 over all labels.

    Up to 16 labels are all kept, in float64, as that is faster than pruning. If so many labels
    survive that pruning is not faster, the sentence is decoded by the dense :class:`Viterbi`.

    A row of D is computed when a sentence first needs it, which takes as long as about two dense
    tokens, and is cached in the model. Memory: for each pair of labels 4 bytes for the transitions
    and 4 for D, of which only the rows in use are touched, and 4 more with forbidden transitions.
    The proof needs as much again.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import ChainModel
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> solution = ForwardDominance().decode(model, [[3, 0], [0, 1.5], [0, 0]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 1], dtype=int32), 5.5, 'optimal')
    """

    def decode(
        self, model: ChainModel, emissions: ArrayLike, *, budget: Budget = UNLIMITED
    ) -> ChainSolution:
        sentence = Sentences.of(model, emissions)
        if lacks_time(model, sentence, checked_type("budget", budget, Budget)):
            return self._solve_within(model, sentence, budget)[0]
        labels = self._search(model, sentence)
        proof = proof_of(model, sentence, labels)
        # faster than a batch of one
        return proven(NAME, labels, proof) or certify(NAME, model, sentence, labels, proof)[0]

    def _solve(
        self, model: ChainModel, sentences: Sentences, budget: Budget
    ) -> Sequence[ChainSolution]:
        return self.solve(model, sentences)

    def solve(self, model: ChainModel, sentences: Sentences) -> ChainSolutions:
        """Solve a validated batch."""
        return certify(NAME, model, sentences, self._search(model, sentences))

    def _search(self, model: ChainModel, sentences: Sentences) -> Integers32:
        """Return the labels that the kernel finds best."""
        if model.size <= LANES:
            labels = np.zeros(len(sentences.emissions), dtype=np.int32)
            decode_exactly(model, sentences, np.arange(len(sentences)), labels)
            return labels
        emissions = sentences.emissions.reshape(-1)
        labels, left = search.decode(model.links, emissions, sentences.offsets, model.size)
        if len(left):
            decode_densely(model, sentences, left, labels)
        return labels
