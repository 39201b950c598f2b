"""Dominance among pairs of labels, over flat arrays.

A pair (x, y) is two labels in a row, and what follows it is row ``y * (size + 1) + x`` of the
links, as `SecondOrderModel.links` says. Rows are `stride` wide, a multiple of 16, padded with
``-inf``. Before the first token stands the pair (0, size), whose row holds the start scores,
and the first token's label follows the label `size`.

The pairs that survive at a token share few last labels, and all that share one lead to the same
pairs: so the running scores have a row, called a *slot*, for each of these, and in it a column
for the next label. The best pair of a token has the score 0.
"""

import numpy as np

from ....jit import jit, uncounted
from .vectors import (
    LANES,
    add,
    any_lane,
    at_least,
    either,
    fill,
    first_lane,
    greater,
    largest,
    load,
    load_part,
    maximum,
    multiply,
    nowhere,
    publish,
    published,
    select,
    store,
    subtract,
    unsound,
)

__all__ = ["decode"]

UNIT32 = 2.0**-24
FORBIDDEN = np.float32(-np.inf)
EVERYTHING = np.float32(3e38)
CROWD = 5  # slots, from which on pairs of the same last label are compared
SHARE = 16  # a sentence is given up when more than one in so many pairs survive on average
SPARE = 2  # or so many, where there are few labels
# how a sentence ended: decoded, no legal path, left to the dense decoder
DONE, DEAD, DENSE = 0, 1, 2


@uncounted()
def fill_gains(model, h, size):
    """Fill in what label v before label z can gain on label h before z, by what follows.

    ``gains[h, v, z] = max over w of (triples[v, z, w] - triples[h, z, w])``, rounded upwards,
    and at least 0: at the end of a sentence nothing follows.
    """
    links, end, gains, ready = model[0], model[1], model[2], model[3]
    stride = len(end)
    for v in range(size):
        at = (h * size + v) * stride
        for z in range(stride):
            gains[at + z] = 0.0
        for z in range(size):
            peak = fill(np.float32(0))
            for block in range(0, stride, LANES):
                ours = load(links, (z * (size + 1) + v) * stride + block)
                theirs = load(links, (z * (size + 1) + h) * stride + block)
                # a difference of two -inf is NaN, which `maximum` passes over
                peak = maximum(subtract(ours, theirs), peak)
            gains[at + z] = np.float64(largest(peak)) * (1.0 + 2.0**-22)
    publish(ready, h)


@uncounted()
def fill_bounds(model, g, h, size):
    """Fill in what any pair can gain on the pair (g, h) by what follows, by its last label v.

    Over the labels z that may follow (g, h), that is the largest difference of the links plus
    what v before z can then gain on h before z.
    """
    links, end, gains, gains_ready, most = model[0], model[1], model[2], model[3], model[4]
    bounds, ready, lags, spread = model[6], model[7], model[8], model[9]
    stride = len(end)
    if not published(gains_ready, h):
        fill_gains(model, h, size)
    row = h * (size + 1) + g
    # more than what three float32 roundings can have hidden
    doubt = spread * 2.0**-22
    lag = 0.0
    for v in range(stride):
        bounds[row * stride + v] = FORBIDDEN
        if v >= size:
            continue
        peak = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            theirs = load(links, row * stride + block)
            if g == size:
                ours = load(links, (v * (size + 1) + size) * stride + block)
            else:
                ours = load(most, v * stride + block)
            gain = add(subtract(ours, theirs), load(gains, (h * size + v) * stride + block))
            is_open = greater(theirs, fill(FORBIDDEN))
            peak = maximum(select(is_open, gain, fill(FORBIDDEN)), peak)
        bound = np.float64(largest(peak)) + doubt
        bounds[row * stride + v] = bound
        if bound < np.inf:
            lag = max(lag, bound)
    lags[row] = lag
    publish(ready, row)


@jit(inline="always")
def emission(emissions, row, block, size):
    if block + LANES <= size:
        return load(emissions, row + block)
    return load_part(emissions, row + block, size - block)


