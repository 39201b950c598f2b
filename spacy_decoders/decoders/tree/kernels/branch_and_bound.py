"""Compiled loops of branch and bound: everything that happens at one node.

The surviving arcs of a node are laid out as compact lists (:class:`Survivors`), so that a
pass of dynamic programming costs what the survivors cost and not n^4. Arc 0 is a dummy that
points at the root: the root thereby has one "head" like any other word.

Scores are float64 with a true ``-inf``: it only ever meets additions and comparisons.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....jit import FAST, jit
from . import chu_liu_edmonds, eisner
from .rows import highest_row_sum, raise_row

INF = np.inf

#: Times that a node may look for a better tree around the best one.
POLISHES = 6

#: Backbones, as the kernels know them.
SPANNING, FIRST, SECOND = 0, 1, 2


class Survivors(NamedTuple):
    """The arcs that are left, sorted by modifier, then head; arc 0 points at the root.

    `first[m]`: first arc of modifier m; its heads are the slots 0, 1, ... of m.
    `chains[a]`: first entry of arc a = (h, m) in arrays over (arc, slot of h).
    `sides[2 h + s]`: first entry in `members` of the modifiers of h on its left (s = 0) or
    right (s = 1), nearest first; `rank[a]` is the place of an arc in its list.
    `pairs[a]`: first entry of arc a in arrays over (inner sibling, arc a).
    `crosses[h]`: first entry of h in arrays over (left modifier, right modifier).
    `index[h, m]`: number of an arc, -1 if it is gone.
    """

    head: Any
    modifier: Any
    first: Any
    chains: Any
    sides: Any
    members: Any
    rank: Any
    pairs: Any
    crosses: Any
    index: Any


class Chart(NamedTuple):
    """Best scores of spans: `right[a, e]` and `left[a, e]` are complete, from the modifier of
    a to e; `left_by_end` is the transpose; `incomplete` over (arc, slot), `between` over pairs."""

    right: Any
    left: Any
    left_by_end: Any
    incomplete: Any
    between: Any


class Scores(NamedTuple):
    """Dense scores of the problem, float64, and factors as "low to high arcs of a set"."""

    arcs: Any
    grandparents: Any
    siblings: Any
    factor_arcs: Any
    factor_offsets: Any
    factor_scores: Any
    factor_low: Any
    factor_high: Any
    forbidden: float


class Multipliers(NamedTuple):
    """What all nodes share; -1 where a multiplier has never been set.

    `slack[h, m]` guesses how much worse the best tree with an arc is: it says where a gain that
    two arcs share does least harm, as long as nothing better is known.
    """

    siblings: Any
    grandparents: Any
    factors: Any
    slack: Any


class Terms(NamedTuple):
    """Factors left at a node: `score` is paid for at least `need` of the arcs."""

    offsets: Any
    arcs: Any
    score: Any
    need: Any
    home: Any
    constant: float


class Relaxation(NamedTuple):
    """Scores and multipliers over the survivors.

    `pair` and `cross` hold scores of sibling pairs, `pair_x`, `cross_x`, `chain_x`, `term_x`
    multipliers, `*_d` directions of descent. `arc`, `start` (an arc that is its head's first on
    its side), `chain` and `part` (adjacent siblings) are what the backbone is run on. Where
    grandparents are relaxed, `chain_best` and `chain_paid` are what they add to each arc.
    """

    arc_base: Any
    chain_base: Any
    pair: Any
    pair_x: Any
    pair_d: Any
    cross: Any
    cross_x: Any
    cross_d: Any
    chain_x: Any
    chain_best: Any
    chain_paid: Any
    term_x: Any
    arc: Any
    start: Any
    chain: Any
    part: Any


# --- surviving arcs --------------------------------------------------------------------------


@jit()
def survivors(mask, single_root, with_chains, with_pairs):
    """Lay out the arcs of a mask; the second value says whether every word has a head.

    Chains and pairs that nothing scores get no entries: they would be many.
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
        if first[m + 1] == first[m]:
            complete = False
    sides = np.zeros(2 * size + 1, np.int64)
    members = np.zeros(count, np.int32)
    rank = np.zeros(count, np.int32)
    crosses = np.zeros(size + 1, np.int64)
    at = 0
    for h in range(size):
        start = at
        for m in range(h - 1, 0, -1):
            if index[h, m] >= 0:
                members[at] = index[h, m]
                rank[index[h, m]] = at - start
                at += 1
        lefts = at - start
        sides[2 * h + 1] = at
        start = at
        for m in range(h + 1, size):
            if index[h, m] >= 0:
                members[at] = index[h, m]
                rank[index[h, m]] = at - start
                at += 1
        sides[2 * h + 2] = at
        crosses[h + 1] = crosses[h] + (lefts * (at - start) if with_pairs else 0)
    chains = np.zeros(count + 1, np.int64)
    pairs = np.zeros(count + 1, np.int64)
    chains[1] = 0
    for a in range(1, count):
        h = head[a]
        scored = with_pairs and not (h == 0 and single_root)
        chains[a + 1] = chains[a] + (first[h + 1] - first[h] if with_chains else 0)
        pairs[a + 1] = pairs[a] + (rank[a] if scored else 0)
    lists = Survivors(head, modifier, first, chains, sides, members, rank, pairs, crosses, index)
    return lists, complete


# --- second-order dynamic programming ----------------------------------------------------------


@jit()
def empty_chart(lists, count, size):
    return Chart(
        np.empty((count, size + 1)),
        np.empty((count, size + 1)),
        np.empty((size + 1, count)),
        np.empty(lists.chains[count]),
        np.empty(lists.pairs[count]),
    )


@jit(fastmath=FAST)
def inside(lists, arc, start, chain, part, chart):
    """Best scores of all spans; returns the best score of a tree.

    Koo and Collins's model 1 with adjacent siblings: every span knows the head of its head.
    Heads are taken from right to left, so that each inner loop runs along rows.
    """
    first, chains, sides, members, pairs = (
        lists.first, lists.chains, lists.sides, lists.members, lists.pairs,
    )  # fmt: skip
    right, left, by_end = chart.right, chart.left, chart.left_by_end
    incomplete, between = chart.incomplete, chart.between
    size = lists.index.shape[0]
    width, count = size + 1, lists.head.shape[0]  # strides of the rows
    right[:] = -INF
    left[:] = -INF
    by_end[:] = -INF
    for i in range(size - 1, -1, -1):
        g0, slots = first[i], first[i + 1] - first[i]
        for t in range(slots):
            right[g0 + t, i] = 0.0
            left[g0 + t, i] = 0.0
            by_end[i, g0 + t] = 0.0
        # arcs from i to the right
        low = sides[2 * i + 1]
        for place in range(low, sides[2 * i + 2]):
            a = members[place]
            m = np.int64(lists.modifier[a])
            q, p = chains[a], pairs[a]
            for t in range(slots):
                incomplete[q + t] = left[a, i + 1] + start[a]
            for j in range(pairs[a + 1] - p):
                b = np.int64(members[low + j])
                s = np.int64(lists.modifier[b])
                split = highest_row_sum(right, b * width + s, left, a * width + s + 1, m - s)
                between[p + j] = split
                split += part[p + j]
                if split > -INF:
                    raise_row(incomplete, q, incomplete, chains[b], split, slots)
            for t in range(slots):
                incomplete[q + t] += arc[a] + chain[q + t]
                if incomplete[q + t] > -INF:
                    g = np.int64(lists.head[g0 + t])
                    end = g if g > i else size
                    raise_row(
                        right, (g0 + t) * width + m, right, a * width + m,
                        incomplete[q + t], max(end - m, 0),
                    )  # fmt: skip
        # arcs to i from the right, and all spans that end at i
        for h in range(i + 1, size if i > 0 else 0):
            low = sides[2 * h]
            g0, slots = first[h], first[h + 1] - first[h]
            a = np.int64(lists.index[h, i])
            if a >= 0:
                q, p = chains[a], pairs[a]
                for t in range(slots):
                    incomplete[q + t] = right[a, h - 1] + start[a]
                for j in range(pairs[a + 1] - p):
                    b = np.int64(members[low + j])
                    s = np.int64(lists.modifier[b])
                    split = highest_row_sum(right, a * width + i, left, b * width + i + 1, s - i)
                    between[p + j] = split
                    split += part[p + j]
                    if split > -INF:
                        raise_row(incomplete, q, incomplete, chains[b], split, slots)
                for t in range(slots):
                    incomplete[q + t] += arc[a] + chain[q + t]
            for place in range(low, sides[2 * h + 1]):
                b = members[place]
                if lists.modifier[b] < i:
                    break
                if left[b, i] > -INF:
                    raise_row(by_end, i * count + g0, incomplete, chains[b], left[b, i], slots)
            for t in range(slots):
                left[g0 + t, i] = by_end[i, g0 + t]
    return right[0, size - 1]


