"""Rows of the weights, for each token and template, and emissions from them."""

import numpy as np

from .....jit import jit, uncounted

__all__ = ["MULTIPLIER", "NOTHING", "emit", "mixed", "rows_of", "sum_words"]

#: Stands for the row of a feature that a token does not have.
NOTHING = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@uncounted(inline="always")
def mixed(state, value):
    """Return a 64-bit state after mixing in a 64-bit value, the same on every machine."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> SHIFT)


@uncounted(inline="always")
def row_of(state, bits):
    """Return the row of a state, among 2 to the power of `bits`."""
    return np.int64((state * MULTIPLIER) >> np.uint64(64 - bits))


@uncounted(inline="always")
def feature_row(plan, t, words, atoms, own, begin, stop, i, bits):
    """Return the row of template t at token i, or `NOTHING`."""
    state = plan.seeds[t]
    for k in range(plan.offsets[t], plan.offsets[t + 1]):
        j = i + plan.shifts[k]
        atom = plan.atoms[k]
        if j < begin or j >= stop:
            value = np.uint64(1)  # outside the sentence
        elif atom < atoms.shape[1]:
            value = atoms[words[j], atom]
        else:
            value = own[j, atom - atoms.shape[1]]
        if value == 0:
            return np.int64(NOTHING)
        state = mixed(state, value)
    return row_of(state, bits)


@jit()
def rows_of(plan, words, atoms, own, bounds, bits, rows):
    """Write the row of each template at each token, among 2 to the power of `bits`.

    The plan is a :class:`~spacy_decoders.models.tagger.sparse.templates.Plan`.

    **Shape**: words int64 (n,), the row of each token's word in `atoms`; atoms uint64 (words, A),
    the attributes of each word, 0 for none; own uint64 (n, B), those of each token in its
    document; bounds int64 (sentences + 1,), where sentences, and with them windows, begin and end;
    rows int32 (n, templates), written.
    """
    for s in range(len(bounds) - 1):
        begin, stop = bounds[s], bounds[s + 1]
        for i in range(begin, stop):
            for t in range(len(plan.seeds)):
                rows[i, t] = feature_row(plan, t, words, atoms, own, begin, stop, i, bits)


@jit()
def emit(plan, shifts, table, sums, words, atoms, own, bounds, bits, emissions):
    """Write the emissions of some sentences.

    The plan has the templates of several words, or of attributes of tokens in their documents; the
    table is the :class:`~spacy_decoders.models.tagger.sparse.weights.Packed` weights.

    **Shape**: shifts int64 (distances,), the distance of the word of each precomputed sum; sums
    float32 (words, distances, width), where word 0 stands for positions outside the sentence;
    emissions float32 (n, L), written; the others as for :func:`rows_of`.
    """
    size, width, count = emissions.shape[1], sums.shape[2], len(plan.seeds)
    total = np.empty(width, np.float32)
    first, end = np.empty((2, count), np.int64)
    for s in range(len(bounds) - 1):
        begin, stop = bounds[s], bounds[s + 1]
        for i in range(begin, stop):
            # all rows before any weight, so that memory accesses overlap
            for t in range(count):
                first[t] = feature_row(plan, t, words, atoms, own, begin, stop, i, bits)
            for t in range(count):
                row = first[t]
                if row >= 0:
                    first[t], end[t] = table.starts[row], table.starts[row + 1]
                else:
                    end[t] = row
            total[:] = 0
            for d in range(len(shifts)):
                j = i + shifts[d]
                w = words[j] if begin <= j < stop else 0
                for y in range(width):
                    total[y] += sums[w, d, y]
            for t in range(count):
                for k in range(first[t], end[t]):
                    total[table.labels[k]] += table.values[k]
            for y in range(size):
                emissions[i, y] = total[y]


@jit()
def sum_words(plan, slots, table, atoms, bits, first, last, sums):
    """Write the summed weights of the features of single words, for each distance.

    The plan has templates of one word each; table and bits are those of :func:`emit`.

    **Shape**: slots int64 (templates,), the distance, by number, of each template; atoms uint64
    (words, A); sums float32 (words, distances, width), written for the words `first` to
    `last` - 1.
    """
    for w in range(first, last):
        sums[w] = 0
        for t in range(len(plan.seeds)):
            value = atoms[w, plan.atoms[t]]
            if value == 0:
                continue
            row = row_of(mixed(plan.seeds[t], value), bits)
            for k in range(table.starts[row], table.starts[row + 1]):
                sums[w, slots[t], table.labels[k]] += table.values[k]
