"""Forward-backward: log partitions, marginals and expected counts, for training CRFs.

The forward pass keeps logarithms in float64; one step of all sentences is one matrix product of
their exponentials. The backward pass distributes the probability of each token's labels among the
labels of the previous token, so that they remain a distribution despite rounding. Terms that
underflow in a product are recomputed with logarithms alone. Where no score is so far from the
others that a product could underflow, as in training, compiled passes with scaled weights do the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .problem import ChainModel, Sentences

__all__ = ["Expectations", "forward_backward", "log_partition", "log_partitions", "marginals"]

Floats = NDArray[np.float64]
#: Indices of rows, and of a label in each.
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

#: Sums of exponentials below this may have lost a term to underflow.
SMALL = 1e-280
#: The most numbers that are recomputed at once.
BLOCK = 1 << 20


class Expectations(NamedTuple):
    """The results of forward-backward on a batch.

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
        **Shape (n, L)**. Without tokens there is one labelling, with a score of 0.

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
    return float(_log_partitions(model, steps, _Forward(model, steps))[0])


def log_partitions(model: ChainModel, emissions: ArrayLike, lengths: ArrayLike) -> Floats:
    """Return the log partition of each sentence of a batch, ``-inf`` where no labelling is legal.

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (total, L)**: the sentences end to end, without padding.
    lengths
        **Shape (sentences,)**: tokens of each sentence.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN or ``+inf``.

    Examples
    --------
    >>> model = ChainModel([[0.0, 0.0], [0.0, 0.0]])
    >>> log_partitions(model, [[0.0, 0.0], [-np.inf, -np.inf]], [1, 1]).round(6).tolist()
    [0.693147, -inf]
    """
    steps = _Steps(Sentences.of(model, emissions, lengths))
    return _log_partitions(model, steps, _Forward(model, steps))


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
        If a shape is wrong, or a score is NaN, ``+inf``, or larger than 1e30.
    InfeasibleError
        If no labelling is legal.

    Notes
    -----
    A probability is right to about ``2**-24 + n * m * 2**-50``, where `m` is 1 plus the sum of the
    absolute scores of the labellings that have a noticeable probability: 1e-7 for what models
    give, and for sums of 1e6 in sentences of 30 tokens. A mask that no such labelling contains
    causes no error. Beyond sums of 1e12, labellings with similar scores cannot be distinguished:
    each row is still a distribution over the best.

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
    scaled = _scaled(model, sentences)
    if scaled is not None:
        return scaled
    found = smoothed(model, sentences)
    nodes = found.nodes
    ordered = np.empty(nodes.shape, dtype=np.float32)
    ordered[found.rows] = nodes
    return Expectations(
        found.log_partitions,
        ordered,
        found.transitions,
        nodes[found.steps.first].sum(axis=0),
        nodes[found.steps.last].sum(axis=0),
    )


def _scaled(model: ChainModel, sentences: Sentences) -> Expectations | None:
    """Run the compiled passes, which need no logarithms unless scores lie very far apart.

    None if they do, or if a sentence has no legal labelling.
    """
    from .kernels.expectations import SMALLEST, Sums, expect

    transitions = model.transitions.astype(np.float64)
    shift = float(np.max(transitions, initial=-np.inf))
    shift = shift if np.isfinite(shift) else 0.0
    transfer = np.exp(transitions - shift)
    if ((transfer < SMALLEST) & np.isfinite(transitions)).any():
        return None
    size, count = model.size, len(sentences.offsets) - 1
    sums = Sums(
        np.zeros(count),
        np.empty((len(sentences.emissions), size), dtype=np.float32),
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros(size),
    )
    ends = model.start_scores, model.end_scores
    if not expect(transfer, shift, *ends, sentences.emissions, sentences.offsets, sums):
        return None
    return Expectations(
        sums.log_partitions, sums.marginals, transfer * sums.pairs, sums.start, sums.end
    )


class Smoothed(NamedTuple):
    """The results of forward-backward in the order of its steps."""

    log_partitions: Floats  # (sentences,)
    # (total, L), float64: the probability of each label, and the logarithm of the sum
    # over all beginnings up to it
    nodes: Floats
    forward: Floats
    transitions: Floats  # (L, L): how often each label is expected to follow each
    steps: _Steps  # the order

    @property
    def rows(self) -> NDArray[np.int64]:
        """**Shape (total,)**: where each token stands in the emissions."""
        rows: NDArray[np.int64] = self.steps.row
        return rows