@jit(fastmath=FAST)
def outside(lists, arc, start, chain, part, chart, out):
    """Best scores of everything around each span; fills `out`, a chart of its own.

    Every sum of the inside pass is undone in reverse order.
    """
    first, chains, sides, members, pairs = (
        lists.first, lists.chains, lists.sides, lists.members, lists.pairs,
    )  # fmt: skip
    right, left, incomplete = chart.right, chart.left, chart.incomplete
    o_right, o_left, o_incomplete = out.right, out.left, out.incomplete
    above = out.left_by_end[0]
    size = lists.index.shape[0]
    width = size + 1
    o_right[:] = -INF
    o_left[:] = -INF
    o_incomplete[:] = -INF
    o_right[0, size - 1] = 0.0
    for i in range(size):
        for h in range(size - 1, i if i > 0 else size, -1):
            low = sides[2 * h]
            g0, slots = first[h], first[h + 1] - first[h]
            for t in range(slots):  # gathered once, so that the loops below run along rows
                above[t] = o_left[g0 + t, i]
            for place in range(low, sides[2 * h + 1]):
                b = members[place]
                if lists.modifier[b] < i:
                    break
                if left[b, i] > -INF:
                    best = highest_row_sum(above, 0, incomplete, chains[b], slots)
                    o_left[b, i] = max(o_left[b, i], best)
                    raise_row(o_incomplete, chains[b], above, 0, left[b, i], slots)
            a = np.int64(lists.index[h, i])
            if a < 0:
                continue
            best = reach(arc[a], chain, o_incomplete, chains[a], above, slots)
            if best == -INF:
                continue
            o_right[a, h - 1] = max(o_right[a, h - 1], best + start[a])
            p = pairs[a]
            for j in range(pairs[a + 1] - p):
                b = np.int64(members[low + j])
                value = chart.between[p + j] + part[p + j]
                if value == -INF:
                    continue
                best = highest_row_sum(above, 0, incomplete, chains[b], slots) + part[p + j]
                raise_row(o_incomplete, chains[b], above, 0, value, slots)
                if best > -INF:
                    s = np.int64(lists.modifier[b])
                    raise_row(o_right, a * width + i, left, b * width + i + 1, best, s - i)
                    raise_row(o_left, b * width + i + 1, right, a * width + i, best, s - i)
        g0, slots = first[i], first[i + 1] - first[i]
        low = sides[2 * i + 1]
        for place in range(sides[2 * i + 2] - 1, low - 1, -1):
            a = np.int64(members[place])
            m = np.int64(lists.modifier[a])
            q = chains[a]
            for t in range(slots):
                if incomplete[q + t] > -INF:
                    g = np.int64(lists.head[g0 + t])
                    length = max((g if g > i else size) - m, 0)
                    one, other = (g0 + t) * width + m, a * width + m
                    best = highest_row_sum(o_right, one, right, other, length)
                    o_incomplete[q + t] = max(o_incomplete[q + t], best)
                    raise_row(o_right, other, o_right, one, incomplete[q + t], length)
            best = reach(arc[a], chain, o_incomplete, q, above, slots)
            if best == -INF:
                continue
            o_left[a, i + 1] = max(o_left[a, i + 1], best + start[a])
            p = pairs[a]
            for j in range(pairs[a + 1] - p):
                b = np.int64(members[low + j])
                value = chart.between[p + j] + part[p + j]
                if value == -INF:
                    continue
                best = highest_row_sum(above, 0, incomplete, chains[b], slots) + part[p + j]
                raise_row(o_incomplete, chains[b], above, 0, value, slots)
                if best > -INF:
                    s = np.int64(lists.modifier[b])
                    raise_row(o_right, b * width + s, left, a * width + s + 1, best, m - s)
                    raise_row(o_left, a * width + s + 1, right, b * width + s, best, m - s)


@jit(fastmath=FAST)
def reach(own, chain, o_incomplete, q, above, slots):
    """Write what lies above an arc, itself included, by slot; returns the best of it."""
    best = -INF
    for t in range(slots):
        above[t] = o_incomplete[q + t] + (own + chain[q + t])
        best = max(best, above[t])
    return best


@jit()
def trace(lists, arc, start, chain, part, chart, heads):
    """Read the best tree off a chart: the choices are found again, not stored."""
    first, chains, sides, members, pairs = (
        lists.first, lists.chains, lists.sides, lists.members, lists.pairs,
    )  # fmt: skip
    size = lists.index.shape[0]
    stack = np.empty(
        (4 * size + 8, 3), np.int64
    )  # kind (0 right, 1 left, 2 arc), arc, end or slot
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, size - 1
    top = 1
    while top:
        top -= 1
        kind, a, at = stack[top, 0], stack[top, 1], stack[top, 2]
        h = lists.modifier[a]
        if kind < 2:
            if at == h:
                continue
            t = a - first[h]
            table = chart.right if kind == 0 else chart.left
            side = 2 * h + 1 - kind
            for place in range(sides[side], sides[side + 1]):
                b = members[place]
                m = lists.modifier[b]
                if (m > at) if kind == 0 else (m < at):
                    continue
                if chart.incomplete[chains[b] + t] + table[b, at] == table[a, at]:
                    stack[top, 0], stack[top, 1], stack[top, 2] = 2, b, t
                    stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = kind, b, at
                    top += 2
                    break
            continue
        m, h = h, lists.head[a]
        heads[m] = h
        q = chains[a] + at
        own = arc[a] + chain[q]
        whole = chart.incomplete[q]
        alone = chart.left[a, h + 1] if h < m else chart.right[a, h - 1]
        if (alone + start[a]) + own == whole:
            stack[top, 0], stack[top, 1] = (1 if h < m else 0), a
            stack[top, 2] = h + 1 if h < m else h - 1
            top += 1
            continue
        low = sides[2 * h + 1] if h < m else sides[2 * h]
        for j in range(pairs[a + 1] - pairs[a]):
            b = members[low + j]
            split = chart.between[pairs[a] + j]
            if chart.incomplete[chains[b] + at] + (split + part[pairs[a] + j]) + own != whole:
                continue
            inner, outer = (b, a) if h < m else (a, b)
            for r in range(lists.modifier[inner], lists.modifier[outer]):
                if chart.right[inner, r] + chart.left[outer, r + 1] == split:
                    stack[top, 0], stack[top, 1], stack[top, 2] = 0, inner, r
                    stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = 1, outer, r + 1
                    stack[top + 2, 0], stack[top + 2, 1], stack[top + 2, 2] = 2, b, at
                    top += 3
                    break
            break


