"""Emissions of a trained model: sums that are kept for each word, and other features."""

import numpy as np

from .....jit import jit
from .features import feature_row

__all__ = ["emit"]


@jit()
def emit(plan, shifts, table, sums, words, atoms, own, extra, bounds, bits, emissions):
    """Write the emissions of some sentences.

    Parameters
    ----------
    plan
        The templates that look at several words, or at more than a word.
    shifts
        **Shape (distances,)**, int64: how far away the word of each kept sum stands.
    table
        The :class:`~spacy_decoders.models.tagger.sparse.packing.Packed` weights.
    sums
        **Shape (words, distances, width)**, float32; word 0 stands outside every sentence.
    words, atoms, own, bounds, bits
        As for :func:`~.features.rows_of`.
    extra
        **Shape (n, features)**, int32: further rows of each token, negative for none.
    emissions
        **Shape (n, L)**, float32: written.
    """
    size, width = emissions.shape[1], sums.shape[2]
    total = np.empty(width, np.float32)
    for s in range(len(bounds) - 1):
        begin, stop = bounds[s], bounds[s + 1]
        for i in range(begin, stop):
            total[:] = 0
            for d in range(len(shifts)):
                j = i + shifts[d]
                w = words[j] if begin <= j < stop else 0
                for y in range(width):
                    total[y] += sums[w, d, y]
            for t in range(len(plan.seeds)):
                row = feature_row(plan, t, words, atoms, own, begin, stop, i, bits)
                if row >= 0:
                    for k in range(table.starts[row], table.starts[row + 1]):
                        total[table.labels[k]] += table.values[k]
            for t in range(extra.shape[1]):
                row = extra[i, t]
                if row >= 0:
                    for k in range(table.starts[row], table.starts[row + 1]):
                        total[table.labels[k]] += table.values[k]
            for y in range(size):
                emissions[i, y] = total[y]