def smoothed(model: ChainModel, sentences: Sentences) -> Smoothed:
    """Run forward-backward on checked sentences.

    Raises
    ------
    InfeasibleError
        If a sentence has no legal labelling; the message names the sentence.
    """
    steps = _Steps(sentences)
    forward = _Forward(model, steps)
    partitions = _log_partitions(model, steps, forward)
    if np.isneginf(partitions).any():
        sentence = int(np.argmin(partitions))
        reached = np.isfinite(forward.logs[steps.sentence == sentence]).any(axis=1)
        raise sentences.infeasible(sentence, int(reached.sum()))
    nodes, transitions = _backward(model, steps, forward)
    return Smoothed(partitions, nodes, forward.logs, transitions, steps)


class _Steps:
    """The tokens of a batch in the order of their positions, longest sentence first.

    The tokens at position `t` are the block ``bounds[t]:bounds[t + 1]``. Its sentences are
    the first ones of the block before it. `row` says where each token stands in `emissions`.
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
        self.emissions = sentences.emissions
        self.first = slice(0, int(widths[0]) if len(widths) else 0)
        filled = np.flatnonzero(lengths[order])
        self.last = bounds[lengths[order[filled]] - 1] + filled

    def links(self) -> list[tuple[slice, slice]]:
        """Return, for each position but the first, its tokens and the tokens before them."""
        return [
            (slice(begin, begin + stop - middle), slice(middle, stop))
            for begin, middle, stop in zip(
                self.bounds, self.bounds[1:], self.bounds[2:], strict=False
            )
        ]


class _Forward:
    """The sums over all beginnings that end in each label at each token.

    Attributes
    ----------
    transfer
        exp(transitions), each column divided by its maximum.
    logs
        **Shape (total, L)**: the logarithms of the sums.
    weights, sums
        **Shape (total, L)**: of the token before, the exponentials of its `logs`, divided by
        the largest, and those times `transfer`.
    """

    def __init__(self, model: ChainModel, steps: _Steps) -> None:
        self.columns = np.ascontiguousarray(model.transitions.T, dtype=np.float64)
        shift = np.maximum(self.columns.max(axis=1), np.finfo(np.float32).min)
        self.transfer = np.exp(model.transitions - shift)
        self.logs = steps.emissions[steps.row].astype(np.float64)
        self.weights = np.empty_like(self.logs)
        self.sums = np.ones_like(self.logs)
        self.logs[steps.first] += model.start_scores
        for before, after in steps.links():
            top = _finite_max(self.logs[before])
            weights = np.exp(self.logs[before] - top)
            sums = weights @ self.transfer
            with np.errstate(divide="ignore"):
                reached = np.log(sums) + top + shift
            for where in _chunks(sums < SMALL):
                reached[where] = _log_sum(self.joint(before, where))
            self.logs[after] += reached
            self.weights[after], self.sums[after] = weights, sums

    def joint(self, before: slice, where: Pairs) -> Floats:
        """Return the logarithms of the sums over all beginnings and one more label, for pairs
        of a row of `before` and that label: **shape (pairs, L)**."""
        rows, labels = where
        joint: Floats = self.logs[before][rows] + self.columns[labels]
        return joint


def _backward(model: ChainModel, steps: _Steps, forward: _Forward) -> tuple[Floats, Floats]:
    """Return the probabilities of all labels, and how often each is expected to follow each."""
    nodes = np.empty_like(forward.logs)
    nodes[steps.last] = _normalized(forward.logs[steps.last] + model.end_scores)
    counts = np.zeros_like(forward.transfer)
    ratios = np.zeros_like(nodes)
    for before, after in reversed(steps.links()):
        sums = forward.sums[after]
        np.divide(nodes[after], sums, out=ratios[after], where=sums >= SMALL)
        nodes[before] = forward.weights[after] * (ratios[after] @ forward.transfer.T)
        for where in _chunks((sums < SMALL) & (nodes[after] > 0.0)):
            shares = _normalized(forward.joint(before, where)) * nodes[after][where][:, None]
            np.add.at(nodes[before], where[0], shares)
            np.add.at(counts.T, where[1], shares)
    later = slice(steps.first.stop, None)
    counts += forward.transfer * (forward.weights[later].T @ ratios[later])
    return nodes, counts


def _log_partitions(model: ChainModel, steps: _Steps, forward: _Forward) -> Floats:
    partitions = np.zeros(steps.count)
    ends = forward.logs[steps.last] + model.end_scores
    partitions[steps.sentence[steps.last]] = _log_sum(ends)
    return partitions


def _chunks(chosen: NDArray[np.bool_]) -> Iterator[Pairs]:
    """Yield the indices of true entries, at most so many at once as fit the memory."""
    rows, labels = np.nonzero(chosen)
    step = max(1, BLOCK // chosen.shape[1])
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step], labels[begin : begin + step]


def _normalized(logs: Floats) -> Floats:
    """Return the exponentials of each row, divided by their sum."""
    weights = np.exp(logs - _finite_max(logs))
    normalized: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalized


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
