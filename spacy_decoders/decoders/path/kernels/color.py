"""Colour-coding: one random colouring, and the best path that repeats no colour."""

import numpy as np

from ....jit import jit

__all__ = ["colorful_path", "go_on_colorings"]


@jit()
def _random(state):
    """One step of splitmix64; `state[0]` is the generator."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@jit()
def _color_classes(seed, iteration, color_count, colors):
    """Deal the colours evenly to the classes, in an order drawn from seed and iteration."""
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed)
    state[0] = _random(state) ^ (np.uint64(iteration) * np.uint64(0xD6E8FEB86659FD93))
    for c in range(colors.size):
        colors[c] = c % color_count
    for c in range(colors.size - 1, 0, -1):
        # the bias of the remainder is below 2^-50 for any number of classes that fits
        other = np.int64(_random(state) % np.uint64(c + 1))
        colors[c], colors[other] = colors[other], colors[c]


@jit()
def _best_steps(values, vertices, count, edges, out):
    """out[v] = the best of values[i] + edges[vertices[i], v], four rows at once."""
    n = out.size
    quads = count - count % 4
    for v in range(n):
        out[v] = -np.inf
    for i in range(0, quads, 4):
        value0 = values[i]
        value1 = values[i + 1]
        value2 = values[i + 2]
        value3 = values[i + 3]
        row0 = edges[vertices[i]]
        row1 = edges[vertices[i + 1]]
        row2 = edges[vertices[i + 2]]
        row3 = edges[vertices[i + 3]]
        for v in range(n):
            a = row0[v] + value0
            b = row1[v] + value1
            c = row2[v] + value2
            d = row3[v] + value3
            a = a if a > b else b
            c = c if c > d else d
            a = a if a > c else c
            out[v] = a if a > out[v] else out[v]
    for i in range(quads, count):
        value0 = values[i]
        row0 = edges[vertices[i]]
        for v in range(n):
            a = row0[v] + value0
            out[v] = a if a > out[v] else out[v]


@jit()
def _by_color(classes, colors, color_count, first, members):
    """List the vertices colour by colour: those of c from first[c] to first[c + 1]."""
    for v in range(classes.size):
        first[colors[classes[v]] + 1] += 1
    for c in range(color_count):
        first[c + 1] += first[c]
    place = first[:-1].copy()
    for v in range(classes.size):
        c = colors[classes[v]]
        members[place[c]] = v
        place[c] += 1


@jit()
def _trace(edges, classes, colors, table, best_set, best_vertex, path):
    """Write the path that ends with this vertex and has met these colours."""
    path[path.size - 1] = best_vertex
    spectrum = best_set
    for i in range(path.size - 2, -1, -1):
        v = path[i + 1]
        value = table[spectrum, v]
        spectrum ^= 1 << colors[classes[v]]
        for j in range(classes.size):
            c = colors[classes[j]]
            if spectrum >> c & 1 and edges[j, v] + table[spectrum, j] == value:
                path[i] = j
                break


@jit()
def go_on_coloring(
    start, edges, end, classes, rest, prune, color_count, seed, iteration, set_limit, colors,
    table, path, best, state,
):  # fmt: skip
    """Go through up to `set_limit` more sets of colours; return whether those were all.

    `table[S, v]` is the best path to v that has met exactly the colours S, v's among them.
    Every entry has one predecessor set, S without v's colour, so that each is written once
    and the table needs no clearing. With `prune`, states that cannot exceed the best known,
    `rest[l, v]` being the most that l more vertices can add, are not extended. `state` holds
    the next set, 0 at first, and the colours and the end of the best path; `best[0]` is its
    worth, or what it must exceed. It is written to `path` after the last set.
    """
    n = start.size
    length = path.size
    if state[0] == 0:
        _color_classes(seed, iteration, color_count, colors)
        for v in range(n):
            table[1 << colors[classes[v]], v] = start[v]
        state[0] = 1
        state[2] = -1
    first = np.zeros(color_count + 1, np.int64)
    members = np.empty(n, np.int64)
    _by_color(classes, colors, color_count, first, members)
    values = np.empty(n)
    vertices = np.empty(n, np.int64)
    out = np.empty(n)
    last = min(state[0] + set_limit, 1 << color_count)
    for spectrum in range(state[0], last):
        size = 0
        bits = spectrum
        while bits:
            bits &= bits - 1
            size += 1
        if size > length:
            continue
        reached = table[spectrum]
        beyond = rest[length - size]
        floor = best[0] if prune else -np.inf
        count = 0
        for c in range(color_count):
            if spectrum >> c & 1:
                for i in range(first[c], first[c + 1]):
                    u = members[i]
                    if reached[u] + beyond[u] > floor:
                        values[count] = reached[u]
                        vertices[count] = u
                        count += 1
        if size == length:
            for i in range(count):
                value = values[i] + end[vertices[i]]
                if value > best[0]:
                    best[0] = value
                    state[1] = spectrum
                    state[2] = vertices[i]
            continue
        _best_steps(values, vertices, count, edges, out)
        for c in range(color_count):
            if not spectrum >> c & 1:
                target = table[spectrum | 1 << c]
                for i in range(first[c], first[c + 1]):
                    target[members[i]] = out[members[i]]
    state[0] = last
    if last < 1 << color_count:
        return False
    if state[2] >= 0:
        _trace(edges, classes, colors, table, state[1], state[2], path)
    return True


@jit()
def go_on_colorings(
    start, edges, end, classes, rest, prune, color_count, seed, number, last, set_limit, colors,
    table, path, best, state,
):  # fmt: skip
    """Colour from `number` to `last`, as long as no better path is found; return how far.

    It stops between two colourings, or within one, after up to `set_limit` sets of colours.
    """
    while number < last and set_limit > 0:
        before = state[0]
        if not go_on_coloring(
            start, edges, end, classes, rest, prune, color_count, seed, number, set_limit,
            colors, table, path, best, state,
        ):  # fmt: skip
            return number
        set_limit -= state[0] - before
        number += 1
        state[0] = 0
        if state[2] >= 0:
            break
    return number


@jit()
def colorful_path(
    start, edges, end, classes, rest, prune, threshold, color_count, seed, iteration, colors,
    table, path,
):  # fmt: skip
    """Return the worth of the best colourful path above `threshold`, and write it to `path`."""
    best = np.full(1, threshold)
    state = np.zeros(3, np.int64)
    go_on_coloring(
        start, edges, end, classes, rest, prune, color_count, seed, iteration, 1 << color_count,
        colors, table, path, best, state,
    )  # fmt: skip
    return best[0] if state[2] >= 0 else -np.inf