# --- the factors that are left at a node ---------------------------------------------------------


@jit()
def surviving_terms(lists, scores):
    """Cut factors down to free arcs and split them into "at least `need` arcs, paid `score`".

    An arc that is gone leaves its factor, an arc that is a word's last leaves it as present:
    so every factor becomes exact once its arcs are decided. Between `low` and `high` is "at
    least low" less "at least high + 1"; a negative score with both ends open is bounded by 0.
    """
    count = scores.factor_scores.shape[0]
    total = scores.factor_arcs.shape[0]
    offsets = np.zeros(2 * count + 1, np.int64)
    arcs = np.empty(2 * total, np.int32)
    worth = np.empty(2 * count)
    needs = np.empty(2 * count, np.int32)
    home = np.empty(2 * total, np.int64)
    constant = 0.0
    terms = 0
    at = 0
    for f in range(count):
        begin, end = scores.factor_offsets[f], scores.factor_offsets[f + 1]
        low, high = scores.factor_low[f], scores.factor_high[f]
        value = scores.factor_scores[f]
        free = 0
        for i in range(begin, end):
            h, m = scores.factor_arcs[i, 0], scores.factor_arcs[i, 1]
            a = lists.index[h, m]
            if a < 0:
                continue
            if lists.first[m + 1] - lists.first[m] == 1:
                low -= 1
                high -= 1
            else:
                arcs[at + free] = a
                home[at + free] = i
                free += 1
        if high < 0 or low > free or value == 0.0:
            continue
        if low <= 0:
            constant += value
            value = -value
            low = high + 1
            high = free
            if low > free:
                continue
        if high < free and value < 0:
            continue
        offsets[terms + 1] = at + free
        worth[terms] = value
        needs[terms] = low
        terms += 1
        at += free
        if high < free:
            for i in range(free):
                arcs[at + i] = arcs[at - free + i]
                home[at + i] = home[at - free + i] + total
            offsets[terms + 1] = at + free
            worth[terms] = -value
            needs[terms] = high + 1
            terms += 1
            at += free
    return Terms(
        offsets[: terms + 1].copy(), arcs[:at].copy(), worth[:terms].copy(),
        needs[:terms].copy(), home[:at].copy(), constant,
    )  # fmt: skip


@jit()
def project(x, begin, end, total, at_most):
    """Project x[begin:end] onto {x >= 0, sum = total} (or <= total), as Duchi et al. do.

    The threshold is found by discarding negative entries until none is left (Michelot).
    """
    if at_most:
        positive = 0.0
        for i in range(begin, end):
            positive += max(x[i], 0.0)
        if positive <= total:
            for i in range(begin, end):
                x[i] = max(x[i], 0.0)
            return
    threshold = -INF
    while True:
        above = 0.0
        count = 0
        for i in range(begin, end):
            if x[i] > threshold:
                above += x[i]
                count += 1
        if count == 0:  # rounding beside huge numbers
            break
        raised = (above - total) / count
        if raised <= threshold or count == 1:
            threshold = max(raised, threshold)
            break
        kept = 0
        for i in range(begin, end):
            if x[i] > raised:
                kept += 1
        threshold = raised
        if kept == count:
            break
    # rounding must not leave the sum short of the total, which the bound rests on
    left = total
    largest = begin
    for i in range(begin, end):
        x[i] = max(x[i] - threshold, 0.0)
        left -= x[i]
        if x[i] > x[largest]:
            largest = i
    x[largest] = max(x[largest] + left, 0.0)


# --- scores of the relaxation --------------------------------------------------------------------


@jit()
def relaxation(lists, terms, scores, multipliers, backbone):
    """Gather the scores of the survivors, and the multipliers that earlier nodes left."""
    size = lists.index.shape[0]
    count = lists.head.shape[0]
    arc_base = np.zeros(count)
    for a in range(1, count):
        arc_base[a] = scores.arcs[lists.head[a], lists.modifier[a]]
    chain_base = np.zeros(lists.chains[count])
    has_chains = scores.grandparents.shape[0] > 1
    chain_x = np.zeros(lists.chains[count] if has_chains and backbone != SECOND else 0)
    for a in range(1, count):
        h, m = lists.head[a], lists.modifier[a]
        if h == 0 or lists.chains[count] == 0:
            continue
        low, high = min(h, m), max(h, m)
        for t in range(lists.first[h + 1] - lists.first[h]):
            g = lists.head[lists.first[h] + t]
            q = lists.chains[a] + t
            if g == m or (backbone != SPANNING and low < g < high):
                chain_base[q] = -INF  # a cycle
            elif has_chains:
                chain_base[q] = max(scores.grandparents[g, h, m], scores.forbidden)
                if backbone != SECOND:
                    chain_x[q] = max(multipliers.grandparents[g, h, m], 0.0)
    pair = np.zeros(lists.pairs[count])
    pair_x = np.zeros(lists.pairs[count])
    cross = np.zeros(lists.crosses[size])
    cross_x = np.zeros(lists.crosses[size])
    if scores.siblings.shape[0] > 1:
        for a in range(1, count):
            h, m = lists.head[a], lists.modifier[a]
            low = lists.sides[2 * h + 1] if h < m else lists.sides[2 * h]
            for j in range(lists.pairs[a + 1] - lists.pairs[a]):
                s = lists.modifier[lists.members[low + j]]
                x, y = min(s, m), max(s, m)
                p = lists.pairs[a] + j
                pair[p] = max(scores.siblings[h, x, y], scores.forbidden)
                part = share(multipliers.slack[h, m], multipliers.slack[h, s])
                pair_x[p] = warm(multipliers.siblings[h, x, y], pair[p], part)
        for h in range(1, size):  # the root has no left
            p = lists.crosses[h]
            for i in range(lists.sides[2 * h], lists.sides[2 * h + 1]):
                x = lists.modifier[lists.members[i]]
                for j in range(lists.sides[2 * h + 1], lists.sides[2 * h + 2]):
                    y = lists.modifier[lists.members[j]]
                    cross[p] = max(scores.siblings[h, x, y], scores.forbidden)
                    part = share(multipliers.slack[h, x], multipliers.slack[h, y])
                    cross_x[p] = warm(multipliers.siblings[h, x, y], cross[p], part)
                    p += 1
    term_x = np.zeros(terms.arcs.shape[0])
    for c in range(terms.score.shape[0]):
        begin, end = terms.offsets[c], terms.offsets[c + 1]
        value = terms.score[c]
        for i in range(begin, end):
            stored = multipliers.factors[terms.home[i]]
            if stored >= 0.0:
                term_x[i] = stored
            elif value > 0.0 and terms.need[c] == end - begin:
                term_x[i] = value / (end - begin)
        clip_term(terms, c, term_x)
    relaxed = Relaxation(
        arc_base, chain_base, pair, pair_x, np.zeros_like(pair), cross, cross_x,
        np.zeros_like(cross), chain_x, np.zeros(count), np.zeros(count), term_x, np.empty(count),
        np.zeros(count), np.empty_like(chain_base), np.empty_like(pair),
    )  # fmt: skip
    relax_chains(lists, relaxed)
    return relaxed


