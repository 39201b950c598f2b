"""From words to rows of the weights, one for each token and template, and to emissions."""

import numpy as np

from .....jit import jit, uncounted

__all__ = ["MULTIPLIER", "NOTHING", "emit", "mixed", "rows_of", "sum_words"]

#: The row of a feature that a token has not.
NOTHING = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@uncounted(inline="always")
def mixed(state, value):
    """Return a 64-bit state into which a 64-bit value was mixed, the same on every machine."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> SHIFT)


@uncounted(inline="always")
def row_of(state, bits):
    """Return the row that a state falls to, among 2 to the power of `bits`."""
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

    **Shape**: words int64 (n,), the place of each token's word in `atoms`; atoms uint64 (words,
    A), what is known of each word, 0 for nothing; own uint64 (n, B), what is known of each token
    beyond its word; bounds int64 (sentences + 1,), a window ends where its sentence ends; rows
    int32 (n, templates), written.
    """
    for s in range(len(bounds) - 1):
        begin, stop = bounds[s], bounds[s + 1]
        for i in range(begin, stop):
            for t in range(len(plan.seeds)):
                rows[i, t] = feature_row(plan, t, words, atoms, own, begin, stop, i, bits)


@jit()
def emit(plan, shifts, table, sums, words, atoms, own, bounds, bits, emissions):
    """Write the emissions of some sentences.

    The plan has the templates that look at several words, or at more than a word; the table is
    the :class:`~spacy_decoders.models.tagger.sparse.weights.Packed` weights.

    **Shape**: shifts int64 (distances,), how far away the word of each kept sum stands; sums
    float32 (words, distances, width), word 0 stands outside every sentence; emissions float32 (n,
    L), written; the others as for :func:`rows_of`.
    """
    size, width, count = emissions.shape[1], sums.shape[2], len(plan.seeds)
    total = np.empty(width, np.float32)
    first, end = np.empty((2, count), np.int64)
    for s in range(len(bounds) - 1):
        begin, stop = bounds[s], bounds[s + 1]
        for i in range(begin, stop):
            # all rows before any weight: memory answers many questions at a time
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
    """Write what the features of words alone are worth, for each distance they are seen from.

    The plan has templates of one word each; table and bits are those of :func:`emit`.

    **Shape**: slots int64 (templates,), to which of the sums each template belongs; atoms uint64
    (words, A); sums float32 (words, distances, width), written for the words from `first` to
    before `last`.
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
