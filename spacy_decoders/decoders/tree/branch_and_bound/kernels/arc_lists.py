"""The arcs that are left at a node, as compact lists.

A pass of dynamic programming over the lists costs what the arcs that are left cost, not n^4.
Arc 0 is a dummy that points at the root: the root thereby has one head, like any token.
"""

import numpy as np

from .....jit import internal
from .records import ArcLists


@internal(counted=True)
def list_arcs(mask, single_root, with_chains, with_pairs):
    """Lay out the arcs of a mask; the second value says whether every token has a head.

    Without chains or pairs these get no entries: there would be many. A single root has no
    pairs of modifiers.
    """
    size = mask.shape[0]
    count = 1
    for m in range(1, size):
        for h in range(size):
            count += mask[h, m]
    head = np.zeros(count, np.int32)
    modifier = np.zeros(count, np.int32)
    first = np.zeros(size + 1, np.int64)
    index = np.full((size, size), -1, np.int32)
    head[0] = -1
    first[1] = 1
    a = 1
    complete = True
    for m in range(1, size):
        for h in range(size):
            if mask[h, m]:
                head[a], modifier[a] = h, m
                index[h, m] = a
                a += 1
        first[m + 1] = a
        complete = complete and a > first[m]
    sides = np.zeros(2 * size + 1, np.int64)
    members = np.zeros(count, np.int32)
    places = np.zeros(count, np.int32)
    at = 0
    for h in range(size):
        at = _append(index, h, range(h - 1, 0, -1), members, places, at)
        sides[2 * h + 1] = at
        at = _append(index, h, range(h + 1, size), members, places, at)
        sides[2 * h + 2] = at
    chains = np.zeros(count + 1, np.int64)
    pairs = np.zeros(count + 1, np.int64)
    for a in range(1, count):
        h = head[a]
        paired = with_pairs and not (h == 0 and single_root)
        chains[a + 1] = chains[a] + (first[h + 1] - first[h] if with_chains else 0)
        pairs[a + 1] = pairs[a] + (places[a] if paired else 0)
    lists = ArcLists(head, modifier, first, chains, sides, members, pairs, index)
    return lists, complete


@internal()
def _append(index, h, modifiers, members, places, at):
    """Write the arcs from h on one side, and their places in that list; return the new end."""
    begin = at
    for m in modifiers:
        a = index[h, m]
        if a >= 0:
            members[at] = a
            places[a] = at - begin
            at += 1
    return at


@internal()
def side_of(lists, a):
    """Return where the list of the arcs on the same side of the same head begins."""
    h = lists.head[a]
    return lists.sides[2 * h + 1] if h < lists.modifier[a] else lists.sides[2 * h]


@internal()
def mark_tree(lists, heads, chosen):
    """Mark the arcs of a tree."""
    for a in range(1, lists.head.shape[0]):
        chosen[a] = heads[lists.modifier[a]] == lists.head[a]


@internal()
def is_free(lists, m):
    """Return whether more than one head is left to a token."""
    return lists.first[m + 1] - lists.first[m] > 1