@jit()
def warm(stored, score, part):
    """A stored multiplier, clipped to its box [0, abs(score)], or a part of a gain."""
    if stored < 0.0:
        return max(part * score, 0.0)
    return min(stored, abs(score))


@jit()
def share(one, other):
    """The part of a gain that the arc with slack `one` takes over: most if it is less likely."""
    ratio = other / one
    return 1.0 / (1.0 + ratio * ratio)


@jit()
def clip_term(terms, c, x):
    """Bring the multipliers of one term back to where they give a bound.

    One number for each arc where all arcs are needed for a gain or one suffices for a loss;
    else a single number, at the first place.
    """
    begin, end = terms.offsets[c], terms.offsets[c + 1]
    value, need = terms.score[c], terms.need[c]
    if value > 0.0 and need == end - begin:
        project(x, begin, end, value, False)
    elif value < 0.0 and need == 1:
        project(x, begin, end, -value, True)
    else:
        x[begin] = min(max(x[begin], 0.0), abs(value))


@jit()
def store(lists, terms, relaxed, multipliers):
    """Leave the multipliers to the nodes that come."""
    size = lists.index.shape[0]
    if multipliers.siblings.shape[0] > 1:
        for a in range(1, lists.head.shape[0]):
            h, m = lists.head[a], lists.modifier[a]
            low = lists.sides[2 * h + 1] if h < m else lists.sides[2 * h]
            for j in range(lists.pairs[a + 1] - lists.pairs[a]):
                s = lists.modifier[lists.members[low + j]]
                multipliers.siblings[h, min(s, m), max(s, m)] = relaxed.pair_x[lists.pairs[a] + j]
        for h in range(1, size):
            p = lists.crosses[h]
            if p == lists.crosses[h + 1]:
                continue
            for i in range(lists.sides[2 * h], lists.sides[2 * h + 1]):
                x = lists.modifier[lists.members[i]]
                for j in range(lists.sides[2 * h + 1], lists.sides[2 * h + 2]):
                    y = lists.modifier[lists.members[j]]
                    multipliers.siblings[h, x, y] = relaxed.cross_x[p]
                    p += 1
    if relaxed.chain_x.shape[0] > 0:
        for a in range(1, lists.head.shape[0]):
            h, m = lists.head[a], lists.modifier[a]
            if h > 0:
                for t in range(lists.first[h + 1] - lists.first[h]):
                    g = lists.head[lists.first[h] + t]
                    multipliers.grandparents[g, h, m] = relaxed.chain_x[lists.chains[a] + t]
    for i in range(terms.arcs.shape[0]):
        multipliers.factors[terms.home[i]] = relaxed.term_x[i]


@jit()
def relax(lists, terms, relaxed, backbone):
    """Write the scores that the backbone runs on; returns the constant of the bound.

    A pair of modifiers on one side that is not adjacent, the inner j and the outer k, is two
    events that adjacent siblings decide: "k has its nearest sibling beyond j" and "j has its
    next sibling before k". A positive score is split between them (eq. 5). A negative one is
    charged for the first event, and refunded where the modifiers skip j on their way to what
    lies before k: tighter than eq. 6, as no constant is paid.
    """
    size = lists.index.shape[0]
    count = lists.head.shape[0]
    arc, part = relaxed.arc, relaxed.part
    for a in range(count):
        arc[a] = relaxed.arc_base[a]
    constant = terms.constant
    if backbone == SECOND:
        for q in range(relaxed.chain.shape[0]):
            relaxed.chain[q] = relaxed.chain_base[q]
        for p in range(part.shape[0]):
            part[p] = relaxed.pair[p]
        gains = np.empty(size)  # by inner sibling: what lies further out
        losses = np.empty(size)
        for side in range(2 * size):
            low, high = lists.sides[side], lists.sides[side + 1]
            for j in range(high - low):
                gains[j] = 0.0
                losses[j] = 0.0
            for place in range(high - 1, low - 1, -1):
                a = lists.members[place]
                p = lists.pairs[a]
                inner = lists.pairs[a + 1] - p
                refund = 0.0
                for j in range(inner - 1, -1, -1):
                    part[p + j] += refund
                    refund += losses[j]
                relaxed.start[a] = refund
                charge = 0.0
                for j in range(inner):
                    score, x = relaxed.pair[p + j], relaxed.pair_x[p + j]
                    part[p + j] += charge + gains[j]
                    if score > 0.0:
                        charge += x
                        gains[j] += score - x
                    else:
                        charge -= x
                        losses[j] += x
    else:
        for a in range(1, count):
            h, m = lists.head[a], lists.modifier[a]
            low = lists.sides[2 * h + 1] if h < m else lists.sides[2 * h]
            for j in range(lists.pairs[a + 1] - lists.pairs[a]):
                b = lists.members[low + j]
                score, x = relaxed.pair[lists.pairs[a] + j], relaxed.pair_x[lists.pairs[a] + j]
                if score > 0.0:
                    arc[a] += x
                    arc[b] += score - x
                else:
                    arc[a] -= x
                    arc[b] -= x
                    constant += x
        for a in range(1, count):
            arc[a] += relaxed.chain_best[a] + relaxed.chain_paid[a]
    for h in range(1, size):
        p = lists.crosses[h]
        if p == lists.crosses[h + 1]:
            continue
        middle, end = lists.sides[2 * h + 1], lists.sides[2 * h + 2]
        for i in range(lists.sides[2 * h], middle):
            a = lists.members[i]
            total = 0.0
            for j in range(middle, end):
                score, x = relaxed.cross[p], relaxed.cross_x[p]
                if score > 0.0:
                    total += x
                    arc[lists.members[j]] += score - x
                else:
                    total -= x
                    arc[lists.members[j]] -= x
                    constant += x
                p += 1
            arc[a] += total
    for c in range(terms.score.shape[0]):
        begin, end = terms.offsets[c], terms.offsets[c + 1]
        value, need = terms.score[c], terms.need[c]
        if value > 0.0 and need == end - begin:
            for i in range(begin, end):
                arc[terms.arcs[i]] += relaxed.term_x[i]
        elif value < 0.0 and need == 1:
            for i in range(begin, end):
                arc[terms.arcs[i]] -= relaxed.term_x[i]
        else:
            x = relaxed.term_x[begin]
            if value > 0.0:  # min(1, number / need)
                constant += value - x
                each = x / need
            else:  # max(0, (number - need + 1) / (size - need + 1))
                each = -x / (end - begin - need + 1)
                constant -= each * (need - 1)
            for i in range(begin, end):
                arc[terms.arcs[i]] += each
    return constant


