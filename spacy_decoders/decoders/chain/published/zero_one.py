"""The best labelling other than a given one: the oracle of margin training."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....arrays import checked_indices
from ....errors import InfeasibleError
from ..alternatives import best_paths
from ..kernels.dense import pass_on
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
    model
        The scores that all sentences share.
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
    The two best labellings are found within restricted domains: the change of one label gives a
    lower bound on the second best, and labels that no labelling above it has are left out. The
    paper leaves them out by reduced costs, :func:`.k_best` by forward dominance.

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
    if best is ranked[0]:
        return best
    score, scale = sentences.scores_of(model, best.labels)[0].tolist()
    bound = _bound_on_others(model, sentences.emissions, avoided)
    return certified("ForwardDominance", best.labels, score, scale, bound)


def _bound_on_others(
    model: ChainModel, emissions: NDArray[np.float32], avoided: NDArray[np.int32]
) -> float:
    """Return an upper bound on all labellings except `avoided`.

    By messages over prefixes equal to that of `avoided`, and over all others, rounded up.
    """
    size, stride = model.size, len(model.padded.end)
    same, others, reached = 0.0, np.full(stride, -np.inf), np.empty(stride)
    links = model.start_scores
    for row, y in zip(emissions, avoided.tolist(), strict=True):
        pass_on(model.padded.transitions, others, size, stride, reached)
        leave = _up(same + links.astype(np.float64))
        leave[y], same = -np.inf, float(_up(_up(same + float(links[y])) + float(row[y])))
        others[:size] = _up(np.maximum(leave, _up(reached[:size])) + row)
        links = model.transitions[y]
    return float(_up(others[:size] + model.end_scores).max())


def _up(sums: ArrayLike) -> NDArray[np.float64]:
    """Round sums up by more than the error of the last addition."""
    sums = np.asarray(sums)
    with np.errstate(invalid="ignore"):  # -inf, which stays
        return np.where(np.isneginf(sums), sums, sums + UP64 * np.abs(sums))
