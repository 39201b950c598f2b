"""The scores of labels from attributes, and the best labelling, in CRFsuite's own order of sums.

The sums are those of ``crf1d_tag.c`` and ``crf1d_context.c``, term by term, and of equal ones the
first label wins there too: so that labels are the same even where two labellings are worth the
same.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import add, fill16, load16, maximum, multiply, peek, store

__all__ = ["dense_emissions", "emissions", "search"]


@jit()
def emissions(numbers, values, tokens, offsets, feature_labels, feature_weights, size):
    """Add up what each label of each token gains: **shape (tokens, size)**, float64.

    `tokens` are the offsets of the tokens in `numbers`, `offsets` those of the attributes in
    `feature_labels`.
    """
    scores = np.zeros((len(tokens) - 1, size))
    for token in range(len(tokens) - 1):
        for place in range(tokens[token], tokens[token + 1]):
            value = values[place]
            for feature in range(offsets[numbers[place]], offsets[numbers[place] + 1]):
                scores[token, feature_labels[feature]] += feature_weights[feature] * value
    return scores


@uncounted()
def _add_attributes(numbers, values, begin, stop, weights, scores, token):
    """Add the weights of a token's attributes to its scores, in their order."""
    size = weights.shape[1]
    for y in range(0, size, 16):
        total = load16(scores, token * size + y)
        for place in range(begin, stop):
            gains = load16(weights, peek(numbers, place) * size + y)
            total = add(total, multiply(gains, fill16(peek(values, place))))
        store(scores, token * size + y, total)


@jit()
def dense_emissions(numbers, values, tokens, weights):
    """Do as :func:`emissions` from a table of all weights, **shape (attributes, size)**.

    It adds the zeros of the labels without a feature too, which changes no sum, and is faster
    by vectors.
    """
    size = weights.shape[1]
    scores = np.zeros((len(tokens) - 1, size))
    for token in range(len(tokens) - 1):
        _add_attributes(numbers, values, tokens[token], tokens[token + 1], weights, scores, token)
    return scores


@uncounted()
def _step(transitions, sums, tops, i, emissions, token):
    """Extend the best beginnings in row `i` - 1 by one token, into row `i`.

    `tops` gets what the best label before is worth, `sums` that with the token's own scores.
    """
    count, size = transitions.shape
    before = (i - 1) * size
    for y in range(0, size, 16):
        top = fill16(-np.inf)
        for x in range(count):
            joined = add(load16(transitions, x * size + y), fill16(peek(sums, before + x)))
            top = maximum(joined, top)
        store(tops, i * size + y, top)
        store(sums, i * size + y, add(top, load16(emissions, token * size + y)))


@uncounted()
def _predecessor(transitions, sums, tops, i, y):
    """Return the first of the best labels before a label: the one that CRFsuite keeps."""
    top = tops[i, y]
    for x in range(len(transitions)):
        if sums[i - 1, x] + transitions[x, y] == top:
            return x
    return 0  # all are forbidden


@jit()
def search(transitions, start, end, emissions, offsets):
    """Return the best labels, **shape (tokens,)**, int32.

    Parameters
    ----------
    transitions, start, end
        **Shape (L, size)**, **(size,)**, **(size,)**, float64: `size` is the next multiple of
        16, and what is more is ``-inf``.
    emissions
        **Shape (tokens, size)**, float64.
    offsets
        **Shape (sequences + 1,)**, int64.
    """
    size = len(start)
    labels = np.zeros(len(emissions), dtype=np.int32)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    sums, tops = np.empty((longest, size)), np.empty((longest, size))
    for s in range(len(offsets) - 1):
        begin, stop = offsets[s], offsets[s + 1]
        if begin == stop:
            continue
        for y in range(size):
            sums[0, y] = start[y] + emissions[begin, y]
        for i in range(begin + 1, stop):
            _step(transitions, sums, tops, i - begin, emissions, i)
        best, last = 0, stop - begin - 1
        for y in range(1, size):
            if sums[last, y] + end[y] > sums[last, best] + end[best]:
                best = y
        labels[stop - 1] = best
        for i in range(stop - 1, begin, -1):
            best = _predecessor(transitions, sums, tops, i - begin, best)
            labels[i - 1] = best
    return labels
