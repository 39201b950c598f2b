"""Forward dominance over flat arrays.

All rows are `stride` wide, a multiple of 16, padded with ``-inf``. The transitions have one
row more than there are labels: row `size` holds the start scores, so that the first token is
like any other, entered from the one survivor `size`. A survivor is stored as the place of
its row, label times stride. The first survivor of a token is the best, with the score 0.
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
    nowhere,
    publish,
    published,
    select,
    store,
    subtract,
    unsound,
)

__all__ = ["decode", "forward", "look_ahead"]

UNIT32 = 2.0**-24
FORBIDDEN = np.float32(-np.inf)
WORD = 4 * LANES  # labels whose comparisons fit one 64-bit word
CROWD = 8  # survivors of a token, above which more pivots are tried
PIVOTS = 3
BEAM = 8  # width of the beam that finds a reference path
PATIENCE = 3  # tokens before a sentence may be given up
# a sentence is given up when on average more than a share of all labels survive, and after
# a share of the work of dense decoding
PATIENT = (2.0, 1.0)
FLAT = (0.4, 0.08)
EASY = (0.0, 0.04)
CHEAP = 4 * WORD  # survivors times labels, up to which all scores are worth computing
EVERYTHING = np.float32(3e38)
# how a sentence ended: decoded, no legal path, left to Viterbi, no room for survivors
DONE, DEAD, DENSE, FULL = 0, 1, 2, 3


@jit(inline="always")
def emission(emissions, row, block, size):
    if block + LANES <= size:
        return load(emissions, row + block)
    return load_part(emissions, row + block, size - block)


@jit(inline="always")
def pivot(scores, at, top, stride):
    """Return the first label with the score `top` in the row at `at`."""
    for word in range(0, stride, WORD):
        bits = np.int64(0)
        for block in range(word, min(word + WORD, stride), LANES):
            bits |= at_least(load(scores, at + block), fill(top)) << (block - word)
        if bits:
            return word + first_lane(bits)
    return np.int64(-1)


@uncounted()
def fill_row(transitions, table, closed, ready, g, size, stride):
    """Fill in what any label can gain on label g by what follows.

    ``table[g, x] = max over y of (T[x, y] - T[g, y])``, rounded upwards, over the labels y
    that may follow g; and over those that may not, if there are any,
    ``closed[g, x] = max over y of T[x, y]``.
    """
    ahead = len(closed) > 0
    for x in range(size):
        gains, links = fill(FORBIDDEN), fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            ours = load(transitions, x * stride + block)
            theirs = load(transitions, g * stride + block)
            gain = subtract(ours, theirs)
            if ahead:
                is_open = greater(theirs, fill(FORBIDDEN))
                gain = select(is_open, gain, fill(FORBIDDEN))
                links = maximum(select(is_open, fill(FORBIDDEN), ours), links)
            # a difference of two -inf (in the padding) is NaN, which `maximum` passes over
            gains = maximum(gain, gains)
        bound = np.float64(largest(gains))
        if bound > -np.inf:
            bound += abs(bound) * 2.0**-22
        table[g * stride + x] = bound
        if ahead:
            closed[g * stride + x] = largest(links)
    for x in range(size, stride):
        table[g * stride + x] = -np.inf
        if ahead:
            closed[g * stride + x] = -np.inf
    publish(ready, g)


@jit(inline="always")
def reached(transitions, rows, scores, first, past, block):
    """Return the best of score + transition over the survivors, for 16 labels."""
    best = fill(FORBIDDEN)
    for k in range(first, past):
        best = maximum(add(fill(scores[k]), load(transitions, rows[k] + block)), best)
    return best


@uncounted()
def choose_reference(model, emissions, begin, n, size, most, work):
    """Find a good path by a beam of width `most`: its labels go to `refs`, steps to `steps`.

    Returns whether the beam found a legal path, and the mask of unsound emissions.
    """
    transitions, _, end, _, _, _, _ = model
    _, running, refs, steps, _, beam, scores, names, origins = work
    stride = len(end)
    bad = nowhere()
    beam[0], scores[0] = size * stride, 0.0
    width = 1
    for i in range(n):
        row = (begin + i) * size
        floor = -EVERYTHING
        wide = 0
        here = i * BEAM
        for block in range(0, stride, LANES):
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            worth = add(reached(transitions, beam, scores, 0, width, block), worth)
            if i == n - 1:
                worth = add(worth, load(end, block))
            store(running, block, worth)
            bits = at_least(worth, fill(floor))
            while bits:
                y = block + first_lane(bits)
                bits &= bits - 1
                if wide == most and not running[y] > floor:
                    continue
                k = min(wide, most - 1)
                wide = min(wide + 1, most)
                while k > 0 and running[names[here + k - 1]] < running[y]:
                    names[here + k] = names[here + k - 1]
                    k -= 1
                names[here + k] = y
                if wide == most:
                    floor = running[names[here + most - 1]]
        if wide == 0:
            return False, bad
        for j in range(wide):
            y = names[here + j]
            peak = FORBIDDEN
            for k in range(width):
                score = scores[k] + transitions[beam[k] + y]
                if score > peak:
                    peak = score
                    origins[here + j] = k
        for j in range(wide):
            y = names[here + j]
            beam[j], scores[j] = y * stride, running[y] - running[names[here]]
        width = wide
    k = np.int64(0)
    for i in range(n - 1, -1, -1):
        refs[i] = names[i * BEAM + k]
        k = origins[i * BEAM + k]
    for i in range(n):
        before = refs[i - 1] if i else size
        steps[i] = transitions[before * stride + refs[i]] + emissions[(begin + i) * size + refs[i]]
    steps[n - 1] += end[refs[n - 1]]
    return True, bad


@uncounted()
def look_ahead(model, emissions, begin, n, size, width, work):
    """Choose a reference path by a beam of a width, and bound what leaving its reach can gain.

    ``pulls[i]`` is the most that any label that cannot follow ``refs[i]`` is ahead of
    ``refs[i + 1]`` at token i + 1, all of the future included. Returns whether there is a
    reference, and the mask of unsound emissions.
    """
    transitions, _, end, table, closed, ready, _ = model
    _, _, refs, steps, pulls, _, _, _, _ = work
    stride = len(end)
    legal, bad = choose_reference(model, emissions, begin, n, size, width, work)
    if not legal:
        return False, bad
    for i in range(n - 2, -1, -1):
        here, ahead = refs[i] * stride, refs[i + 1] * stride
        if i == n - 2:
            ahead = size * stride  # nothing follows the last token: the row of zeros
        elif not published(ready, refs[i + 1]):
            fill_row(transitions, table, closed, ready, refs[i + 1], size, stride)
        pull = fill(pulls[i + 1])
        peak = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            worth = emission(emissions, (begin + i + 1) * size, block, size)
            if i == n - 2:
                worth = add(worth, load(end, block))
            gain = maximum(add(load(closed, ahead + block), pull), load(table, ahead + block))
            is_open = greater(load(transitions, here + block), fill(FORBIDDEN))
            worth = select(is_open, fill(FORBIDDEN), add(worth, gain))
            peak = maximum(worth, peak)
        top = np.float64(largest(peak))
        pulls[i] = top
        if top > -np.inf:
            after = np.float64(steps[i + 1])
            pulls[i] = top - after + (abs(top) + abs(after)) * 2.0**-22
    return True, bad


@uncounted()
def thinned(model, rows, scores, start, used, size, stride, slack):
    """Drop survivors that one of the next best beats whatever follows; return the new end."""
    transitions, _, _, table, closed, ready, _ = model
    for pivots in range(1, PIVOTS + 1):
        lead = start + pivots
        if used - lead < 2:
            break
        for k in range(lead + 1, used):
            if scores[k] > scores[lead]:
                rows[lead], rows[k] = rows[k], rows[lead]
                scores[lead], scores[k] = scores[k], scores[lead]
        if not published(ready, rows[lead] // stride):
            fill_row(transitions, table, closed, ready, rows[lead] // stride, size, stride)
        kept = lead + 1
        for k in range(lead + 1, used):
            if scores[k] + table[rows[lead] + rows[k] // stride] >= scores[lead] - slack:
                rows[kept], scores[kept] = rows[k], scores[k]
                kept += 1
        used = kept
    return used


@uncounted()
def follow(model, emissions, begin, i, n, size, past, total, bad, work, rows, scores):
    """Follow the last survivor from token i on, for as long as only one label survives.

    Returns the token and the end of the survivors then, the total and the mask, as `forward`
    has them. Most tokens of trained models are done here, by the shortest way.
    """
    transitions, _, _, table, _, ready, magnitude = model
    marks, running = work[0], work[1]
    stride = len(model[2])
    lead = rows[past - 1]
    while i < n - 1 and past + size <= len(rows):
        row = (begin + i) * size
        peak = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            worth = add(load(transitions, lead + block), worth)
            store(running, block, worth)
            peak = maximum(worth, peak)
        top = largest(peak)
        g = pivot(running, 0, top, stride)
        if not (FORBIDDEN < top < np.inf) or not published(ready, g):
            break
        others = np.int64(0)
        for word in range(0, stride, WORD):
            bits = np.int64(0)
            for block in range(word, min(word + WORD, stride), LANES):
                hope = add(load(running, block), load(table, g * stride + block))
                bits |= at_least(hope, fill(top)) << (block - word)
            if word <= g < word + WORD:
                bits &= ~(np.int64(1) << (g - word))
            others |= bits
        if others:
            break
        lead = g * stride
        rows[past], scores[past] = lead, 0.0
        past += 1
        i += 1
        marks[i + 1] = past
        total += abs(np.float64(top)) + magnitude
    return i, past, total, bad


@jit()
def forward(model, emissions, begin, n, size, slack, patience, work, rows, scores):
    """Find the survivors of each token of one sentence.

    A survivor lies on a path that may be within `slack` of the best; with a slack of
    `EVERYTHING`, on any legal one. Those of token i are ``marks[i + 1]:marks[i + 2]`` of
    `rows` and `scores`, which grow as needed.

    Returns
    -------
    rows, scores
    status, token
        `DONE`; or `DEAD` at a token; or `DENSE` when `patience` ends.
    total
        Sum of the sizes of all roundings on a path that counts.
    bad
        The mask of unsound emissions.
    """
    while True:
        status, token, total, bad = advance(
            model, emissions, begin, n, size, slack, patience, work, rows, scores
        )
        if status != FULL:
            return rows, scores, status, token, total, bad
        room = 2 * len(rows)
        rows, scores = np.empty(room, np.int64), np.empty(room, np.float32)


@uncounted()
def advance(model, emissions, begin, n, size, slack, patience, work, rows, scores):
    """Do what `forward` says, or end as `FULL` where `rows` and `scores` have no more room."""
    transitions, ceiling, end, table, closed, ready, magnitude = model
    marks, running, refs, _, pulls, _, _, _, _ = work
    stride = len(end)
    ahead = len(closed) > 0
    bad = nowhere()
    rows[0], scores[0] = size * stride, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    lead = size * stride  # the best survivor
    second = FORBIDDEN  # the score of the second best
    total = 0.0
    low = np.float32(0)
    i = np.int64(0)
    while i < n:
        if past - first == 1 and slack == 0 and not ahead:
            i, past, total, bad = follow(
                model, emissions, begin, i, n, size, past, total, bad, work, rows, scores
            )
            first, lead = past - 1, rows[past - 1]
        row = (begin + i) * size
        last = i == n - 1
        # one survivor, or a few short rows: exact scores. Else those reached from the best
        # survivor bound all from below, and the others add no more than `second` and the
        # best transition into a label
        exact = past - first == 1 or (past - first) * stride <= CHEAP
        least = 0 if exact else stride
        peak = fill(FORBIDDEN)
        lift = fill(second)
        if exact:
            for block in range(0, stride, LANES):
                worth = emission(emissions, row, block, size)
                bad = either(bad, unsound(worth))
                step = load(transitions, lead + block)
                for k in range(first + 1, past):
                    other = add(fill(scores[k]), load(transitions, rows[k] + block))
                    step = maximum(other, step)
                worth = add(step, worth)
                store(running, block, worth)
                peak = maximum(worth, peak)
        else:
            for block in range(0, stride, LANES):
                worth = emission(emissions, row, block, size)
                bad = either(bad, unsound(worth))
                step = load(transitions, lead + block)
                most = maximum(add(load(ceiling, block), lift), step)
                store(running, block, add(most, worth))
                worth = add(step, worth)
                store(running, least + block, worth)
                peak = maximum(worth, peak)
        if last:
            peak = fill(FORBIDDEN)
            for block in range(0, stride, LANES):
                store(running, block, add(load(running, block), load(end, block)))
                if not exact:
                    worth = add(load(running, least + block), load(end, block))
                    store(running, least + block, worth)
                peak = maximum(load(running, least + block), peak)
        top = largest(peak)
        if not exact and top == FORBIDDEN:
            # the best survivor leads nowhere
            exact = True
            least = 0
            for block in range(0, stride, LANES):
                worth = reached(transitions, rows, scores, first, past, block)
                worth = add(worth, emission(emissions, row, block, size))
                if last:
                    worth = add(worth, load(end, block))
                store(running, block, worth)
                peak = maximum(worth, peak)
            top = largest(peak)
        if not (FORBIDDEN < top < np.inf):
            return DEAD, i, total, bad
        g = np.int64(0)
        hopes, at = table, size * stride
        if slack == EVERYTHING:
            threshold = -EVERYTHING
        elif ahead and not last:
            g = refs[i]
            if not published(ready, g):
                fill_row(transitions, table, closed, ready, g, size, stride)
            pull = fill(pulls[i])
            for block in range(0, stride, LANES):
                there = g * stride + block
                gain = maximum(add(load(closed, there), pull), load(table, there))
                store(running, 2 * stride + block, gain)
            hopes, at = running, 2 * stride
            threshold = FORBIDDEN
            for k in range(first, past):
                threshold = max(threshold, scores[k] + transitions[rows[k] + g])
            threshold += emissions[row + g] - slack
        else:
            # where the scores are exact, g is the best survivor of this token: the next
            # token can begin before it is known who else survives
            g = pivot(running, least, top, stride)
            if not exact and not last:
                # another survivor may reach it with more
                step = FORBIDDEN
                for k in range(first, past):
                    step = max(step, scores[k] + transitions[rows[k] + g])
                top = step + emissions[row + g]
            threshold = top - slack
            if not last:
                if not published(ready, g):
                    fill_row(transitions, table, closed, ready, g, size, stride)
                at = g * stride
        start = used = past
        if used + size > len(rows):
            return FULL, i, total, bad
        for word in range(0, stride, WORD):
            bits = np.int64(0)
            for block in range(word, min(word + WORD, stride), LANES):
                hope = add(load(running, block), load(hopes, at + block))
                bits |= at_least(hope, fill(threshold)) << (block - word)
            if bits and not exact:
                hopeful = bits
                bits = np.int64(0)
                for block in range(word, min(word + WORD, stride), LANES):
                    if (hopeful >> (block - word)) & 0xFFFF:
                        # summed in the order of the bounds: rounding keeps the order then
                        worth = reached(transitions, rows, scores, first, past, block)
                        worth = add(worth, emission(emissions, row, block, size))
                        if last:
                            worth = add(worth, load(end, block))
                        store(running, block, worth)
                        hope = add(worth, load(hopes, at + block))
                        bits |= at_least(hope, fill(threshold)) << (block - word)
            while bits:
                x = word + first_lane(bits)
                bits &= bits - 1
                rows[used], scores[used] = x * stride, running[x]
                used += 1
        # every running score that counts lies between best + low and best
        total -= np.float64(low)
        low = np.float32(0)
        second = FORBIDDEN
        if used - start == 1:
            known = exact and not ahead and slack == 0
            best = top if known else scores[start]
            lead = g * stride if known else rows[start]
            scores[start] = 0.0
        else:
            best = FORBIDDEN
            where = start
            for k in range(start, used):
                if scores[k] > best:
                    best, where = scores[k], k
            lead = rows[where]
            rows[start], rows[where] = rows[where], rows[start]
            scores[start], scores[where] = scores[where], scores[start]
            scores[start] = 0.0
            for k in range(start + 1, used):
                scores[k] -= best
                second = max(second, scores[k])
                low = min(low, scores[k])
        total += abs(np.float64(best)) - 2.0 * np.float64(low) + magnitude
        if used - start > CROWD and not ahead and not last:
            used = thinned(model, rows, scores, start, used, size, stride, slack)
            second = FORBIDDEN
            for k in range(start + 1, used):
                second = max(second, scores[k])
        first, past = start, used
        marks[i + 2] = used
        share, trial = patience
        flat = used > (share * size + 2) * (i + 1) and used > (trial * size + 8) * n
        if flat and i >= PATIENCE - 1:
            return DENSE, i, total, bad
        i += 1
    return DONE, np.int64(-1), total + magnitude, bad


@uncounted()
def trace(model, emissions, begin, n, size, marks, rows, scores, labels):
    """Follow the best labelling of a sentence back through the survivors.

    Returns what it is worth, and the sum of the absolute terms, in float64: while the
    sentence is still in the cache.
    """
    transitions, end, stride = model[0], model[2], len(model[2])
    row = rows[marks[n]]
    y = row // stride
    link = np.float64(end[y])
    worth, terms = link, abs(link)
    for i in range(n - 1, -1, -1):
        labels[i] = y
        origin = rows[marks[i]]
        if marks[i + 1] - marks[i] > 1:
            most = FORBIDDEN
            for k in range(marks[i], marks[i + 1]):
                reached = scores[k] + transitions[rows[k] + y]
                if reached > most:
                    most = reached
                    origin = rows[k]
        link = np.float64(transitions[origin + y])
        local = np.float64(emissions[(begin + i) * size + y])
        worth += link + local
        terms += abs(link) + abs(local)
        y = origin // stride
    return worth, terms


@jit()
def workspace(longest, size, stride):
    """Return scratch space, and the lists of survivors."""
    work = (
        np.zeros(longest + 2, np.int64),  # marks
        np.empty(3 * stride, np.float32),  # running scores
        np.empty(longest + 1, np.int64),  # reference path
        np.empty(longest + 1, np.float32),  # its steps: transition and emission
        np.full(longest + 1, FORBIDDEN),  # pulls
        np.empty(BEAM, np.int64),  # rows in the beam
        np.empty(BEAM, np.float32),  # their scores
        np.empty(BEAM * longest, np.int64),  # labels that were in the beam
        np.empty(BEAM * longest, np.int64),  # their places in the beam before
    )
    room = 4 * longest + 2 * size + 2
    return work, np.empty(room, np.int64), np.empty(room, np.float32)


@jit()
def decode(model, emissions, offsets, size):
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    slacks
        **Shape (sentences,)**: what rounding may have cost.
    worth
        **Shape (sentences, 2)**: score and sum of absolute terms, in float64.
    left
        Sentences in which so many labels survive that dense decoding is faster.
    sound
        Whether all emissions met are neither NaN nor ``+inf``.
    sentence, token
        Where the first dead end is; -1 without one.
    """
    stride, ahead = len(model[2]), len(model[4]) > 0
    count = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    slacks = np.zeros(count)
    worth = np.zeros((count, 2))
    left = np.zeros(count, np.int64)
    lefts = 0
    longest = 0
    for s in range(count):
        longest = max(longest, offsets[s + 1] - offsets[s])
    work, rows, scores = workspace(longest, size, stride)
    bad = nowhere()
    none = np.float32(0)
    token, total = np.int64(-1), 0.0
    skip = 0  # sentences that go to Viterbi untried, since those before did
    wait = 1
    for s in range(count):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        status = DENSE
        if skip == 0:
            # a greedy reference suffices for most sentences; a beam costs more and finds better
            for width in (1, BEAM):
                if ahead:
                    legal, bad_here = look_ahead(model, emissions, begin, n, size, width, work)
                    bad = either(bad, bad_here)
                    if not legal:
                        continue
                patience = EASY if ahead and width == 1 else FLAT
                rows, scores, status, token, total, bad_here = forward(
                    model, emissions, begin, n, size, none, patience, work, rows, scores
                )
                bad = either(bad, bad_here)
                if status != DENSE or not ahead:
                    break
            if status == DEAD:
                return labels, slacks, worth, left[:lefts], not any_lane(bad), s, token
            if status == DENSE:
                skip = wait
                wait = min(2 * wait, 64)
            else:
                wait = 1
        else:
            skip -= 1
        if status == DENSE:
            left[lefts] = s
            lefts += 1
        else:
            slacks[s] = 2.0 * UNIT32 * total * (1.0 + 1e-5)
            found = labels[begin : begin + n]
            worth[s, 0], worth[s, 1] = trace(
                model, emissions, begin, n, size, work[0], rows, scores, found
            )
    return labels, slacks, worth, left[:lefts], not any_lane(bad), -1, -1
