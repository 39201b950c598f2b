"""Compiled loops over the discrete templates of labels.

A template is a row of columns: which attributes of the modifier and of the head it joins. Each
attribute enters as its code times an odd number of its place; the sum is mixed into a row of a
table that has a weight for each label.
"""

from __future__ import annotations

import numpy as np

from ....jit import jit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(31)


@jit(inline="always")
def _row(codes, templates, t, head, modifier, side, rows):
    """Return the row of template t for one arc."""
    x = (np.uint64(2 * t + 1) + side) * _MIX
    half = templates.shape[1] // 2
    for place in range(2 * half):
        column = templates[t, place]
        if column >= 0:
            token = modifier if place < half else head
            x = (x ^ codes[token, column]) * _MIX
            x ^= x >> _SHIFT
    x *= _FINAL
    return np.int64((x >> np.uint64(32)) % np.uint64(rows))


@jit(inline="always")
def _side(head, modifier):
    """Return whether the head follows, and whether it is next to the modifier."""
    distance = head - modifier
    near = np.uint64(distance == 1 or distance == -1)
    return np.uint64(1024) * (np.uint64(distance > 0) + np.uint64(2) * near)


@jit()
def rows_of_arcs(codes, templates, arcs, rows):
    """Return the rows of each (head, modifier) of `arcs`, shape (arcs, templates)."""
    found = np.empty((len(arcs), len(templates)), np.int32)
    for i in range(len(arcs)):
        head, modifier = arcs[i, 0], arcs[i, 1]
        side = _side(head, modifier)
        for t in range(len(templates)):
            found[i, t] = _row(codes, templates, t, head, modifier, side, rows)
    return found


@jit()
def sum_rows(table, rows, keep):
    """Sum the rows of each arc times `keep`, (arcs, templates), to (arcs, labels)."""
    scores = np.zeros((len(rows), table.shape[1]), np.float32)
    for i in range(len(rows)):
        into = scores[i]
        for t in range(rows.shape[1]):
            weights, factor = table[rows[i, t]], keep[i, t]
            for label in range(len(into)):
                into[label] += factor * weights[label]
    return scores


@jit()
def add_to_rows(table, rows, keep, gradients):
    """Add the gradients of each arc's scores, (arcs, labels), to its rows of a table."""
    for i in range(len(rows)):
        given = gradients[i]
        for t in range(rows.shape[1]):
            into, factor = table[rows[i, t]], keep[i, t]
            for label in range(len(given)):
                into[label] += factor * given[label]


@jit()
def add_scores(table, codes, templates, likely, first, scale, scores):
    """Add the templates' scores of likely arcs to (modifiers, labels, heads), in place.

    `likely` is (modifiers, heads); the modifiers are those from `first` on.
    """
    count, labels = table.shape
    total, rows = np.empty(labels, np.float32), np.empty(len(templates), np.int64)
    for i in range(len(scores)):
        modifier = first + i
        for head in range(likely.shape[1]):
            if not likely[modifier, head]:
                continue
            side = _side(head, modifier)
            # all rows first: the processor fetches them while others are found
            for t in range(len(templates)):
                rows[t] = _row(codes, templates, t, head, modifier, side, count)
            total[:] = 0.0
            for t in range(len(templates)):
                row = rows[t]
                for label in range(labels):
                    total[label] += table[row, label]
            for label in range(labels):
                scores[i, label, head] += scale * total[label]