@jit()
def linearise(lists, terms, relaxed, heads):
    """Write scores that go along with a tree: what each part adds to it, as it stands.

    The best tree under these is a promising start for local search.
    """
    size = lists.index.shape[0]
    for a in range(relaxed.arc.shape[0]):
        relaxed.arc[a] = relaxed.arc_base[a]
        relaxed.start[a] = 0.0
    for q in range(relaxed.chain.shape[0]):
        relaxed.chain[q] = relaxed.chain_base[q]
    gains = np.empty(size)
    for side in range(2 * size):
        low, high = lists.sides[side], lists.sides[side + 1]
        h = side // 2
        for j in range(high - low):
            gains[j] = 0.0
        for place in range(high - 1, low - 1, -1):
            a = lists.members[place]
            p = lists.pairs[a]
            chosen = heads[lists.modifier[a]] == h
            charge = 0.0
            for j in range(lists.pairs[a + 1] - p):
                score = relaxed.pair[p + j]
                relaxed.part[p + j] = score + charge + gains[j]
                if heads[lists.modifier[lists.members[low + j]]] == h:
                    charge += score
                if chosen:
                    gains[j] += score
    for h in range(1, size):
        p = lists.crosses[h]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], lists.sides[2 * h + 1]):
            a = lists.members[i]
            for j in range(lists.sides[2 * h + 1], lists.sides[2 * h + 2]):
                b = lists.members[j]
                if heads[lists.modifier[a]] == h:
                    relaxed.arc[b] += relaxed.cross[p]
                if heads[lists.modifier[b]] == h:
                    relaxed.arc[a] += relaxed.cross[p]
                p += 1
    for c in range(terms.score.shape[0]):
        number = 0
        for i in range(terms.offsets[c], terms.offsets[c + 1]):
            a = terms.arcs[i]
            number += heads[lists.modifier[a]] == lists.head[a]
        for i in range(terms.offsets[c], terms.offsets[c + 1]):
            a = terms.arcs[i]
            if number - (heads[lists.modifier[a]] == lists.head[a]) == terms.need[c] - 1:
                relaxed.arc[a] += terms.score[c]


@jit()
def relax_chains(lists, relaxed):
    """One grandparent for each arc: it takes the best of what the multipliers leave.

    A multiplier u is taken off the chain and paid to the arc (g, h), whether or not the
    chain is there; as u >= 0, that is a bound. `chain` keeps score - u for the update.
    """
    if relaxed.chain_x.shape[0] == 0:
        return
    for a in range(1, lists.head.shape[0]):
        h = lists.head[a]
        if h == 0:
            continue
        for t in range(lists.first[h + 1] - lists.first[h]):
            q = lists.chains[a] + t
            relaxed.chain[q] = relaxed.chain_base[q]
            if relaxed.chain_base[q] > -INF:
                pay_chain(lists, relaxed, h, q, t, relaxed.chain_x[q])
        best_chain(lists, relaxed, a)


@jit()
def pay_chain(lists, relaxed, h, q, t, by):
    """Take something off a chain and pay it to the arc of its grandparent, the slot t of h."""
    relaxed.chain[q] -= by
    relaxed.chain_paid[lists.first[h] + t] += by


@jit()
def best_chain(lists, relaxed, a):
    """Let an arc take the best that is left of its chains."""
    best = -INF
    for q in range(lists.chains[a], lists.chains[a + 1]):
        best = max(best, relaxed.chain[q])
    relaxed.chain_best[a] = best


# --- the subgradient -----------------------------------------------------------------------------


@jit()
def describe(lists, relaxed, heads, backbone, keep):
    """Write the subgradient of the pair multipliers plus `keep` times the last direction.

    With the events of :func:`relax`, the bound has x E1 + (score - x) E2 for a gain and
    -x (E1 - skipped) for a loss; at first order and across the head x (1 - E1 - E2).
    """
    size = lists.index.shape[0]
    pair, d = relaxed.pair, relaxed.pair_d
    second = backbone == SECOND
    for p in range(d.shape[0]):
        d[p] = keep * d[p] + (1.0 if pair[p] < 0.0 and not second else 0.0)
    for side in range(2 * size):
        low, high = lists.sides[side], lists.sides[side + 1]
        h = side // 2
        last = -1
        furthest = lists.members[high - 1] if high > low else 0
        if lists.pairs[furthest + 1] - lists.pairs[furthest] != high - low - 1:
            continue  # no pairs are scored here
        for place in range(low, high):
            a = lists.members[place]
            rank = place - low
            if heads[lists.modifier[a]] != h:
                continue
            p = lists.pairs[a]
            for j in range(last if second else rank):
                d[p + j] += 1.0 if pair[p + j] > 0.0 else -1.0
            inner = last if second else rank
            for outer in range(place + 1, high):
                q = lists.pairs[lists.members[outer]]
                if inner >= 0 and (pair[q + inner] > 0.0 or not second):
                    d[q + inner] -= 1.0
                if second:
                    for j in range(last + 1, rank):
                        if pair[q + j] < 0.0:
                            d[q + j] += 1.0
            last = rank
    cross, d = relaxed.cross, relaxed.cross_d
    for p in range(d.shape[0]):
        d[p] = keep * d[p] + (1.0 if cross[p] < 0.0 else 0.0)
    for h in range(1, size):
        low, middle, high = lists.sides[2 * h], lists.sides[2 * h + 1], lists.sides[2 * h + 2]
        width = high - middle
        if lists.crosses[h] == lists.crosses[h + 1]:
            continue
        for i in range(middle - low):
            if heads[lists.modifier[lists.members[low + i]]] == h:
                p = lists.crosses[h] + i * width
                for j in range(width):
                    d[p + j] += 1.0 if cross[p + j] > 0.0 else -1.0
        for j in range(width):
            if heads[lists.modifier[lists.members[middle + j]]] == h:
                for i in range(middle - low):
                    d[lists.crosses[h] + i * width + j] -= 1.0


@jit()
def stay_inside(score, x, d):
    """Cancel directions that leave the box [0, abs(score)]; returns the squared norm."""
    norm = 0.0
    for p in range(d.shape[0]):
        if (d[p] > 0.0 and x[p] <= 0.0) or (d[p] < 0.0 and x[p] >= abs(score[p])):
            d[p] = 0.0
        norm += d[p] * d[p]
    return norm


@jit()
def move(score, x, d, step):
    for p in range(d.shape[0]):
        if d[p] != 0.0:
            x[p] = min(max(x[p] - step * d[p], 0.0), abs(score[p]))


@jit()
def move_terms(lists, terms, x, heads, step):
    """Take a step in the multipliers of the factors; with step 0 return the squared norm."""
    norm = 0.0
    for c in range(terms.score.shape[0]):
        begin, end = terms.offsets[c], terms.offsets[c + 1]
        value, need, size = terms.score[c], terms.need[c], end - begin
        number = 0
        for i in range(begin, end):
            a = terms.arcs[i]
            number += heads[lists.modifier[a]] == lists.head[a]
        if value > 0.0 and need == size:
            if number == 0 or number == size:
                continue
            norm += number * (1.0 - number / size)
            if step > 0.0:
                for i in range(begin, end):
                    a = terms.arcs[i]
                    if heads[lists.modifier[a]] == lists.head[a]:
                        x[i] -= step
                project(x, begin, end, value, False)
        elif value < 0.0 and need == 1:
            paid = 0.0
            for i in range(begin, end):
                a = terms.arcs[i]
                if heads[lists.modifier[a]] == lists.head[a]:
                    paid += x[i]
            if number == 0 or paid >= -value:
                continue
            norm += number
            if step > 0.0:
                for i in range(begin, end):
                    a = terms.arcs[i]
                    if heads[lists.modifier[a]] == lists.head[a]:
                        x[i] += step
                project(x, begin, end, -value, True)
        else:
            if value > 0.0:
                d = number / need - 1.0
            else:
                d = -(number - need + 1.0) / (size - need + 1.0)
            if d == 0.0 or (d > 0.0 and x[begin] <= 0.0) or (d < 0.0 and x[begin] >= abs(value)):
                continue
            norm += d * d
            if step > 0.0:
                x[begin] = min(max(x[begin] - step * d, 0.0), abs(value))
    return norm


