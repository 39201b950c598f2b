"""Forward-backward: log partitions, marginals and expected counts, for training CRFs.

:mod:`.kernels.sums` has the recurrences.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Floats32
from .kernels import sums as kernels
from .problem import ChainModel, Sentences
from .proof import decode_exactly

__all__ = ["Expectations", "forward_backward", "log_partition", "log_partitions", "marginals"]


class Expectations(NamedTuple):
    """The results of forward-backward on a batch.

    The gradient of the sum of the log partitions with respect to the emissions is
    `marginals`, and with respect to the model's scores the three expected counts.
    """

    log_partitions: Floats  # (sentences,): log of the sum over all labellings of exp(score)
    marginals: Floats32  # (total, L): the probability of each label at each token
    transitions: Floats  # (L, L): the expected count of each transition, over all sentences
    start: Floats  # (L,): the expected count of each label as the first, over all sentences
    end: Floats  # (L,): and as the last


def log_partition(model: ChainModel, emissions: ArrayLike) -> float:
    """Return the log partition of one sentence, as :func:`log_partitions`; 0 without tokens.

    Examples
    --------
    >>> model = ChainModel([[0.0, 0.0], [0.0, 0.0]])
    >>> round(log_partition(model, [[0.0, 0.0], [0.0, 0.0]]), 6)  # four labellings
    1.386294
    """
    return float(log_partitions(model, emissions)[0])


def log_partitions(
    model: ChainModel, emissions: ArrayLike, lengths: ArrayLike | None = None
) -> Floats:
    """Return for each sentence the log of the sum over all labellings of exp(score).

    It is ``-inf`` if no labelling is legal. The arguments are those of
    :func:`~.posterior.posteriors`.

    Examples
    --------
    >>> model = ChainModel([[0.0, 0.0], [0.0, 0.0]])
    >>> log_partitions(model, [[0.0, 0.0], [-np.inf, -np.inf]], [1, 1]).round(6).tolist()
    [0.693147, -inf]
    """
    return summed(model, Sentences.of(model, emissions, lengths), marginals=False).log_partitions


def marginals(model: ChainModel, emissions: ArrayLike) -> Floats32:
    """Return the probability of each label at each token of one sentence: **shape (n, L)**.

    It is float32, and every row sums to 1. Errors are those of :func:`~.posterior.posteriors`.

    Notes
    -----
    A probability is accurate to about ``2**-24 + n * m * 2**-50``, where `m` is 1 plus the sum of
    the absolute scores of the labellings that have a noticeable probability: to 1e-7 for the
    scores of models, and for sums of 1e6 in sentences of 30 tokens. A mask that no such labelling
    contains causes no error. Beyond sums of 1e12, labellings with similar scores cannot be
    distinguished: each row is still a distribution over the best.

    Examples
    --------
    >>> model = ChainModel([[0.0, 0.0], [0.0, 0.0]])
    >>> marginals(model, np.log([[1.0, 3.0]])).round(2).tolist()
    [[0.25, 0.75]]
    """
    lengths = Sentences.of(model, emissions).offsets[1:]
    return forward_backward(model, emissions, lengths).marginals


def forward_backward(model: ChainModel, emissions: ArrayLike, lengths: ArrayLike) -> Expectations:
    """Return log partitions, marginals and expected counts of a batch of sentences.

    Arguments and errors are those of :func:`~.posterior.posteriors`. It is the sum-product
    counterpart of equations 7 and 11 of Belanger et al. 2012.

    Examples
    --------
    >>> model = ChainModel(np.zeros((2, 2)))
    >>> found = forward_backward(model, np.zeros((3, 2)), [2, 1])
    >>> found.log_partitions.round(4).tolist(), found.start.tolist()
    ([1.3863, 0.6931], [1.0, 1.0])
    >>> found.transitions.tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """
    sentences = Sentences.of(model, emissions, lengths)
    pairs = np.zeros((model.size, model.size))
    found = summed(model, sentences, pairs=pairs)
    first, last = sentences.borders()
    return Expectations(
        found.log_partitions,
        found.marginals.astype(np.float32),
        np.ascontiguousarray(pairs.T),
        found.marginals[first].sum(axis=0),
        found.marginals[last].sum(axis=0),
    )


class Sums(NamedTuple):
    """Log partitions **(sentences,)**, marginals and forward sums **(total, L)**, or empty."""

    log_partitions: Floats
    marginals: Floats
    forward: Floats


def summed(
    model: ChainModel,
    sentences: Sentences,
    *,
    pairs: Floats | None = None,
    forward: bool = False,
    marginals: bool = True,
) -> Sums:
    """Run forward-backward on validated sentences.

    `pairs`, (L, L), is filled with the expected counts of transitions, transposed. With
    `marginals`, raises `InfeasibleError` if a sentence has no legal labelling.
    """
    transitions = model.transitions.astype(np.float64)
    shift = np.maximum(transitions.max(axis=0), np.finfo(np.float32).min)
    total, size = sentences.emissions.shape
    found = Sums(
        np.zeros(len(sentences)),
        np.empty((total if marginals else 0, size)),
        np.empty((total if forward else 0, size)),
    )
    kernels.sum_all(
        kernels.Scores(
            transitions,
            np.exp(transitions - shift),
            shift,
            model.start,
            model.end,
            sentences.emissions,
            sentences.offsets,
        ),
        found.log_partitions,
        found.forward,
        found.marginals,
        np.zeros((0, 0)) if pairs is None else pairs,
    )
    dead = np.flatnonzero(np.isneginf(found.log_partitions))
    if marginals and len(dead):
        # raises the error that names the token
        decode_exactly(model, sentences, dead[:1], np.zeros(total, dtype=np.int32))
    return found
