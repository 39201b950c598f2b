"""Forward-backward: log partitions, marginals and expected counts, for training CRFs.

Messages are kept as logarithms in float64, and one step of all sentences is one matrix
product of their exponentials. What underflows there is computed again with logarithms
alone, so the results stay exact for scores of any size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .problem import ChainModel, Sentences

__all__ = ["Expectations", "forward_backward", "log_partition", "marginals"]

Floats = NDArray[np.float64]

#: Sums of exponentials below this may have lost a term to underflow.
SMALL = 1e-280
#: Factors above this may have been multiplied by a term that was lost to underflow.
LARGE = 1e200
#: How many numbers a repair may hold in memory at once.
BLOCK = 1 << 20


class Expectations(NamedTuple):
    """What forward-backward finds out about a batch.

    The gradient of the sum of the log partitions with respect to the emissions is
    `marginals`, and with respect to the model's scores the three expected counts.

    Attributes
    ----------
    log_partitions
        **Shape (sentences,)**, float64: log of the sum over all labellings of exp(score).
    marginals
        **Shape (total, L)**, float32: the probability of each label at each token.
    transitions
        **Shape (L, L)**, float64: how often each label is expected to follow each, in all.
    start, end
        **Shape (L,)**, float64: how often each label is expected first and last, in all.
    """

    log_partitions: Floats
    marginals: NDArray[np.float32]
    transitions: Floats
    start: Floats
    end: Floats


def log_partition(model: ChainModel, emissions: ArrayLike) -> float:
    """Return the log of the sum over all labellings of exp(score).

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (n, L)**. No token at all has one labelling, worth 0.

    Returns
    -------
    The log partition; ``-inf`` if no labelling is legal.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN or ``+inf``.

    Examples
    --------
    >>> model = ChainModel([[0.0, 0.0], [0.0, 0.0]])
    >>> round(log_partition(model, [[0.0, 0.0], [0.0, 0.0]]), 6)  # four labellings
    1.386294
    """
    steps = _Steps(Sentences.of(model, emissions))
    return float(_log_partitions(model, steps, _forward(model, steps))[0])


def marginals(model: ChainModel, emissions: ArrayLike) -> NDArray[np.float32]:
    """Return the probability of each label at each token, given the whole sentence.

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (n, L)**.

    Returns
    -------
    **Shape (n, L)**, float32; every row sums to 1.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN or ``+inf``.
    InfeasibleError
        If no labelling is legal.

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

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (total, L)**: the sentences end to end, without padding.
    lengths
        **Shape (sentences,)**: tokens of each sentence; 0 is allowed.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN or ``+inf``.
    InfeasibleError
        If a sentence has no legal labelling; the message names the sentence.

    Notes
    -----
    The sum-product counterpart of equations 7 and 11 of Belanger et al. 2012. Sentences are
    taken in lockstep, longest first, so that a step is one matrix product.

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
    steps = _Steps(sentences)
    alpha = _forward(model, steps)
    partitions = _log_partitions(model, steps, alpha)
    if np.isneginf(partitions).any():
        sentence = int(np.argmin(partitions))
        reached = np.isfinite(alpha[steps.sentence == sentence]).any(axis=1)
        raise sentences.infeasible(sentence, int(reached.sum()))
    beta = _backward(model, steps)
    evidence = partitions[steps.sentence]
    nodes = np.exp(alpha + beta - evidence[:, None])
    ordered = np.empty(nodes.shape, dtype=np.float32)
    ordered[steps.row] = nodes
    return Expectations(
        partitions,
        ordered,
        _expected_transitions(model, steps, alpha, beta, evidence),
        nodes[steps.first].sum(axis=0),
        nodes[steps.last].sum(axis=0),
    )


class _Steps:
    """The tokens of a batch in the order of their positions, longest sentence first.

    The tokens at position `t` are the block ``bounds[t]:bounds[t + 1]``. Its sentences are
    the first ones of the block before it.
    """

    def __init__(self, sentences: Sentences) -> None:
        lengths = np.diff(sentences.offsets)
        order = np.argsort(-lengths, kind="stable")
        position = np.arange(int(lengths.max(initial=0)))
        widths = len(lengths) - np.searchsorted(np.sort(lengths), position, side="right")
        bounds = np.concatenate([[0], np.cumsum(widths)])
        rank = np.arange(bounds[-1]) - np.repeat(bounds[:-1], widths)
        self.count = len(lengths)
        self.bounds: list[int] = bounds.tolist()
        self.sentence = order[rank]
        self.row = sentences.offsets[self.sentence] + np.repeat(position, widths)
        self.emissions = sentences.emissions[self.row].astype(np.float64)
        # the token before each token but the first ones
        self.before = np.arange(bounds[-1]) - np.repeat(np.append(0, widths)[:-1], widths)
        self.first = slice(0, int(widths[0]) if len(widths) else 0)
        filled = np.flatnonzero(lengths[order])
        self.last = bounds[lengths[order[filled]] - 1] + filled


