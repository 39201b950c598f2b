"""Head automata: each head's modifiers and grandparent, found apart from the tree.

A tree that may have crossing arcs is described three times: by its arcs, by the modifiers that
each head takes, and by the grandparent that each head hangs on. The first is the best
arborescence; the others are found head by head, as the best chain of modifiers on either side
under the best grandparent. Multipliers make the three agree: what they pay for an arc in the
arborescence they take from the automata of its two ends. The sum of all values bounds every tree.

Koo, Rush, Collins, Jaakkola and Sontag (2010), Dual Decomposition for Parsing with Non-Projective
Head Automata.
"""

import numpy as np

from .....jit import internal
from ...kernels.rows import raise_row
from .records import HeadAutomata

INF = np.inf


@internal(counted=True)
def gather_automata(lists, multipliers, wanted, paired):
    """Take the multipliers of earlier nodes."""
    count = lists.head.shape[0] if wanted else 0
    lower, upper = np.zeros(count), np.zeros(count)
    for a in range(1, count):
        lower[a] = multipliers.lower[lists.head[a], lists.modifier[a]]
        upper[a] = multipliers.upper[lists.head[a], lists.modifier[a]]
    entries = lists.chains[count] if wanted else 0
    return HeadAutomata(
        lower, upper, np.zeros((2, count)), np.empty(count), np.empty(entries), np.empty(entries),
        np.empty((2, count)), np.zeros(count, np.uint8), np.empty(lists.index.shape[0]),
        np.empty(lists.index.shape[0]), paired,
    )  # fmt: skip


@internal()
def keep_automata(lists, automata, multipliers):
    """Leave the multipliers to the nodes that come."""
    for a in range(1, automata.lower.shape[0]):
        multipliers.lower[lists.head[a], lists.modifier[a]] = automata.lower[a]
        multipliers.upper[lists.head[a], lists.modifier[a]] = automata.upper[a]


@internal()
def pay_tree(automata, arc, limit):
    """Write what the arborescence is paid for each arc: at first all that the arc is worth."""
    for a in range(1, automata.lower.shape[0]):
        if automata.lower[a] == -INF:
            automata.lower[a] = min(max(arc[a], -limit), limit)
        automata.tree[a] = automata.lower[a] + automata.upper[a]


@internal()
def _takes_any(lists, automata, h, single_root):
    """Return whether a head takes whatever gains: no pairs are scored, nor is it the one root."""
    return not automata.paired and not (h == 0 and single_root)


@internal()
def run_automata(lists, scores, automata, single_root, taken):
    """Mark the best modifiers and grandparent of each head; return the sum of their scores."""
    for a in range(taken.shape[0]):
        taken[a] = automata.above[a] = 0
    total, side = 0.0, automata.side
    for h in range(lists.index.shape[0]):
        first, end = lists.first[h], lists.first[h + 1]
        free = _takes_any(lists, automata, h, single_root)
        for b in range(first, end):
            side[0, b] = 0.0
            side[1, b] = -INF if h == 0 and single_root else 0.0
        for s in range(2):
            low, high = lists.sides[2 * h + s], lists.sides[2 * h + s + 1]
            _extend(lists, scores, automata, low, high, s, first, end - first, free)
        best, choice = -INF, first
        for b in range(first, end):
            value = side[0, b] + side[1, b] - automata.upper[b]
            if value > best:
                best, choice = value, b
        if best == -INF:
            return best
        automata.value[h] = best
        automata.above[choice] = 1
        total += best
        for s in range(2):
            low, high = lists.sides[2 * h + s], lists.sides[2 * h + s + 1]
            _take(lists, scores, automata, low, high, side[s, choice], choice - first, free, taken)
    return total


@internal(forceinline=True)
def _extend(lists, scores, automata, low, high, s, first, slots, free):
    """Write the best chain of modifiers on side `s` that ends with each, by slot of the head."""
    near, side = automata.near, automata.side
    for place in range(low, high):
        a = np.int64(lists.members[place])
        q, p = lists.chains[a], lists.pairs[a]
        start = 0.0 if free else scores.start[a]
        for t in range(slots):
            near[q + t] = start
        for j in range(lists.pairs[a + 1] - p):
            b = np.int64(lists.members[low + j])
            raise_row(near, q, near, lists.chains[b], scores.adjacent[p + j], slots)
        own = scores.arc[a] - automata.lower[a]
        for t in range(slots):
            near[q + t] += own + scores.chain[q + t]
            if free:
                side[s, first + t] += max(near[q + t], 0.0)
            else:
                side[s, first + t] = max(side[s, first + t], near[q + t])