@jit()
def move_chains(lists, relaxed, heads, step):
    """Take a step in the grandparent multipliers; with step 0 return the squared norm."""
    norm = 0.0
    x = relaxed.chain_x
    if x.shape[0] == 0:
        return norm
    for a in range(1, lists.head.shape[0]):
        h = lists.head[a]
        if h == 0:
            continue
        q = lists.chains[a]
        actual = q + lists.index[heads[h], h] - lists.first[h]
        assumed = -1
        if heads[lists.modifier[a]] == h:
            assumed = actual  # a tie is no disagreement
            for t in range(lists.first[h + 1] - lists.first[h]):
                if relaxed.chain[q + t] > relaxed.chain[assumed]:
                    assumed = q + t
        if assumed == actual:
            continue
        if x[actual] > 0.0:
            norm += 1.0
            by = min(step, x[actual])
            x[actual] -= by
            pay_chain(lists, relaxed, h, actual, actual - q, -by)
        if assumed >= 0:
            norm += 1.0
            x[assumed] += step
            pay_chain(lists, relaxed, h, assumed, assumed - q, step)
        if step > 0.0:
            best_chain(lists, relaxed, a)
    return norm


@jit()
def descend(lists, terms, relaxed, heads, gap, rate, keep, backbone):
    """One Polyak step: as long as would close the gap if the bound were linear."""
    describe(lists, relaxed, heads, backbone, keep)
    norm = stay_inside(relaxed.pair, relaxed.pair_x, relaxed.pair_d)
    norm += stay_inside(relaxed.cross, relaxed.cross_x, relaxed.cross_d)
    norm += move_terms(lists, terms, relaxed.term_x, heads, 0.0)
    norm += move_chains(lists, relaxed, heads, 0.0)
    if norm == 0.0:
        return
    step = rate * gap / norm
    move(relaxed.pair, relaxed.pair_x, relaxed.pair_d, step)
    move(relaxed.cross, relaxed.cross_x, relaxed.cross_d, step)
    move_terms(lists, terms, relaxed.term_x, heads, step)
    move_chains(lists, relaxed, heads, step)


# --- the true score, and local search ------------------------------------------------------------


class Incidence(NamedTuple):
    """Which factors hold an arc: `factors[offsets[h (n + 1) + m]:...]`, and a counter each."""

    offsets: Any
    factors: Any
    counts: Any
    constant: float


@jit()
def pays(scores, f, number):
    if scores.factor_low[f] <= number <= scores.factor_high[f]:
        return max(scores.factor_scores[f], scores.forbidden)
    return 0.0


@jit()
def change_factors(scores, incidence, h, m, by):
    """Add or remove an arc in the counters; returns the change of the score."""
    size = scores.arcs.shape[0]
    gain = 0.0
    for i in range(incidence.offsets[h * size + m], incidence.offsets[h * size + m + 1]):
        f = incidence.factors[i]
        number = np.int64(incidence.counts[f])
        gain += pays(scores, f, number + by) - pays(scores, f, number)
        incidence.counts[f] += by
    return gain


@jit()
def chain_score(scores, g, h, m):
    if h == 0 or scores.grandparents.shape[0] == 1:
        return 0.0
    return max(scores.grandparents[g, h, m], scores.forbidden)


@jit()
def sibling_score(scores, h, a, b):
    if scores.siblings.shape[0] == 1:
        return 0.0
    return max(scores.siblings[h, min(a, b), max(a, b)], scores.forbidden)


@jit()
def attached(scores, heads, h, m, below, count):
    """What arcs, grandparents and siblings pay for m under h, all other heads given.

    The first `count` of `below` are the modifiers of m.
    """
    value = scores.arcs[h, m] + chain_score(scores, heads[h], h, m)
    if scores.grandparents.shape[0] > 1:
        for i in range(count):
            value += chain_score(scores, h, m, below[i])
    if scores.siblings.shape[0] > 1:
        for c in range(1, scores.arcs.shape[0]):
            if c != m and heads[c] == h:
                value += sibling_score(scores, h, m, c)
    return value


@jit()
def true_score(scores, incidence, heads):
    """The objective of a tree, a forbidden part counting as `forbidden`."""
    size = scores.arcs.shape[0]
    value = incidence.constant
    for m in range(1, size):
        h = heads[m]
        value += scores.arcs[h, m] + chain_score(scores, heads[h], h, m)
        value += change_factors(scores, incidence, h, m, 1)
        if scores.siblings.shape[0] > 1:
            for b in range(m + 1, size):
                if heads[b] == h:
                    value += sibling_score(scores, h, m, b)
    for m in range(1, size):
        change_factors(scores, incidence, heads[m], m, -1)
    return value


@jit()
def fits(heads, h, m, projective):
    """Whether m may move under h: no cycle, and no crossing arc if that matters."""
    up = h
    while up != 0:
        if up == m:
            return False
        up = heads[up]
    if not projective:
        return True
    low, high = min(h, m), max(h, m)
    for k in range(1, heads.shape[0]):
        if k == m:
            continue
        if low < k < high:
            if heads[k] < low or heads[k] > high:
                return False
        elif (k < low or k > high) and low < heads[k] < high:
            return False
    return True


@jit()
def climb(lists, scores, incidence, heads, value, projective, single_root):
    """Move one word at a time under its best surviving head until nothing gains."""
    size = scores.arcs.shape[0]
    below = np.empty(size, np.int32)
    for m in range(1, size):
        change_factors(scores, incidence, heads[m], m, 1)
    improved = True
    while improved:
        improved = False
        for m in range(1, size):
            old = heads[m]
            if (old == 0 and single_root) or lists.first[m + 1] - lists.first[m] < 2:
                continue
            count = 0
            for c in range(1, size):
                if heads[c] == m:
                    below[count] = c
                    count += 1
            present = attached(scores, heads, old, m, below, count)
            present -= change_factors(scores, incidence, old, m, -1)
            best, choice = present + 1e-9 * max(1.0, abs(value)), old
            for a in range(lists.first[m], lists.first[m + 1]):
                h = lists.head[a]
                if h == old or (h == 0 and single_root):
                    continue
                gain = attached(scores, heads, h, m, below, count)
                gain += change_factors(scores, incidence, h, m, 1)
                change_factors(scores, incidence, h, m, -1)
                if gain > best and fits(heads, h, m, projective):
                    best, choice = gain, h
            if choice != old:
                heads[m] = choice
                value += best - present
                improved = True
            change_factors(scores, incidence, choice, m, 1)
    for m in range(1, size):
        change_factors(scores, incidence, heads[m], m, -1)


class Pool(NamedTuple):
    """The best different trees so far, best first: `heads` (k, n + 1), `scores` (k,)."""

    heads: Any
    scores: Any


