"""The best labelling other than a given one: the oracle of margin training."""

import numpy as np
from numpy.typing import ArrayLike

from ....arrays import checked_indices
from ....errors import InfeasibleError
from ..alternatives import best_paths
from ..kernels import lattice
from ..kernels.layout import UP64
from ..problem import ChainModel, Sentences
from ..proof import certified
from ..solutions import ChainSolution

__all__ = ["zero_one_oracle"]


def zero_one_oracle(model: ChainModel, emissions: ArrayLike, gold: ArrayLike) -> ChainSolution:
    """Return the best labelling that is not `gold`, with a certificate.

    This is the margin-violation query of a structured support vector machine with 0/1 loss: the
    margin is violated if this labelling scores more than `gold` less 1.

    Parameters
    ----------
    emissions
        **Shape (n, L)**.
    gold
        **Shape (n,)**: the labelling to beat, each label in ``[0, L)``; it need not be legal.

    Raises
    ------
    ProblemError
        If a shape is wrong, a score is NaN or ``+inf``, or a label is out of range.
    InfeasibleError
        If no labelling but `gold` is legal.

    Notes
    -----
    The two best labellings are found within restricted domains: changing one label gives a lower
    bound on the second best, and labels of no labelling above it are pruned: in the paper by
    reduced costs, here, as in :func:`.k_best`, by forward dominance.

    References
    ----------
    Belanger et al. 2012, section 5 (margin violation queries).

    Examples
    --------
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> other = zero_one_oracle(model, [[3, 0], [0, 1.5]], [0, 0])
    >>> other.labels, other.certificate.score
    (array([0, 1], dtype=int32), 4.5)
    >>> other = zero_one_oracle(model, [[3, 0], [0, 1.5]], [0, 1])
    >>> other.labels, other.certificate.score
    (array([0, 0], dtype=int32), 4.0)
    """
    sentences = Sentences.of(model, emissions)
    n = len(sentences.emissions)
    avoided = checked_indices("gold", gold, (n,), low=0, high=model.size)
    ranked = best_paths(model, sentences, 2) if n else []
    others = [one for one in ranked if not np.array_equal(one.labels, avoided)]
    if not others:
        raise InfeasibleError("no legal labelling other than gold.")
    best = others[0]
    if best is ranked[0] or not ranked[0].certificate.is_optimal:
        return best  # its bound is that on all labellings
    score, scale = sentences.scores_of(model, best.labels)[0].tolist()
    bound = _bound_on_others(model, sentences, ranked[0], score)
    return certified("ForwardDominance", best.labels, score, scale, bound)


def _bound_on_others(
    model: ChainModel, sentence: Sentences, best: ChainSolution, score: float
) -> float:
    """Return an upper bound on all labellings but the best, one of which has the given score.

    Any other labelling has another label at some token, and loses at least the margin there, which
    is computed by messages between all labels, independently of the search.
    """
    n = len(sentence.emissions)
    given = model.links, model.padded.transposed, sentence.emissions.reshape(-1)
    margins = lattice.margins(*given, sentence.offsets, model.size, best.labels)
    # the largest sum of absolute scores of a labelling that scores at least as much
    most = 2.0 * float(sentence.most_gained(model)[0]) - score
    top = float(sentence.scores_of(model, best.labels)[0, 0])
    return top - float(margins.min()) + UP64 * (n + 2) * (most + abs(top))