@internal()
def _take(lists, scores, automata, low, high, whole, slot, free, taken):
    """Mark the best chain of modifiers on one side, worth `whole`, from the outermost on."""
    near = automata.near
    if free:
        for place in range(low, high):
            a = lists.members[place]
            taken[a] = near[lists.chains[a] + slot] > 0.0
        return
    outer = high - 1
    while outer >= low and near[lists.chains[lists.members[outer]] + slot] != whole:
        outer -= 1
    while outer >= low:
        a = lists.members[outer]
        taken[a] = 1
        p = lists.pairs[a]
        best, outer = scores.start[a], low - 1
        for j in range(lists.pairs[a + 1] - p):
            value = near[lists.chains[lists.members[low + j]] + slot] + scores.adjacent[p + j]
            if value > best:
                best, outer = value, low + j


@internal()
def bound_arcs(lists, scores, automata, single_root, total, bounds):
    """Turn bounds on arborescences through each arc, (n + 1, n + 1), into bounds on trees.

    With the arc both its automata are worth what is best with it. Follows
    :func:`run_automata`, which returned `total`.
    """
    side = automata.side
    for a in range(1, lists.head.shape[0]):
        bounds[lists.head[a], lists.modifier[a]] += total
    for h in range(lists.index.shape[0]):
        first, end = lists.first[h], lists.first[h + 1]
        whole = automata.value[h]
        if h > 0:
            for b in range(first, end):
                with_it = side[0, b] + side[1, b] - automata.upper[b]
                bounds[lists.head[b], h] -= whole - with_it
        free = _takes_any(lists, automata, h, single_root)
        for s in range(2):
            low, high = lists.sides[2 * h + s], lists.sides[2 * h + s + 1]
            _continue(lists, scores, automata, low, high, end - first)
            for place in range(low, high):
                a = np.int64(lists.members[place])
                loss = _lost_with(lists, automata, a, s, first, end, free, whole)
                bounds[h, lists.modifier[a]] -= loss


@internal(forceinline=True)
def _continue(lists, scores, automata, low, high, slots):
    """Write the best that follows each modifier on one side, by slot of the head."""
    far, row = automata.far, automata.row
    for place in range(low, high):
        q = lists.chains[lists.members[place]]
        for t in range(slots):
            far[q + t] = 0.0
    for place in range(high - 1, low - 1, -1):
        a = np.int64(lists.members[place])
        q, p = lists.chains[a], lists.pairs[a]
        own = scores.arc[a] - automata.lower[a]
        for t in range(slots):
            row[t] = far[q + t] + own + scores.chain[q + t]
        for j in range(lists.pairs[a + 1] - p):
            b = np.int64(lists.members[low + j])
            raise_row(far, lists.chains[b], row, 0, scores.adjacent[p + j], slots)


@internal()
def _lost_with(lists, automata, a, s, first, end, free, whole):
    """Return what a head loses by taking a modifier."""
    best, side, q = -INF, automata.side, lists.chains[a]
    for b in range(first, end):
        through = automata.near[q + b - first]
        if free:
            through = side[s, b] + min(through, 0.0)
        else:
            through += automata.far[q + b - first]
        best = max(best, through + side[1 - s, b] - automata.upper[b])
    return max(whole - best, 0.0)


@internal()
def point_automata(automata, in_tree, taken, momentum):
    """Write the subgradient plus a part of the last direction; return the squared norm."""
    norm, d = 0.0, automata.direction
    for a in range(1, automata.lower.shape[0]):
        d[0, a] = momentum * d[0, a] + (1.0 * in_tree[a] - taken[a])
        d[1, a] = momentum * d[1, a] + (1.0 * in_tree[a] - automata.above[a])
        norm += d[0, a] * d[0, a] + d[1, a] * d[1, a]
    return norm


@internal()
def step_automata(automata, step, limit):
    """Move the multipliers against the direction, within the limit that bounds their rounding."""
    d = automata.direction
    for a in range(1, automata.lower.shape[0]):
        automata.lower[a] = min(max(automata.lower[a] - step * d[0, a], -limit), limit)
        automata.upper[a] = min(max(automata.upper[a] - step * d[1, a], -limit), limit)


@internal()
def add_disagreements(automata, gaps):
    """Add to each arc by how much its three descriptions differed of late."""
    d = automata.direction
    for a in range(1, automata.lower.shape[0]):
        gaps[a] += abs(d[0, a]) + abs(d[1, a])