@uncounted()
def look_ahead(model, emissions, begin, n, size, work, path):
    """Bound what any pair can gain on the pair of a path, where some labels may not follow that.

    Where there is a path, row i of `hopes` holds, for each last label at token i, the larger of
    the bound by the labels that may follow the path's pair and of the most that may come of
    those that may not, with all of the future. Without one it holds ``inf``.
    """
    links, end, into, bounds, ready = model[0], model[1], model[5], model[6], model[7]
    lags, spread, magnitude = model[8], model[9], model[10]
    running, hopes, limits = work[3], work[5], work[6]
    stride = len(end)
    for i in range(n - 2, -1, -1):
        here = i * stride
        limits[i] = 0.0
        for block in range(0, stride, LANES):
            store(hopes, here + block, fill(np.float32(np.inf)))
        if len(path) == 0:
            continue
        x, y, z = path[i - 1] if i else np.int64(size), path[i], path[i + 1]
        pair = y * (size + 1) + x
        if not published(ready, pair):
            fill_bounds(model, x, y, size)
        limits[i] = lags[pair]
        row = (begin + i + 1) * size
        after = np.float64(links[pair * stride + z]) + np.float64(emissions[row + z])
        if i == n - 2:
            after += np.float64(end[z])
        sizes = fill(np.float32(abs(after) + spread + magnitude))
        rest = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            store(hopes, here + block, load(bounds, pair * stride + block))
            local = emission(emissions, row, block, size)
            ahead = load(end, block) if i == n - 2 else load(hopes, here + stride + block)
            worth = add(local, ahead)
            # more than what the roundings here and where it is used can have hidden
            doubt = add(add(positive(worth), positive(local)), sizes)
            worth = add(worth, multiply(doubt, fill(np.float32(2.0**-20))))
            worth = subtract(worth, fill(np.float32(after)))
            # the sum of inf and -inf is NaN, which fails all comparisons
            most = add(worth, load(into, size * stride + block))
            is_open = greater(load(links, pair * stride + block), fill(FORBIDDEN))
            most = select(is_open, fill(FORBIDDEN), most)
            store(running, block, worth)
            store(running, stride + block, most)
            rest = maximum(select(greater(fill(np.float32(0)), most), most, rest), rest)
        # labels that are behind whatever they follow need no closer look
        rest = fill(largest(rest))
        for block in range(0, stride, LANES):
            store(hopes, here + block, maximum(rest, load(hopes, here + block)))
        for block in range(0, stride, LANES):
            bits = at_least(load(running, stride + block), fill(np.float32(0)))
            while bits:
                w = block + first_lane(bits)
                bits &= bits - 1
                worth = fill(running[w])
                for lane in range(0, stride, LANES):
                    hope = add(worth, load(into, w * stride + lane))
                    store(hopes, here + lane, maximum(hope, load(hopes, here + lane)))
                if running[stride + w] < np.inf:
                    limits[i] = max(limits[i], running[stride + w])


@jit(inline="always")
def positive(floats):
    """Return the absolute values, lane by lane."""
    return maximum(subtract(fill(np.float32(0)), floats), floats)


