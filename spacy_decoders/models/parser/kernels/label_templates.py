"""Compiled loops over the discrete templates of labels.

A template is a row of columns: which attributes of the modifier and of the head it joins. Each
attribute enters as its code times an odd number of its place; the sum is mixed into a row of a
table that has a weight for each label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....jit import internal, jit

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(31)

#: Odds of less, as logarithms, change no sum of at least 1 in single precision.
_NEGLIGIBLE = np.float32(-17.0)


class TemplateArrays(NamedTuple):
    """The templates of a sentence of n tokens."""

    table: NDArray[np.float32]  # (rows, labels)
    codes: NDArray[np.uint64]  # (n, attributes)
    templates: NDArray[np.int64]  # (templates, columns)
    scale: np.float32  # what the weights are multiplied by


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


@internal()
def _sum_templates(given, head, modifier, rows, total):
    """Sum the rows of one arc's templates to (labels,)."""
    table, codes, templates, _ = given
    side = _side(head, modifier)
    # all rows first: the processor fetches them while others are found
    for t in range(len(templates)):
        rows[t] = _row(codes, templates, t, head, modifier, side, len(table))
    total[:] = 0.0
    for t in range(len(templates)):
        row = rows[t]
        for label in range(len(total)):
            total[label] += table[row, label]


@jit()
def add_scores(given, likely, first, scores):
    """Add the templates' scores of likely arcs to (modifiers, labels, heads), in place.

    `likely` is (modifiers, heads); the modifiers are those from `first` on.
    """
    total = np.empty(given.table.shape[1], np.float32)
    rows = np.empty(len(given.templates), np.int64)
    for i in range(len(scores)):
        modifier = first + i
        for head in range(likely.shape[1]):
            if likely[modifier, head]:
                _sum_templates(given, head, modifier, rows, total)
                for label in range(len(total)):
                    scores[i, label, head] += given.scale * total[label]


@internal(fastmath=frozenset({"reassoc", "contract"}))
def _add_products(by_label, key, scale, total):
    """Scale the scores of labels, and add the products of their rows with a head's key."""
    inner = len(key)
    for label in range(len(total)):
        product = np.float32(0.0)
        for j in range(inner):
            product += by_label[label * inner + j] * key[j]
        total[label] = scale * total[label] + product


@jit()
def label_likely(by_label, keys, distances, given, likely, begin, arcs, into):
    """Write the best labels of likely arcs, their log-probabilities, and the scores of all arcs.

    Unlikely arcs have no label, -1, and the score that they would have if one were certain.

    **Shape**: by_label (modifiers, labels * inner), the modifiers being those from the first of
    `begin` on; keys (n, inner) by head; distances (labels, 2 * far + 1); given, a
    :class:`TemplateArrays`; likely (n, n) and arcs (n, n + 1) by modifier and head, the root at 0
    in the latter; into, scores, labels' log-probabilities and labels, (n + 1, n + 1) each by head
    and modifier, and the log-probabilities of all labels of likely arcs, (arcs, labels), from the
    second of `begin` on.

    Returns the number of likely arcs up to here.
    """
    scores, logs, labels, of_likely = into
    first, done = begin
    count = given.table.shape[1]
    total, rows = np.empty(count, np.float32), np.empty(len(given.templates), np.int64)
    middle = distances.shape[1] // 2
    scores[:, 0] = -np.inf
    labels[0] = count
    labels[:, 0] = count
    for i in range(len(by_label)):
        modifier = first + i
        scores[0, modifier + 1] = arcs[modifier, 0]
        for head in range(len(keys)):
            score = arcs[modifier, head + 1]
            if not likely[modifier, head]:
                scores[head + 1, modifier + 1] = score
                labels[head + 1, modifier + 1] = -1
                continue
            _sum_templates(given, head, modifier, rows, total)
            _add_products(by_label[i], keys[head], given.scale, total)
            best, top = 0, np.float32(-np.inf)
            for label in range(count):
                total[label] += distances[label, middle + head - modifier]
                if total[label] > top:
                    best, top = label, total[label]
            odds = np.float32(0.0)
            for label in range(count):
                if total[label] - top > _NEGLIGIBLE:
                    odds += np.exp(total[label] - top)
            log = -np.log(odds)
            for label in range(count):
                of_likely[done, label] = (total[label] - top) + log
            done += 1
            scores[head + 1, modifier + 1] = score + log
            logs[head + 1, modifier + 1] = log
            labels[head + 1, modifier + 1] = best
    return done


@jit()
def likely_classes(of_likely, likely, class_of, found, best):
    """Write the best label of each class of likely arcs, and its log-probability.

    For unlikely arcs, the label is -1 and the log-probability is 0, which it is at most.

    **Shape**: of_likely (arcs, labels), as :func:`label_likely` writes them; likely (n, n) by
    modifier and head; class_of (labels or more,); found and best (heads, modifiers, classes),
    ``-inf`` before.
    """
    done = 0
    for modifier in range(len(likely)):
        for head in range(len(likely)):
            scores, which = found[head, modifier], best[head, modifier]
            for label in range(of_likely.shape[1]):
                one = class_of[label]
                if not likely[modifier, head]:
                    scores[one], which[one] = 0.0, -1
                elif of_likely[done, label] > scores[one]:
                    scores[one], which[one] = of_likely[done, label], label
            done += likely[modifier, head]