@jit()
def offer(pool, heads, value):
    """Take a tree into the pool if it is new and good enough."""
    k = pool.scores.shape[0]
    if value <= pool.scores[k - 1]:
        return
    for i in range(k):
        if pool.scores[i] == -INF:
            break
        same = True
        for m in range(1, heads.shape[0]):
            if pool.heads[i, m] != heads[m]:
                same = False
                break
        if same:
            return
    at = k - 1
    while at > 0 and pool.scores[at - 1] < value:
        pool.scores[at] = pool.scores[at - 1]
        for m in range(heads.shape[0]):
            pool.heads[at, m] = pool.heads[at - 1, m]
        at -= 1
    pool.scores[at] = value
    for m in range(heads.shape[0]):
        pool.heads[at, m] = heads[m]


@jit()
def consider(lists, scores, incidence, pool, heads, bar, projective, single_root):
    """Score a tree and keep it if it is good; climb from it if it is no worse than `bar`.

    Climbing costs about as much as a pass, and hardly ever leads anywhere from poor trees.
    """
    value = true_score(scores, incidence, heads)
    offer(pool, heads, value)
    if value >= bar:
        better = heads.copy()
        climb(lists, scores, incidence, better, value, projective, single_root)
        offer(pool, better, true_score(scores, incidence, better))
    return value


# --- a node --------------------------------------------------------------------------------------


@jit()
def first_order(lists, arc, table, tokens, heads, single_root, bounds):
    """Run Eisner or Chu-Liu-Edmonds on the survivors; returns the value, -inf without a tree.

    `table` holds five squares of n + 1. `tokens` holds four rows of 2n + 2, None for Eisner.
    `bounds` gets the max-marginals, or bounds on them, unless it is empty.
    """
    size = heads.shape[0]
    dense = table[0]
    for h in range(size):
        for m in range(size):
            a = lists.index[h, m]
            dense[h, m] = arc[a] if a >= 0 else -INF
    if tokens is None:
        value = eisner.inside(dense, single_root, table[1], table[2], table[3], table[4])
        if value > -INF:
            eisner.back_trace(dense, single_root, table[1], table[2], table[3], table[4], heads)
            if bounds.shape[0] > 0:
                marginals = eisner.max_marginals(dense, single_root)
                for h in range(size):
                    for m in range(size):
                        bounds[h, m] = marginals[h, m]
    else:
        bounds[:] = -INF
        value, _, _ = chu_liu_edmonds.solve_rooted(
            dense, single_root, heads, np.empty(2 * size), tokens, bounds
        )
    return value


@jit()
def marginals_second(lists, chart, out, bounds):
    """Max-marginals of the arcs from an inside and an outside chart."""
    for a in range(1, lists.head.shape[0]):
        best = -INF
        for q in range(lists.chains[a], lists.chains[a + 1]):
            best = max(best, chart.incomplete[q] + out.incomplete[q])
        bounds[lists.head[a], lists.modifier[a]] = best


@jit()
def drop(lists, bounds, mask, limit):
    """Drop the arcs whose bound is no better than `limit`.

    Returns how many stay, and what no tree with one of the others exceeds.
    """
    kept = 1
    highest = -INF
    for a in range(1, lists.head.shape[0]):
        through = bounds[lists.head[a], lists.modifier[a]]
        if through <= limit:
            mask[lists.head[a], lists.modifier[a]] = 0
            highest = max(highest, through)
        else:
            kept += 1
    return kept, highest


@jit()
def widest_gap(lists, terms, relaxed, heads, backbone):
    """The free arc whose parts have the largest gap between bound and truth (3.3)."""
    size = lists.index.shape[0]
    gaps = np.zeros(lists.head.shape[0])
    for side in range(2 * size):
        low, high = lists.sides[side], lists.sides[side + 1]
        h = side // 2
        following = np.full(high - low + 1, high - low)  # rank of the next chosen sibling
        for j in range(high - low - 1, -1, -1):
            chosen = heads[lists.modifier[lists.members[low + j]]] == h
            following[j] = j if chosen else following[j + 1]
        last = -1
        for k in range(high - low):
            b = lists.members[low + k]
            outer = heads[lists.modifier[b]] == h
            for j in range(lists.pairs[b + 1] - lists.pairs[b]):
                a = lists.members[low + j]
                inner = heads[lists.modifier[a]] == h
                if backbone == SECOND:
                    if inner and outer and last == j:
                        continue  # adjacent: exact
                    one = outer and j < last
                    other = following[j + 1] < k
                    score, x = relaxed.pair[lists.pairs[b] + j], relaxed.pair_x[lists.pairs[b] + j]
                    if score < 0.0:
                        charged = (x if one else 0.0) - (x if other and not inner else 0.0)
                        gap = max((-score if one and inner else 0.0) - charged, 0.0)
                        gaps[a] += gap
                        gaps[b] += gap
                        continue
                    other = other and inner
                else:
                    one, other = outer, inner
                score, x = relaxed.pair[lists.pairs[b] + j], relaxed.pair_x[lists.pairs[b] + j]
                gap = pair_gap(score, x, one, other)
                gaps[a] += gap
                gaps[b] += gap
            if outer:
                last = k
    for h in range(1, size):
        p = lists.crosses[h]
        if p == lists.crosses[h + 1]:
            continue
        for i in range(lists.sides[2 * h], lists.sides[2 * h + 1]):
            a = lists.members[i]
            one = heads[lists.modifier[a]] == h
            for j in range(lists.sides[2 * h + 1], lists.sides[2 * h + 2]):
                b = lists.members[j]
                gap = pair_gap(
                    relaxed.cross[p], relaxed.cross_x[p], one, heads[lists.modifier[b]] == h
                )
                gaps[a] += gap
                gaps[b] += gap
                p += 1
    term_gaps(lists, terms, relaxed, heads, gaps)
    chain_gaps(lists, relaxed, heads, gaps)
    best, choice = -1.0, -1
    for a in range(1, lists.head.shape[0]):
        m = lists.modifier[a]
        if lists.first[m + 1] - lists.first[m] < 2:
            continue
        # without any gap, branch on the tree itself
        gap = gaps[a] + (1e-12 if heads[m] == lists.head[a] else 0.0)
        if gap > best:
            best, choice = gap, a
    return choice


@jit()
def pair_gap(score, x, one, other):
    if score > 0.0:
        bound = (x if one else 0.0) + (score - x if other else 0.0)
    else:
        bound = x - (x if one else 0.0) - (x if other else 0.0)
    return max(bound - (score if one and other else 0.0), 0.0)


@jit()
def term_gaps(lists, terms, relaxed, heads, gaps):
    for c in range(terms.score.shape[0]):
        begin, end = terms.offsets[c], terms.offsets[c + 1]
        value, need, size = terms.score[c], terms.need[c], end - begin
        number = 0
        paid = 0.0
        for i in range(begin, end):
            a = terms.arcs[i]
            if heads[lists.modifier[a]] == lists.head[a]:
                number += 1
                paid += relaxed.term_x[i]
        x = relaxed.term_x[begin]
        if value > 0.0 and need == size:
            bound = paid
        elif value < 0.0 and need == 1:
            bound = -paid
        elif value > 0.0:
            bound = value - x + x * number / need
        else:
            bound = -x * (number - need + 1) / (size - need + 1)
        gap = bound - (value if number >= need else 0.0)
        if gap > 0.0:
            for i in range(begin, end):
                gaps[terms.arcs[i]] += gap