@uncounted()
def forward(model, emissions, begin, n, size, work, pairs, scores, path, guided):
    """Find the survivors of each token of one sentence.

    Those of token i are ``marks[i + 1]:marks[i + 2]`` of `pairs` and `scores`; of the last
    token, only the best. A pair survives unless the best pair beats it, whatever may follow
    that; or if `guided`, unless that of `path` beats it by what `look_ahead` found.

    Returns
    -------
    status, token
        `DONE`; or `DEAD` at a token; or `DENSE` if too many survive.
    total
        Sum of the sizes of all roundings on a path that counts.
    bad
        The mask of unsound emissions.
    """
    links, end, gains, gains_ready = model[0], model[1], model[2], model[3]
    bounds, ready, lags, spread, magnitude = model[6], model[7], model[8], model[9], model[10]
    marks, slots, owners, running, local, hopes, limits = work[:7]
    stride = len(end)
    bad = nowhere()
    pairs[0], pairs[1], scores[0] = 0, size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    total, lag, step = 0.0, 0.0, 0.0
    patience = size * size // SHARE + SPARE
    for i in range(n):
        last = i == n - 1
        row = (begin + i) * size
        for block in range(0, stride, LANES):
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            if last:
                worth = add(worth, load(end, block))
            store(local, block, worth)
        count = 0
        for k in range(first, past):
            x, y = pairs[2 * k], pairs[2 * k + 1]
            slot = slots[y]
            fresh = slot < 0
            if fresh:
                slot = count
                slots[y], owners[slot] = slot, y
                count += 1
            link, at = (y * (size + 1) + x) * stride, slot * stride
            score = fill(scores[k])
            for block in range(0, stride, LANES):
                worth = add(score, load(links, link + block))
                if not fresh:
                    worth = maximum(worth, load(running, at + block))
                store(running, at + block, worth)
        peak = fill(FORBIDDEN)
        for slot in range(count):
            at = slot * stride
            for block in range(0, stride, LANES):
                worth = add(load(running, at + block), load(local, block))
                store(running, at + block, worth)
                peak = maximum(worth, peak)
        top = largest(peak)
        if not (FORBIDDEN < top < np.inf):
            release(slots, owners, count)
            return DEAD, i, total, bad
        g, h = pivot(running, owners, count, top, stride)
        start = used = past
        before, lag = lag, 0.0
        if last:
            pairs[2 * start], pairs[2 * start + 1], scores[start] = g, h, 0.0
            used += 1
        else:
            floor = np.float32(0)
            if len(path):
                x, floor = path[i - 1] if i else np.int64(size), -EVERYTHING
                if slots[x] >= 0:
                    g, h = x, np.int64(path[i])
                    floor = max(running[slots[g] * stride + h] - top, floor)
            lead = slots[g] * stride
            best = h * (size + 1) + g
            if not published(ready, best):
                fill_bounds(model, g, h, size)
            crowded = count >= CROWD
            if crowded and not published(gains_ready, g):
                fill_gains(model, g, size)
            for slot in range(count):
                at, owner = slot * stride, owners[slot]
                rival = (g * size + owner) * stride
                for block in range(0, stride, LANES):
                    worth = subtract(load(running, at + block), fill(top))
                    if guided:
                        hope = add(worth, load(hopes, i * stride + block))
                    else:
                        hope = add(worth, load(bounds, best * stride + block))
                    bits = at_least(hope, fill(floor))
                    if crowded:
                        hope = add(worth, load(gains, rival + block))
                        other = subtract(load(running, lead + block), fill(top))
                        bits &= at_least(hope, other)
                    if bits:
                        store(local, 0, worth)
                    while bits:
                        lane = first_lane(bits)
                        bits &= bits - 1
                        pairs[2 * used], pairs[2 * used + 1] = owner, block + lane
                        scores[used] = local[lane]
                        used += 1
                if used > start + 4 * patience + size:
                    release(slots, owners, count)
                    return DENSE, np.int64(i), total, bad
            if crowded and used > start + CROWD:
                used = refine(model, work, pairs, scores, start, used, size)
            lag = np.float64(lags[best])
            if guided:
                lag = np.float64(limits[i]) + spread
                if floor > -EVERYTHING:
                    lag -= np.float64(floor)
            for k in range(start, used):
                lag = max(lag, -np.float64(scores[k]))
        release(slots, owners, count)
        # every running score that counts lies between top - lag and top
        step = 2.0 * lag + before + abs(np.float64(top)) + 2.0 * magnitude
        total += step
        first, past = start, used
        marks[i + 2] = used
        if used > patience * (i + 2):
            return DENSE, np.int64(i), total, bad
    # the last step once more, for the end score
    return DONE, np.int64(-1), total + step, bad


@jit(inline="always")
def release(slots, owners, count):
    """Leave no label with a slot."""
    for slot in range(count):
        slots[owners[slot]] = -1


@jit(inline="always")
def pivot(running, owners, count, top, stride):
    """Return the pair that is worth `top`."""
    for slot in range(count):
        for block in range(0, stride, LANES):
            bits = at_least(load(running, slot * stride + block), fill(top))
            if bits:
                return owners[slot], block + first_lane(bits)
    return np.int64(-1), np.int64(-1)


