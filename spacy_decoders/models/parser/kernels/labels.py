"""Compiled loops over the label scores of all arcs."""

from __future__ import annotations

import numpy as np

from ....jit import jit


@jit()
def best_of_labels(scores):
    """Reduce (modifiers, labels, heads) to the best label, and leave score - best in place.

    Rows of heads are contiguous and each is one pass of compare and select, which vectorises.
    """
    modifiers, labels, heads = scores.shape
    best = np.zeros((modifiers, heads), np.int32)
    top = np.empty(heads, np.float32)
    for i in range(modifiers):
        row = best[i]
        for j in range(heads):
            top[j] = scores[i, 0, j]
        for label in range(1, labels):
            given = scores[i, label]
            for j in range(heads):
                better = given[j] > top[j]
                top[j] = given[j] if better else top[j]
                row[j] = label if better else row[j]
        for label in range(labels):
            given = scores[i, label]
            for j in range(heads):
                given[j] -= top[j]
    return best


@jit()
def add_distances(scores, distances, buckets):
    """Add the score of each label at each distance, in place.

    **Shape**: scores (modifiers, labels, heads), distances (BUCKETS, labels), buckets
    (modifiers, heads).
    """
    modifiers, labels, heads = scores.shape
    for i in range(modifiers):
        classes = buckets[i]
        for label in range(labels):
            row = scores[i, label]
            for j in range(heads):
                row[j] += distances[classes[j], label]


@jit()
def sum_labels(values):
    """Sum (modifiers, labels, heads) over the labels."""
    modifiers, labels, heads = values.shape
    sums = np.zeros((modifiers, heads), np.float32)
    for i in range(modifiers):
        row = sums[i]
        for label in range(labels):
            given = values[i, label]
            for j in range(heads):
                row[j] += given[j]
    return sums


@jit()
def spread_labels(scores, highest, found):
    """Write the scores of labels, shifted so that each arc's best one has the score given.

    **Shape**: scores (modifiers, labels, heads), highest (heads, modifiers), found (heads,
    modifiers, labels).
    """
    modifiers, labels, heads = scores.shape
    shift = np.empty(heads)
    for i in range(modifiers):
        for j in range(heads):
            shift[j] = scores[i, 0, j]
        for label in range(1, labels):
            for j in range(heads):
                shift[j] = max(shift[j], np.float64(scores[i, label, j]))
        for j in range(heads):
            shift[j] = highest[j, i] - shift[j]
        for j in range(heads):
            row = found[j, i]
            for label in range(labels):
                row[label] = scores[i, label, j] + shift[j]
