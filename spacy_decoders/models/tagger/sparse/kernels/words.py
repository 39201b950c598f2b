"""The words that were met: where each is kept, and what its own features are worth."""

import numpy as np

from .....jit import jit, uncounted
from .hashing import MULTIPLIER, mixed, row_of

__all__ = ["find", "insert", "sum_words"]


@uncounted(inline="always")
def cell_of(keys, key):
    """Return the cell that has a key, or the empty one where it belongs."""
    mask = len(keys) - 1
    cell = np.int64((key * MULTIPLIER) >> np.uint64(32)) & mask
    while keys[cell] != 0 and keys[cell] != key:
        cell = (cell + 1) & mask
    return cell


@jit()
def find(keys, places, wanted, found):
    """Write the places of words, -1 for those never met; return how many those are.

    Parameters
    ----------
    keys, places
        **Shape (cells,)**, uint64 and int64: a hash table by open addressing, with 0 for an
        empty cell; the number of cells is a power of two.
    wanted
        **Shape (n,)**, uint64.
    found
        **Shape (n,)**, int64: written.
    """
    missing = 0
    for i in range(len(wanted)):
        cell = cell_of(keys, wanted[i])
        if keys[cell] == 0:
            found[i] = -1
            missing += 1
        else:
            found[i] = places[cell]
    return missing


@jit()
def insert(keys, places, added, first):
    """Give words that are not in the table the places from `first` on."""
    for i in range(len(added)):
        cell = cell_of(keys, added[i])
        keys[cell], places[cell] = added[i], first + i


@jit()
def sum_words(plan, slots, table, atoms, bits, first, last, sums):
    """Write what the features of words alone are worth, for each distance they are seen from.

    Parameters
    ----------
    plan
        A plan of templates of one word each.
    slots
        **Shape (templates,)**, int64: to which of the sums each template belongs.
    table
        The :class:`~spacy_decoders.models.tagger.sparse.packing.Packed` weights.
    atoms
        **Shape (words, A)**, uint64.
    bits
        The number of rows is 2 to the power of this.
    first, last
        The words.
    sums
        **Shape (words, distances, width)**, float32: written for these words.
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
