"""Dominance among pairs of labels, over flat arrays.

A pair (x, y) is two labels in a row, and what follows it is row ``y * (size + 1) + x`` of the
links, as `SecondOrderModel.links` says. Rows are `stride` wide, a multiple of 16, padded with
``-inf``. Before the first token stands the pair (0, size), whose row holds the start scores,
and the first token's label follows the label `size`.

The pairs that survive at a token share few last labels, and all that share one lead to the same
pairs: so the running scores have a row, called a *slot*, for each of these, and in it a column
for the next label. The first survivor of a token is the best, with the score 0.
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
    largest,
    load,
    load_part,
    maximum,
    nowhere,
    publish,
    published,
    store,
    subtract,
    unsound,
)

__all__ = ["decode"]

UNIT32 = 2.0**-24
FORBIDDEN = np.float32(-np.inf)
CROWD = 3  # slots, from which on pairs are first compared with those of the same last label
SHARE = 8  # a sentence is given up when more than one in so many pairs survive on average
SPARE = 4  # or so many, where there are few labels
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
def lead(model, u, v, g, h, size):
    """Return the most that the pair (u, v) can gain on (g, h) by what follows; any u if -1.

    The largest, over the next label z, of the difference of the links, plus what (v, z) can
    then gain on (h, z).
    """
    links, end, gains, most = model[0], model[1], model[2], model[4]
    stride = len(end)
    theirs = (h * (size + 1) + g) * stride
    ahead = (h * size + v) * stride
    peak = fill(FORBIDDEN)
    for block in range(0, stride, LANES):
        if u < 0:
            ours = load(most, v * stride + block)
        else:
            ours = load(links, (v * (size + 1) + u) * stride + block)
        gain = subtract(ours, load(links, theirs + block))
        peak = maximum(add(gain, load(gains, ahead + block)), peak)
    return largest(peak)


@uncounted()
def fill_bounds(model, g, h, size):
    """Fill in what any pair can gain on the pair (g, h) by what follows, by its last label."""
    end, gains_ready = model[1], model[3]
    bounds, ready, lags, spread = model[6], model[7], model[8], model[9]
    stride = len(end)
    if not published(gains_ready, h):
        fill_gains(model, h, size)
    row = h * (size + 1) + g
    # more than what three float32 roundings can have hidden
    doubt = spread * 2.0**-22
    lags[row] = 0.0
    for v in range(stride):
        bound = -np.inf
        if v < size:
            bound = np.float64(lead(model, size if g == size else -1, v, g, h, size)) + doubt
        bounds[row * stride + v] = bound
        if bound < np.inf:
            lags[row] = max(lags[row], bound)
    publish(ready, row)


@uncounted()
def forward(model, emissions, begin, n, size, work, pairs, scores):
    """Find the survivors of each token of one sentence.

    Those of token i are ``marks[i + 1]:marks[i + 2]`` of `pairs` and `scores`.

    Returns
    -------
    status, token
        `DONE`; or `DEAD` at a token; or `DENSE` if too many survive.
    total
        Sum of the sizes of all roundings on a path that counts.
    bad
        The mask of unsound emissions.
    """
    links, end, bounds, ready = model[0], model[1], model[6], model[7]
    ease, lags, spread, magnitude, ahead = model[5], model[8], model[9], model[10], model[11]
    marks, slots, owners, running, local, crest = work
    stride = len(end)
    bad = nowhere()
    nothing = fill(FORBIDDEN)
    pairs[0], pairs[1], scores[0] = 0, size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    total, lag, step = 0.0, 0.0, 0.0
    patience = size * size // SHARE + SPARE
    for i in range(n):
        last = i == n - 1
        row = (begin + i) * size
        for block in range(0, stride, LANES):
            if block + LANES <= size:
                worth = load(emissions, row + block)
            else:
                worth = load_part(emissions, row + block, size - block)
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
        peak = nothing
        for slot in range(count):
            slots[owners[slot]] = -1
            at = slot * stride
            for block in range(0, stride, LANES):
                worth = add(load(running, at + block), load(local, block))
                store(running, at + block, worth)
                peak = maximum(worth, peak)
        top = largest(peak)
        if not (FORBIDDEN < top < np.inf):
            return DEAD, i, total, bad
        start = used = past
        g, h = pivot(running, owners, count, top, stride)
        pairs[2 * start], pairs[2 * start + 1], scores[start] = g, h, 0.0
        used += 1
        before, lag = lag, 0.0
        if not last:
            best = h * (size + 1) + g
            if not published(ready, best):
                fill_bounds(model, g, h, size)
            lag = np.float64(lags[best])
            crowded = count >= CROWD
            if crowded:
                for block in range(0, stride, LANES):
                    peak = nothing
                    for slot in range(count):
                        peak = maximum(load(running, slot * stride + block), peak)
                    store(crest, block, subtract(peak, fill(top)))
            for slot in range(count):
                at, owner = slot * stride, owners[slot]
                for block in range(0, stride, LANES):
                    worth = subtract(load(running, at + block), fill(top))
                    hope = add(worth, load(bounds, best * stride + block))
                    bits = at_least(hope, fill(np.float32(0)))
                    if crowded:
                        hope = add(worth, load(ease, owner * stride + block))
                        bits &= at_least(hope, load(crest, block))
                    if bits:
                        store(running, at + block, worth)
                    while bits:
                        z = block + first_lane(bits)
                        bits &= bits - 1
                        pairs[2 * used], pairs[2 * used + 1] = owner, z
                        scores[used] = running[at + z]
                        used += np.int64(z != h or owner != g)
                if used > start + 4 * patience + size:
                    return DENSE, np.int64(i), total, bad
            if used > start + 1:
                used = refine(model, pairs, scores, start, used, size)
            for k in range(start + 1, used):
                lag = max(lag, -np.float64(scores[k]))
            if ahead:
                lag += spread
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
def pivot(running, owners, count, top, stride):
    """Return the pair that is worth `top`."""
    for slot in range(count):
        for block in range(0, stride, LANES):
            bits = at_least(load(running, slot * stride + block), fill(top))
            if bits:
                return owners[slot], block + first_lane(bits)
    return np.int64(-1), np.int64(-1)


@uncounted()
def refine(model, pairs, scores, start, used, size):
    """Keep only the pairs that may still win against the best; return the new end."""
    doubt = model[9] * 2.0**-22
    g, h = pairs[2 * start], pairs[2 * start + 1]
    kept = start + 1
    for k in range(start + 1, used):
        x, y, score = pairs[2 * k], pairs[2 * k + 1], scores[k]
        bound = np.float64(lead(model, x, y, g, h, size)) + doubt
        pairs[2 * kept], pairs[2 * kept + 1], scores[kept] = x, y, score
        kept += np.int64(np.float64(score) + bound >= 0.0)
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
    links, stride = model[0], len(model[1])
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
        np.empty(stride, np.float32),  # emissions of a token
        np.empty(stride, np.float32),  # the best running score of each next label
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
        status, token, total, bad_here = forward(
            model, emissions, begin, n, size, work, pairs, scores
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
        trace(links, stride, size, work[0], pairs, scores, labels[begin : begin + n], n)
    return labels, slacks, left[:lefts], not any_lane(bad), -1, -1
