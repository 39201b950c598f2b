"""Tables for searches and proofs: bounds on the gain of a label by its next transition; a lattice.

The layout is that of :mod:`.layout`. For a label g, the next labels y are divided into those to
which the transition from g is usual, and the others (forbidden, or masked by a large negative
score):

- gains, over the usual y: ``max of (T[x, y] - T[g, y])``, independent of the emissions;
- exits, over the others: ``max of T[x, y]``.

Both are rounded up by eight units in the last place. A row is computed when a sentence first needs
it, and unused memory is never touched.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    fill16,
    fill64,
    largest,
    load16,
    load64,
    load_acquire,
    maximum,
    select_greater,
    store_release,
    subtract,
)
from .layout import BLOCK, FORBIDDEN, LANES, UP32

__all__ = [
    "Lattice",
    "TransitionTables",
    "advance_of",
    "lattice_for",
    "need_rows",
    "up32",
]


class TransitionTables(NamedTuple):
    """The scores of a model and the tables derived from them, flat, in rows of `stride`.

    transitions: (L + 1) rows. end: one row. gains: (L + 1) rows, of which row L has the end
    scores: the gains after the last token. exits: L rows, or none if all transitions are usual,
    that is, at least `cutoff`. ready: (L,), whether a row of the tables has been computed.
    """

    transitions: Any
    end: Any
    gains: Any
    exits: Any
    ready: Any
    cutoff: np.float32


@jit(inline="always")
def up32(value):
    """Round up to float32, by eight units in the last place."""
    return np.float32(value + UP32 * abs(value)) if value > -np.inf else FORBIDDEN


@uncounted()
def fill_rows(links, g, size, stride):
    """Compute row g of the gains and of the exits."""
    transitions, cutoff = links.transitions, fill16(links.cutoff)
    at = g * stride
    has_exits = len(links.exits) > 0
    for x in range(size):
        gain, leave = fill16(FORBIDDEN), fill16(FORBIDDEN)
        for vector in range(0, stride, LANES):
            ours = load16(transitions, x * stride + vector)
            theirs = load16(transitions, at + vector)
            none = fill16(FORBIDDEN)
            # beyond the last label a difference is NaN, which `maximum` ignores
            gain = maximum(select_greater(cutoff, theirs, none, subtract(ours, theirs)), gain)
            leave = maximum(select_greater(cutoff, theirs, ours, none), leave)
        links.gains[at + x] = up32(np.float64(largest(gain)))
        if has_exits:
            links.exits[at + x] = up32(np.float64(largest(leave)))
    store_release(links.ready, g)


@jit(inline="always")
def need_rows(links, g, size, stride):
    """Compute row g of the tables unless it is ready; return where it begins."""
    if not load_acquire(links.ready, g):
        fill_rows(links, g, size, stride)
    return g * stride


@jit(inline="always")
def advance_of(links, at, exit_row, detour, block):
    """Return A(x) for 64 labels."""
    more = load64(links.gains, at + block)
    if exit_row >= 0:
        more = maximum(add(load64(links.exits, exit_row + block), fill64(detour)), more)
    return more


class Lattice(NamedTuple):
    """The survivors: those of token i are ``marks[i + 1]:marks[i + 2]`` of names and values.

    The first of a token is the reference's label. A value is a message less that of the
    reference, rounded up. detours: (longest,), float32. scratch: (64,), float32.
    """

    marks: Any
    names: Any
    values: Any
    detours: Any
    scratch: Any


@jit()
def lattice_for(longest, size):
    """Allocate a lattice for sentences up to a length, in which all labels may survive.

    Memory that is not needed is never touched.
    """
    most = longest * size + 1
    return Lattice(
        np.zeros(longest + 2, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.float64),
        np.empty(longest, np.float32),
        np.empty(BLOCK, np.float32),
    )