@jit()
def chain_gaps(lists, relaxed, heads, gaps):
    if relaxed.chain_x.shape[0] == 0:
        return
    for a in range(1, lists.head.shape[0]):
        h = lists.head[a]
        if h == 0:
            continue
        above = lists.index[heads[h], h]
        actual = lists.chains[a] + above - lists.first[h]
        if heads[lists.modifier[a]] == h:
            best = relaxed.chain[actual]
            for q in range(lists.chains[a], lists.chains[a + 1]):
                best = max(best, relaxed.chain[q])
            if relaxed.chain[actual] > -INF:
                gaps[a] += best - relaxed.chain[actual]
                gaps[above] += best - relaxed.chain[actual]
        else:
            gaps[a] += relaxed.chain_x[actual]
            gaps[above] += relaxed.chain_x[actual]


class Search(NamedTuple):
    """How a node is worked on: `tolerance`, relative, closes a bound."""

    backbone: int
    iterations: int
    outside_every: int
    rate: float
    momentum: float
    tolerance: float
    projective: bool
    single_root: bool


@jit()
def near(found, pool, upper):
    """What a tree must reach to be climbed from: the smaller the gap, the nearer the best."""
    best = found if found > -INF else pool.scores[0]
    return best - 0.25 * max(upper - pool.scores[0], 0.0) if best > -INF else -INF


@jit()
def survive(lists, heads):
    """Whether all arcs of a tree are left."""
    for m in range(1, heads.shape[0]):
        if lists.index[heads[m], m] < 0:
            return False
    return True


@jit()
def work(scores, bounding, incidence, multipliers, pool, mask, search, table, tokens):
    """Lower the bound of one node; prunes `mask`, fills `pool`.

    `bounding` holds scores whose best tree bounds that of `scores`: mostly the same.
    `table` and `tokens` are work arrays of :func:`first_order`, or None: the type then tells
    the backbone, so that only this backbone is compiled.

    Returns
    -------
    upper
        What no tree of the arcs that are left exceeds; ``-inf`` if there is none.
    lost
        What no tree with an arc that was dropped exceeds.
    calls
        Passes of dynamic programming.
    h, m
        The arc to branch on; -1 if the node is closed.
    """
    size = mask.shape[0]
    k = pool.scores.shape[0]
    backbone = search.backbone
    second = backbone == SECOND
    with_chains = second or bounding.grandparents.shape[0] > 1
    with_pairs = second or bounding.siblings.shape[0] > 1
    upper = INF
    lost = -INF
    calls = 0
    polished = 0
    failures = rest = 0  # climbs that led nowhere, and trees to pass over before the next one
    found = -INF  # the best score of a tree as it came, before any climbing
    leader = pool.scores[0]
    # passes between two rounds of pruning, which an arborescence gives away with its tree
    seldom = 1 if backbone == SPANNING else search.outside_every
    every = seldom
    rate = search.rate
    heads = np.zeros(size, np.int32)
    seen = np.full(size, -1, np.int32)
    bounds = np.empty((size, size))
    unwanted = np.empty((0, 0))
    kept = 0
    while True:
        lists, complete = survivors(mask, search.single_root, with_chains, with_pairs)
        if not complete:
            return -INF, lost, calls, -1, -1
        terms = surviving_terms(lists, bounding)
        relaxed = relaxation(lists, terms, bounding, multipliers, backbone)
        charted = lists.head.shape[0] if second else 0
        chart = empty_chart(lists, charted, size)
        out = empty_chart(lists, charted, size)
        arcs = lists.head.shape[0]
        stalled = 0
        round_calls = 0
        while True:
            late = round_calls > 4 and polished < POLISHES  # easy nodes are done by then
            if table is None and late and pool.scores[0] > leader:
                leader = pool.scores[0]
                polished += 1
                calls += 1
                for m in range(size):
                    heads[m] = pool.heads[0, m]
                if survive(lists, heads):
                    linearise(lists, terms, relaxed, heads)
                    inside(lists, relaxed.arc, relaxed.start, relaxed.chain, relaxed.part, chart)
                    trace(
                        lists, relaxed.arc, relaxed.start, relaxed.chain, relaxed.part, chart,
                        heads,
                    )  # fmt: skip
                    truth = consider(
                        lists, scores, incidence, pool, heads, near(found, pool, upper),
                        search.projective, search.single_root,
                    )  # fmt: skip
                    found = max(found, truth)
                    continue
            constant = relax(lists, terms, relaxed, backbone)
            calls += 1
            round_calls += 1
            last = calls >= search.iterations
            prune = (round_calls - 1) % every == 0
            if table is None:
                value = inside(
                    lists, relaxed.arc, relaxed.start, relaxed.chain, relaxed.part, chart
                )
            else:
                value = first_order(
                    lists, relaxed.arc, table, tokens, heads, search.single_root,
                    bounds if prune else unwanted,
                )  # fmt: skip
            value += constant
            if value == -INF:
                return -INF, lost, calls, -1, -1
            if value < upper - 1e-3 * max(upper - pool.scores[k - 1], 0.0):
                stalled = 0
            else:
                stalled += 1
            upper = min(upper, value)
            if table is None:
                trace(lists, relaxed.arc, relaxed.start, relaxed.chain, relaxed.part, chart, heads)
            new = False
            for m in range(1, size):
                new = new or heads[m] != seen[m]
                seen[m] = heads[m]
            if new:
                bar = near(found, pool, upper) if rest == 0 else INF
                best = pool.scores[0]
                truth = consider(
                    lists, scores, incidence, pool, heads, bar, search.projective,
                    search.single_root,
                )  # fmt: skip
                found = max(found, truth)
                if pool.scores[0] > best:
                    failures = 0
                elif truth >= bar:
                    failures += 1
                rest = failures if truth >= bar else max(rest - 1, 0)
            threshold = pool.scores[k - 1]
            slack = search.tolerance * max(1.0, abs(pool.scores[0]))
            if upper <= threshold + slack:
                store(lists, terms, relaxed, multipliers)
                return upper, lost, calls, -1, -1
            if prune:
                if table is None:
                    outside(
                        lists, relaxed.arc, relaxed.start, relaxed.chain, relaxed.part, chart, out
                    )
                    marginals_second(lists, chart, out, bounds)
                kept, highest = drop(lists, bounds, mask, threshold + slack - constant)
                lost = max(lost, highest + constant)
                if backbone != SPANNING:
                    every = min(2 * every, 12) if kept > 0.97 * arcs else seldom
            if last:
                a = widest_gap(lists, terms, relaxed, heads, backbone)
                store(lists, terms, relaxed, multipliers)
                if a < 0:  # one tree is left, and the pool knows it
                    return min(upper, true_score(scores, incidence, heads)), lost, calls, -1, -1
                return upper, lost, calls, lists.head[a], lists.modifier[a]
            if prune and kept < 0.9 * arcs:
                break
            if stalled >= 3:
                rate *= 0.6
                stalled = 0
            target = threshold if threshold > -INF else pool.scores[0]
            descend(
                lists, terms, relaxed, heads, max(value - target, slack), rate,
                search.momentum, backbone,
            )  # fmt: skip
        store(lists, terms, relaxed, multipliers)


def work_arrays(backbone, size):
    """Return the work arrays of a backbone, as :func:`work` wants them."""
    if backbone == SECOND:
        return None, None
    table = np.empty((5, size, size))
    return table, np.empty((4, 2 * size), np.int64) if backbone == SPANNING else None
