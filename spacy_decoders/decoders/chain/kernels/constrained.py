"""Forward dominance where transitions are forbidden, over flat arrays.

Where a label x may be followed by labels that may not follow a pivot g, no difference of
transitions bounds what x can gain on g. It is bounded along a *reference path* instead, from
right to left. Let V(x) be the most that can come after label x at token i; g and h the
reference's labels at tokens i and i + 1; and, for the labels y of token i + 1,
``w(y) = emission[y] + V(y) - emission[h] - V(h) - T[g, h]``. Then V(x) - V(g) is at most

- ``T[x, h] + w(h)`` if h is the best to come after x;
- ``min(D[g, x], T[x, y] + w(y))`` if it is another label y that may follow g, with D as where
  nothing is forbidden;
- ``T[x, y] + w(y)`` if it is a label y that may not follow g.

w is bounded in the same way, from V(y) - V(h). Of the second case, only the largest w counts,
and the largest T[x, y] of each x. For the third, labels that the same labels may precede form
a group; of each group the best y counts by itself, and for the others their largest w, and
their largest T[x, y] of each x. Most labels have no evidence at a token: a w below `floor` is
counted as `floor`, which D takes in from the start for the third case.

So what 64 labels can gain is found from a few rows: one of D, and those of the *live* labels
and groups, each with its `pull` w. The model and the survivors are laid out as `dominance`
says; what is derived of a sentence has rows of whole words of 64 labels. Behind such a row
stands its *crest*: for each word and each of 16 lanes the largest of the four in that lane,
so that most words fall by a quarter of the work.
"""

import numpy as np

from ....jit import jit, uncounted
from ....simd import (
    add,
    at_least,
    fill16,
    fill64,
    first_lane,
    fold_largest,
    fold_magnitudes,
    keep_lanes,
    largest,
    load16,
    load64,
    load_acquire,
    maximum,
    minimum,
    select_greater,
    store,
    store_release,
    subtract,
)
from .dominance import DEAD, DENSE, DONE, FULL, LOST, UNSOUND, given_up
from .layout import BLOCK, FORBIDDEN, LANES, LOWEST, all_valid, are_small, emissions64, prefetch64
from .reach import reach

__all__ = ["forward", "workspace"]

CROWD = 16  # survivors of a token, above which the best of them drop others
BEAM = 6  # most labels of a token that a reference path is sought through
ROUNDING = 2.0**-21  # more than the roundings of a bound may take, relative to its terms
PIVOTS = 3  # the best survivors that drop others where there are many


@jit(inline="always")
def widths(size):
    """Return the width of a row of words, and of a row with its crest."""
    words = (size + BLOCK - 1) // BLOCK
    return words * BLOCK, words * (BLOCK + LANES)


@jit()
def sweep(names, scores, first, past, rows, out, at, size, stride):
    """Set ``out[at + y]`` to the best of score + entry of a row over some rows."""
    for word in range(0, size, BLOCK):
        reach(names, scores, first, past, rows, word, out, at + word, stride, 1, 4)


@jit(inline="always")
def until(count):
    """Return the mask of the first `count` lanes of a word."""
    return (np.int64(1) << count) - 1 if count < BLOCK else np.int64(-1)


@uncounted()
def fill_row(transitions, table, floor, ready, g, size, stride):
    """Fill in what any label can gain on label g by what follows.

    ``table[g, x] = max over y of (T[x, y] - T[g, y])``, rounded upwards, over the labels y
    that may follow g; over those that may not, ``floor + T[x, y]``.
    """
    at = g * stride
    for x in range(size):
        gains, links = fill16(FORBIDDEN), fill16(FORBIDDEN)
        for block in range(0, stride, LANES):
            ours = load16(transitions, x * stride + block)
            theirs = load16(transitions, at + block)
            none = fill16(FORBIDDEN)
            gains = maximum(select_greater(theirs, none, subtract(ours, theirs), none), gains)
            links = maximum(select_greater(theirs, none, none, ours), links)
        bound = max(np.float64(largest(gains)), np.float64(largest(links)) + floor)
        if bound > -np.inf:
            bound += (abs(bound) + abs(floor)) * ROUNDING
        table[at + x] = bound
    table[at + size : at + stride] = FORBIDDEN
    store_release(ready, g)


@jit(inline="always")
def inflated(top, base):
    """Return ``top - base`` as float32, rounded upwards."""
    return np.float32(top - base + (abs(top) + abs(base)) * ROUNDING)