class _Transfer:
    """Products with exp(scores), in logarithms."""

    def __init__(self, scores: NDArray[np.float32]) -> None:
        columns = np.ascontiguousarray(scores.T, dtype=np.float64)
        self.shift = np.maximum(columns.max(axis=1), np.finfo(np.float32).min)
        self.matrix = np.exp(scores - self.shift)
        self._columns = columns

    def __call__(self, logs: Floats) -> Floats:
        """Return ``log(exp(logs) @ exp(scores))``, **shape (rows, L)**."""
        top = _finite_max(logs)
        sums = np.exp(logs - top) @ self.matrix
        with np.errstate(divide="ignore"):
            result: Floats = np.log(sums)
        result += top
        result += self.shift
        rows, labels = np.nonzero(sums < SMALL)
        for block in range(0, len(rows), step := max(1, BLOCK // len(self.shift))):
            where = rows[block : block + step], labels[block : block + step]
            result[where] = _log_sum(logs[where[0]] + self._columns[where[1]])
        return result


def _forward(model: ChainModel, steps: _Steps) -> Floats:
    """Return the log of the sum over all beginnings that end in each label at each token."""
    alpha: Floats = steps.emissions.copy()
    alpha[steps.first] += model.start_scores
    transfer = _Transfer(model.transitions)
    for begin, middle, stop in _blocks(steps.bounds):
        alpha[middle:stop] += transfer(alpha[begin : begin + stop - middle])
    return alpha


def _backward(model: ChainModel, steps: _Steps) -> Floats:
    """Return the log of the sum over all endings that follow each label at each token."""
    beta: Floats = np.empty_like(steps.emissions)
    beta[steps.last] = model.end_scores
    transfer = _Transfer(model.transitions.T)
    for begin, middle, stop in reversed(_blocks(steps.bounds)):
        after = steps.emissions[middle:stop] + beta[middle:stop]
        beta[begin : begin + stop - middle] = transfer(after)
    return beta


def _log_partitions(model: ChainModel, steps: _Steps, alpha: Floats) -> Floats:
    partitions = np.zeros(steps.count)
    partitions[steps.sentence[steps.last]] = _log_sum(alpha[steps.last] + model.end_scores)
    return partitions


def _expected_transitions(
    model: ChainModel, steps: _Steps, alpha: Floats, beta: Floats, evidence: Floats
) -> Floats:
    """Return the sum over all pairs of neighbours of their pairwise marginals."""
    later = np.arange(steps.first.stop, len(alpha))
    left = alpha[steps.before[later]]
    right = (steps.emissions + beta)[later] - evidence[later, None]
    transfer = _Transfer(model.transitions)
    top = _finite_max(left)
    with np.errstate(over="ignore"):
        factors = np.exp(right + top + transfer.shift)
    # a left factor that underflowed would have mattered only beside a huge right one
    unsafe = factors.max(axis=1, initial=0.0) > LARGE
    safe = ~unsafe
    counts: Floats = transfer.matrix * (np.exp(left[safe] - top[safe]).T @ factors[safe])
    for i in np.flatnonzero(unsafe):
        counts += np.exp(left[i][:, None] + model.transitions + right[i])
    return counts


def _blocks(bounds: list[int]) -> list[tuple[int, int, int]]:
    """Return where each block begins, where the next one does, and where that one ends."""
    return list(zip(bounds, bounds[1:], bounds[2:], strict=False))


def _finite_max(logs: Floats) -> Floats:
    """Return the maximum of each row as a column, 0 where all are ``-inf``."""
    top: Floats = logs.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    return top


def _log_sum(logs: Floats) -> Floats:
    """Return the log of the sum of the exponentials of each row."""
    top = _finite_max(logs)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0]
    return total
