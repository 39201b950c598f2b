"""Colour-coding: random colourings, and the best path that repeats no colour."""

import numpy as np

from .....jit import jit
from .class_sets import BEST_VERTEX, NEXT_SET, go_through_sets

__all__ = ["go_on_colorings"]


@jit()
def _random(state):
    """One step of splitmix64; `state[0]` is the generator."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def _color(seed, iteration, color_count, classes, of_class, of_vertex):
    """Distribute the colours evenly over the classes, in a random order."""
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    state[0] = _random(state) ^ (np.uint64(iteration) * np.uint64(0xD6E8FEB86659FD93))
    for c in range(of_class.size):
        of_class[c] = c % color_count
    for c in range(of_class.size - 1, 0, -1):
        # the bias of the remainder is below 2^-50 for any number of classes that fits
        other = np.int64(_random(state) % np.uint64(c + 1))
        of_class[c], of_class[other] = of_class[other], of_class[c]
    for v in range(of_vertex.size):
        of_vertex[v] = of_class[classes[v]]


@jit()
def go_on_colorings(
    graph, rest, prune, color_count, seed, number, last, set_limit, of_class, of_vertex, table
):
    """Colour from `number` to `last`, until a better path is found; return the number reached.

    It stops between two colourings, or within one, after up to `set_limit` sets of colours.
    `of_class` and `of_vertex` are scratch space for the colours.
    """
    state = table.state
    while number < last and set_limit > 0:
        before = state[NEXT_SET]
        if before == 0:
            _color(seed, number, color_count, graph.classes, of_class, of_vertex)
        if not go_through_sets(graph, of_vertex, color_count, rest, prune, set_limit, table):
            return number
        set_limit -= state[NEXT_SET] - before
        number += 1
        state[NEXT_SET] = 0
        if state[BEST_VERTEX] >= 0:
            break
    return number