@jit(inline="always")
def enter(names, scores, first, past, model, emissions, row, size, last, running, crests, i):
    """Write what all labels of token i are worth, entered from some labels, to row i of `running`.

    With them their crest; and to row i of `crests`, that of the emissions (at the last token,
    of emission and end). Returns the largest worth, and the sums of the sizes of all emissions.
    """
    transitions, end, stride = model[0], model[1], len(model[1])
    body, wide = widths(size)
    at, high = i * wide, i * (wide - body)
    one = past - first == 1
    lead = names[first] * stride
    if not one:
        sweep(names, scores, first, past, transitions, running, at, size, stride)
    peak, sums = fill16(FORBIDDEN), fill16(np.float32(0))
    for word in range(0, size, BLOCK):
        prefetch64(emissions, row + size + word)
        own = emissions64(emissions, row, word, size)
        sums = add(sums, fold_magnitudes(own))
        if last:
            own = add(own, load64(end, word))
        step = load64(transitions, lead + word) if one else load64(running, at + word)
        worth = add(step, own)
        store(running, at + word, worth)
        ridge = fold_largest(worth)
        store(running, at + body + word // 4, ridge)
        store(crests, high + word // 4, fold_largest(own))
        peak = maximum(ridge, peak)
    return largest(peak), sums


@uncounted()
def choose_reference(model, emissions, begin, n, size, work):
    """Find a good path by a beam of the labels that are little worse than the best.

    Its labels go to `refs`; to `crests`, those of the emissions (and at the last token, of
    emission and end). Returns whether the beam found a legal path, and the sums of the
    sizes of all emissions met.
    """
    transitions, stride, margin = model[0], len(model[1]), model[10]
    running, refs, crests, sources = work[1], work[2], work[3], work[16]
    beam, scores, tried, origins = work[4], work[5], work[6], work[7]
    body, wide = widths(size)
    sums = fill16(np.float32(0))
    beam[0], scores[0] = size, 0.0
    width = np.int64(1)
    for i in range(n):
        row, at = (begin + i) * size, i * wide
        last = i == n - 1
        sources[i] = beam[0] if width == 1 else -1
        top, local = enter(
            beam, scores, 0, width, model, emissions, row, size, last, running, crests, i
        )
        sums = add(sums, local)
        if not (FORBIDDEN < top < np.inf):
            return False, sums
        floor = max(top - margin, LOWEST)
        here = i * BEAM
        kept = 0
        for ridge in range(at + body, at + wide, BLOCK):
            hot = at_least(load64(running, ridge), fill64(floor)) & until(at + wide - ridge)
            while hot:
                lane = first_lane(hot) & -LANES
                hot &= ~(np.int64(0xFFFF) << lane)
                word = 4 * (ridge + lane - at - body)
                bits = at_least(load64(running, at + word), fill64(floor))
                while bits:
                    y = word + first_lane(bits)
                    bits &= bits - 1
                    if kept == BEAM and not running[at + y] > floor:
                        continue
                    k = min(kept, BEAM - 1)
                    kept = min(kept + 1, BEAM)
                    while k > 0 and running[at + tried[here + k - 1]] < running[at + y]:
                        tried[here + k] = tried[here + k - 1]
                        k -= 1
                    tried[here + k] = y
                    if kept == BEAM:
                        floor = max(floor, running[at + tried[here + BEAM - 1]])
        if kept == 0:
            return False, sums
        for j in range(kept):
            y = tried[here + j]
            origins[here + j] = 0
            most = FORBIDDEN
            for k in range(width):
                score = scores[k] + transitions[beam[k] * stride + y]
                if score > most:
                    most = score
                    origins[here + j] = k
        for j in range(kept):
            y = tried[here + j]
            beam[j], scores[j] = y, running[at + y] - top
        width = np.int64(kept)
    k = np.int64(0)
    for i in range(n - 1, -1, -1):
        refs[i] = tried[i * BEAM + k]
        k = origins[i * BEAM + k]
    return True, sums


@uncounted()
def look_ahead(model, emissions, begin, n, size, work):
    """Bound what labels can gain on the reference path by what follows.

    The gains at token i, with their crest, go to row i of `gains`.
    """
    transitions, end, table, ready, rows, groups, legal, _, _, floor, _ = model
    refs, crests, gains, hopes = work[2], work[3], work[8], work[17]
    live, pulls = work[9], work[10]
    firsts, seconds, bests = work[11], work[12], work[15]
    stride = len(end)
    body, wide = widths(size)
    high = wide - body
    words = body // BLOCK
    outs = (size + len(firsts)) * stride  # the row of the largest T[x, y] of each x
    used = 0
    live[0], pulls[0] = 0, 0.0
    rest = np.float32(0)  # the largest w of all labels that are not live
    for i in range(n - 1, -1, -1):
        row = (begin + i) * size
        last = i == n - 1
        own, before = refs[i], refs[max(i - 1, 0)]
        lead = own * stride
        at = i * wide
        one, pull = live[0] * stride, pulls[0]
        if not last:
            if not load_acquire(ready, own):
                fill_row(transitions, table, floor, ready, own, size, stride)
            if used > 1:
                sweep(live, pulls, 0, used, rows, gains, at, size, stride)
        link = np.float64(transitions[before * stride + own])
        base = link + np.float64(emissions[row + own])
        if last:
            base += np.float64(end[own])
        least = np.float32(base + floor - (abs(base) + abs(floor)) * ROUNDING)
        most = fill16(FORBIDDEN)
        touched = np.int64(0)
        for word in range(0, size, BLOCK):
            prefetch64(table, before * stride + word)
            prefetch64(rows, lead + word)
            more = fill64(np.float32(0))  # nothing follows the last token
            if not last:
                of_rest = add(load64(rows, outs + word), fill64(rest))
                more = minimum(load64(table, lead + word), of_rest)
                if used > 1:
                    more = maximum(load64(gains, at + word), more)
                else:
                    more = maximum(add(load64(rows, one + word), fill64(pull)), more)
            if word + BLOCK > size:
                # behind the last label, rows hold what nobody wrote
                more = keep_lanes(until(size - word), more)
            store(gains, at + word, more)
            ridge = fold_largest(more)
            store(gains, at + body + word // 4, ridge)
            if i == 0:
                continue
            hope = add(load16(crests, i * high + word // 4), ridge)
            if not at_least(hope, fill16(least)):
                continue
            followers = legal[before * words + word // BLOCK]
            closed = ~followers
            if word <= own < word + BLOCK:
                followers &= ~(np.int64(1) << (own - word))
            worth = emissions64(emissions, row, word, size)
            if last:
                worth = add(worth, load64(end, word))
            worth = add(worth, more)
            store(hopes, word, worth)
            bits = at_least(worth, fill64(least))
            most = maximum(fold_largest(keep_lanes(followers, worth)), most)
            bits &= closed
            while bits:
                y = word + first_lane(bits)
                bits &= bits - 1
                c, value = groups[y], hopes[y]
                touched |= np.int64(1) << c
                # no branches: which label is the best of its group cannot be predicted
                first = firsts[c]
                seconds[c] = max(seconds[c], min(first, value))
                firsts[c] = max(first, value)
                bests[c] += np.int64(value > first) * (y - bests[c])
        rest = inflated(max(np.float64(largest(most)), base + floor), base)
        live[0], pulls[0] = own, inflated(0.0, link)
        used = 1
        while touched:
            c = first_lane(touched)
            touched &= touched - 1
            live[used], pulls[used] = bests[c], inflated(np.float64(firsts[c]), base)
            used += 1
            if seconds[c] > FORBIDDEN:
                live[used], pulls[used] = size + c, inflated(np.float64(seconds[c]), base)
                used += 1
            firsts[c] = seconds[c] = FORBIDDEN


@uncounted()
def forward(model, emissions, begin, n, size, work, names, scores):
    """Find the survivors of each token of one sentence, as `dominance` says."""
    legal, sums = choose_reference(model, emissions, begin, n, size, work)
    if not (are_small(sums) or all_valid(emissions, begin * size, (begin + n) * size)):
        return UNSOUND
    if not legal:
        return LOST
    look_ahead(model, emissions, begin, n, size, work)
    return advance(model, emissions, begin, n, size, work, names, scores)


@uncounted()
def advance(model, emissions, begin, n, size, work, names, scores):
    """Do what `forward` says, given the reference path and what can be gained on it."""
    stride = len(model[1])
    marks, running, refs, crests = work[0], work[1], work[2], work[3]
    gains, sources = work[8], work[16]
    body, wide = widths(size)
    names[0], scores[0] = size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    for i in range(n):
        row = (begin + i) * size
        last = i == n - 1
        at = i * wide
        if past - first > 1 or names[first] != sources[i]:
            # else the reference came from here alone: all labels are scored already
            sources[i] = -1
            enter(
                names, scores, first, past, model, emissions, row, size, last, running, crests, i
            )
        threshold = max(running[at + refs[i]], LOWEST)
        start = used = past
        if used + size > len(names):
            return FULL
        for ridge in range(at + body, at + wide, BLOCK):
            hope = add(load64(running, ridge), load64(gains, ridge))
            hot = at_least(hope, fill64(threshold)) & until(at + wide - ridge)
            while hot:
                lane = first_lane(hot) & -LANES
                hot &= ~(np.int64(0xFFFF) << lane)
                word = 4 * (ridge + lane - at - body)
                worth = add(load64(running, at + word), load64(gains, at + word))
                bits = at_least(worth, fill64(threshold))
                while bits:
                    x = word + first_lane(bits)
                    bits &= bits - 1
                    names[used], scores[used] = x, running[at + x]
                    used += 1
        best = FORBIDDEN
        where = start
        for k in range(start, used):
            if scores[k] > best:
                best, where = scores[k], k
        if not (FORBIDDEN < best < np.inf):
            return DEAD
        names[start], names[where] = names[where], names[start]
        scores[where], scores[start] = scores[start], 0.0
        for k in range(start + 1, used):
            scores[k] -= best
        if used - start > CROWD and not last:
            used = thinned(model, work, names, scores, start, used, size, stride)
        first, past = start, used
        marks[i + 2] = used
        if given_up(used, i, n, size):
            return DENSE
    return DONE


@uncounted()
def thinned(model, work, names, scores, start, used, size, stride):
    """Drop survivors that another beats whatever follows, and return the new end.

    First the best of those with the same followers drops others, then each of the next best
    those whose followers may all follow it too.
    """
    transitions, _, table, ready, _, _, _, kinds, within, floor, _ = model
    leaders, peaks = work[13], work[14]
    for k in range(start, used):
        peaks[kinds[names[k]]] = FORBIDDEN
    for k in range(start, used):
        kind = kinds[names[k]]
        if scores[k] > peaks[kind]:
            leaders[kind], peaks[kind] = names[k], scores[k]
    kept = start
    for k in range(start, used):
        x, score = names[k], scores[k]
        kind = kinds[x]
        g = leaders[kind]
        if not load_acquire(ready, g):
            fill_row(transitions, table, floor, ready, g, size, stride)
        names[kept], scores[kept] = x, score
        # counting, not branching: who is kept cannot be predicted
        kept += np.int64(score + table[g * stride + x] >= peaks[kind])
    used = kept
    lead = start
    while lead < start + PIVOTS and used - start > CROWD:
        lead += 1
        for k in range(lead + 1, used):
            if scores[k] > scores[lead]:
                names[lead], names[k] = names[k], names[lead]
                scores[lead], scores[k] = scores[k], scores[lead]
        g = names[lead]
        if not load_acquire(ready, g):
            fill_row(transitions, table, floor, ready, g, size, stride)
        least = scores[lead]
        kind = kinds[g]
        kept = lead + 1
        for k in range(lead + 1, used):
            x, score = names[k], scores[k]
            names[kept], scores[kept] = x, score
            stays = score + table[g * stride + x] >= least
            kept += np.int64(stays or not within[kinds[x], kind])
        used = kept
    return used


@jit()
def aligned(count):
    """Return room for floats as `flat.aligned` does, which a kernel cannot call."""
    room = np.empty(count + BLOCK + LANES, np.float32)
    skipped = -(room.ctypes.data // 4) % LANES
    return room[skipped : skipped + count]


@jit()
def workspace(model, longest, size):
    """Return scratch space, and the lists of survivors."""
    stride = len(model[1])
    body, wide = widths(size)
    count = len(model[4]) // stride - size - 1
    work = (
        np.zeros(longest + 2, np.int64),  # marks
        aligned(longest * wide),  # running scores
        np.empty(longest + 1, np.int64),  # reference path
        np.empty(longest * (wide - body), np.float32),  # crests of the emissions
        np.empty(BEAM, np.int64),  # labels in the beam
        np.empty(BEAM, np.float32),  # their scores
        np.empty(BEAM * longest, np.int64),  # labels that were in the beam
        np.empty(BEAM * longest, np.int64),  # their places in the beam before
        aligned(longest * wide),  # gains
        np.empty(2 * count + 1, np.int64),  # live rows
        np.empty(2 * count + 1, np.float32),  # their pulls
        np.full(count, FORBIDDEN),  # the best w of each group
        np.full(count, FORBIDDEN),  # the second best
        np.empty(size, np.int64),  # the best label of each kind
        np.empty(size, np.float32),  # its score
        np.zeros(count, np.int64),  # the best label of each group
        np.empty(longest, np.int64),  # the one label that each token was entered from, or -1
        aligned(body),  # hopes
    )
    room = 4 * longest + 2 * size + 2
    return work, np.empty(room, np.int64), np.empty(room, np.float32)