@jit(inline="always")
def refine(model, work, pairs, scores, start, used, size):
    """Of pairs with the same last label, keep those that may still win against the best.

    Returns the new end.
    """
    gains, ready, stride = model[2], model[3], len(model[1])
    leaders, peaks = work[7], work[8]
    for k in range(start, used):
        peaks[pairs[2 * k + 1]] = FORBIDDEN
    for k in range(start, used):
        y = pairs[2 * k + 1]
        if scores[k] > peaks[y]:
            leaders[y], peaks[y] = pairs[2 * k], scores[k]
    kept = start
    for k in range(start, used):
        x, y, score = pairs[2 * k], pairs[2 * k + 1], scores[k]
        leader = leaders[y]
        if not published(ready, leader):
            fill_gains(model, leader, size)
        pairs[2 * kept], pairs[2 * kept + 1], scores[kept] = x, y, score
        # counting, not branching: who is kept cannot be predicted
        kept += np.int64(score + gains[(leader * size + x) * stride + y] >= peaks[y])
    return kept


@uncounted()
def trace(links, stride, size, marks, pairs, scores, labels, n):
    """Follow the best labelling of a sentence back through the survivors."""
    x, y = pairs[2 * marks[n]], pairs[2 * marks[n] + 1]
    for i in range(n - 1, 0, -1):
        labels[i] = y
        most, before = FORBIDDEN, np.int64(0)
        for k in range(marks[i], marks[i + 1]):
            if pairs[2 * k + 1] == x:
                reached = scores[k] + links[(x * (size + 1) + pairs[2 * k]) * stride + y]
                if reached > most:
                    most, before = reached, pairs[2 * k]
        x, y = before, x
    labels[0] = y


@jit()
def decode(model, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    slacks
        **Shape (sentences,)**: what rounding may have cost.
    left
        Sentences in which so many pairs survive that dense decoding is faster.
    sound
        Whether all emissions met are neither NaN nor ``+inf``.
    sentence, token
        Where the first dead end is; -1 without one.
    """
    links, stride, ahead = model[0], len(model[1]), len(model[5]) > 0
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    slacks = np.zeros(count)
    left = np.zeros(count, np.int64)
    lefts = 0
    longest = 0
    for s in range(count):
        longest = max(longest, offsets[s + 1] - offsets[s])
    work = (
        np.zeros(longest + 2, np.int64),  # marks
        np.full(size + 1, -1),  # the slot of a last label
        np.empty(size + 1, np.int64),  # the last label of a slot
        np.empty((size + 1) * stride, np.float32),  # running scores
        np.empty(stride, np.float32),  # emissions of a token, then scratch
        np.empty((longest if ahead else 0) * stride, np.float32),  # hopes
        np.empty(longest, np.float32),  # their limits
        np.empty(size, np.int64),  # the best label before each last label
        np.empty(size, np.float32),  # its score
    )
    patience = size * size // SHARE + SPARE
    room = patience * (longest + 8) + 2 * size + 2
    pairs, scores = np.empty(2 * room, np.int64), np.empty(room, np.float32)
    bad = nowhere()
    skip = 0  # sentences that go to the dense decoder untried, since those before did
    wait = 1
    for s in range(count):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        if skip > 0:
            skip -= 1
            left[lefts] = s
            lefts += 1
            continue
        found = labels[begin : begin + n]
        path = found[:0]
        status, token, total, bad_here = forward(
            model, emissions, begin, n, size, work, pairs, scores, path, False
        )
        bad = either(bad, bad_here)
        if ahead and status != DENSE:
            # that pass took no heed of what only others can reach. The good path that it found
            # makes that little in a second
            if status == DONE:
                trace(links, stride, size, work[0], pairs, scores, found, n)
                path = found
            look_ahead(model, emissions, begin, n, size, work, path)
            status, token, total, bad_here = forward(
                model, emissions, begin, n, size, work, pairs, scores, path, True
            )
            bad = either(bad, bad_here)
        if status == DEAD:
            return labels, slacks, left[:lefts], not any_lane(bad), s, token
        if status == DENSE:
            skip = wait
            wait = min(4 * wait, 64)
            left[lefts] = s
            lefts += 1
            continue
        wait = 1
        slacks[s] = 2.0 * UNIT32 * total * (1.0 + 1e-5)
        trace(links, stride, size, work[0], pairs, scores, found, n)
    return labels, slacks, left[:lefts], not any_lane(bad), -1, -1
