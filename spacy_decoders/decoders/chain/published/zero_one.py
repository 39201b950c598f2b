"""The best labelling other than a given one: the oracle of margin training."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....arrays import checked_indices, read_only
from ....errors import InfeasibleError, ProblemError
from ..alternatives import best_paths
from ..forward_dominance import ForwardDominance
from ..kernels import lattice
from ..kernels.layout import BLOCK
from ..problem import ChainModel, Sentences
from ..proof import SHARE, certified
from ..solutions import ChainSolution
from .column_generation import arrays_of, legal_emissions
from .kernels import column_generation as kernels

__all__ = ["zero_one_oracle"]


def zero_one_oracle(
    model: ChainModel,
    emissions: ArrayLike,
    gold: ArrayLike,
    *,
    method: Literal["dominance", "columns"] = "dominance",
) -> ChainSolution:
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
    method
        ``"dominance"``: the two best labellings by forward dominance with slack, the faster;
        ``"columns"``: by column generation, the method of the paper.

    Raises
    ------
    ProblemError
        If a shape is wrong, a score is NaN or ``+inf``, a label is out of range, or `method`
        is unknown.
    InfeasibleError
        If no labelling but `gold` is legal.

    Notes
    -----
    By `columns`: column generation finds the best labelling. If that is `gold`, the change of one
    label gives a lower bound on the second best, pairs of labels whose reduced cost is not too
    negative for that join the domains, and dynamic programming for two finds it there.

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
    if method not in ("dominance", "columns"):
        raise ProblemError(f"method: expected 'dominance' or 'columns', got {method!r}.")
    sentences = Sentences.of(model, emissions)
    n = len(sentences.emissions)
    avoided = checked_indices("gold", gold, (n,), low=0, high=model.size)
    if not n:
        raise InfeasibleError("no token: there is no labelling other than gold.")
    labels, iterations = _search(model, sentences, avoided, method)
    score, scale = sentences.scores_of(model, labels)[0].tolist()
    name = "ColumnGeneration" if method == "columns" else "ForwardDominance"
    bound = _bound_on_others(model, sentences, avoided)
    found = certified(name, labels, score, scale, bound, iterations)
    if method == "columns" and not found.certificate.is_optimal:
        # a labelling of equal score, up to rounding, can keep a better one from being priced in
        return zero_one_oracle(model, emissions, gold)
    return found


def _search(
    model: ChainModel, sentences: Sentences, avoided: NDArray[np.int32], method: str
) -> tuple[NDArray[np.int32], int]:
    """Return the best labelling that is not `avoided`, and the number of iterations."""
    searched, iterations = sentences, 1
    if method == "columns":
        legal = legal_emissions(model, sentences)
        slack = _smallest_loss(model, sentences, avoided)
        found = kernels.decode_other(arrays_of(model, legal), avoided, slack)
        solved, generations, labels, inside = found
        if solved and not np.array_equal(labels, avoided):
            return labels, int(generations)
        if inside[np.arange(len(avoided)), avoided].all():
            restricted = read_only(np.where(inside, legal.emissions, np.float32(-np.inf)))
            searched, iterations = Sentences(restricted, sentences.offsets), int(generations)
    for solution in best_paths(model, searched, 2):
        if not np.array_equal(solution.labels, avoided):
            return solution.labels, iterations
    if searched is not sentences:  # where all others tie with gold no column is priced in
        return _search(model, sentences, avoided, "dominance")
    raise InfeasibleError("no legal labelling other than gold.")


def _smallest_loss(model: ChainModel, sentences: Sentences, avoided: NDArray[np.int32]) -> float:
    """Return the loss of the best change of a single label, rounded up; infinite without one."""
    losses = np.full(1, np.inf)
    lattice.smallest_losses(
        model.padded.transitions,
        model.padded.transposed,
        sentences.emissions.reshape(-1),
        0,
        len(avoided),
        model.size,
        len(model.padded.end),
        avoided,
        losses,
        np.empty(BLOCK, dtype=np.float32),
    )
    return float(losses[0])


def _bound_on_others(model: ChainModel, sentences: Sentences, avoided: NDArray[np.int32]) -> float:
    """Return an upper bound on all labellings except `avoided`."""
    best = ForwardDominance().solve(model, sentences)
    if not np.array_equal(best.labels, avoided):
        return float(best.bounds[0])
    return float(
        lattice.bound_on_others(
            model.links,
            model.padded.transposed,
            sentences.emissions.reshape(-1),
            0,
            len(best.labels),
            model.size,
            best.labels,
            SHARE,
        )
    )
