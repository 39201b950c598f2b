"""Forward dominance over flat arrays.

All rows are `stride` wide, a multiple of 16, padded with ``-inf``. The transitions have one
row more than there are labels: row `size` holds the start scores, so that the first token is
like any other, entered from the one survivor `size`. The first survivor of a token is the
best, with the score 0.

Most labels fall by a test of four at a time. A *crest* holds, for each word of 64 labels and
each of 16 lanes, the largest of the four scores or bounds in that lane; it follows the row.
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
    prefetch,
    publish,
    published,
    reach,
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
FLAT = (0.1, 0.03)
EASY = (0.0, 0.05)
CHEAP = 3328  # survivors times labels, up to which all scores are worth computing
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
    """Return a label with the score `top` in the row at `at`, found by its crest."""
    for word in range(0, stride, WORD):
        if at_least(load(scores, at + stride + word // 4), fill(top)):
            bits = np.int64(0)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                bits |= at_least(load(scores, at + block), fill(top)) << (block - word)
            return word + first_lane(bits)
    return np.int64(-1)


@jit(inline="always")
def raise_crest(table, at, x, g, stride):
    """Let the crest of row `g` at `at` rise to the entry x; its own entry does not count."""
    place = at + stride + x // WORD * LANES + x % LANES
    if x % WORD < LANES:
        table[place] = FORBIDDEN
    if x != g:
        table[place] = max(table[place], table[at + x])


@jit(inline="always")
def width_of(stride):
    """Return the width of a row with its crest."""
    return stride + (stride + WORD - 1) // WORD * LANES


@uncounted()
def fill_row(transitions, table, closed, ready, g, size, stride):
    """Fill in what any label can gain on label g by what follows.

    ``table[g, x] = max over y of (T[x, y] - T[g, y])``, rounded upwards, over the labels y
    that may follow g; and over those that may not, if there are any,
    ``closed[g, x] = max over y of T[x, y]``.
    """
    ahead = len(closed) > 0
    at = g * width_of(stride)
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
        table[at + x] = bound
        if ahead:
            closed[at + x] = largest(links)
    for x in range(stride):
        if x >= size:
            table[at + x] = FORBIDDEN
        raise_crest(table, at, x, g, stride)
        if ahead:
            if x >= size:
                closed[at + x] = FORBIDDEN
            raise_crest(closed, at, x, g, stride)
    publish(ready, g)


@jit(inline="always")
def reached(transitions, names, scores, first, past, block, stride):
    """Return the best of score + transition over the survivors, for 16 labels."""
    best = fill(FORBIDDEN)
    for k in range(first, past):
        step = load(transitions, names[k] * stride + block)
        best = maximum(add(fill(scores[k]), step), best)
    return best


@jit(inline="always")
def step_from(x, model, emissions, row, size, last, running, bad):
    """Write what all labels are worth after label x, with their crest.

    Returns the largest, and the mask of unsound emissions.
    """
    transitions, end, stride = model[0], model[2], len(model[2])
    lead = x * stride
    peak = fill(FORBIDDEN)
    for word in range(0, stride, WORD):
        crest = fill(FORBIDDEN)
        for block in range(word, word + WORD, LANES):
            if block >= stride:
                break
            prefetch(emissions, row + size + block)
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            worth = add(load(transitions, lead + block), worth)
            if last:
                worth = add(worth, load(end, block))
            store(running, block, worth)
            crest = maximum(worth, crest)
        store(running, stride + word // 4, crest)
        peak = maximum(crest, peak)
    return largest(peak), bad


@uncounted()
def greedy_reference(model, emissions, begin, n, size, work):
    """Take the best next label at every token, as `choose_reference` does with a beam."""
    running, refs, steps = work[1], work[2], work[3]
    bad = nowhere()
    y = np.int64(size)
    for i in range(n):
        row = (begin + i) * size
        top, bad = step_from(y, model, emissions, row, size, i == n - 1, running, bad)
        if not (FORBIDDEN < top < np.inf):
            return False, bad
        y = pivot(running, 0, top, len(model[2]))
        refs[i], steps[i] = y, top
    return True, bad


@uncounted()
def choose_reference(model, emissions, begin, n, size, most, work):
    """Find a good path by a beam of width `most`: its labels go to `refs`, steps to `steps`.

    Returns whether the beam found a legal path, and the mask of unsound emissions.
    """
    transitions, _, end, _, _, _, _, _ = model
    _, running, refs, steps, _, beam, scores, tried, origins, _, _ = work
    stride = len(end)
    bad = nowhere()
    beam[0], scores[0] = size, 0.0
    width = 1
    for i in range(n):
        row = (begin + i) * size
        floor = -EVERYTHING
        wide = 0
        here = i * BEAM
        for block in range(0, stride, LANES):
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            worth = add(reached(transitions, beam, scores, 0, width, block, stride), worth)
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
                while k > 0 and running[tried[here + k - 1]] < running[y]:
                    tried[here + k] = tried[here + k - 1]
                    k -= 1
                tried[here + k] = y
                if wide == most:
                    floor = running[tried[here + most - 1]]
        if wide == 0:
            return False, bad
        for j in range(wide):
            y = tried[here + j]
            peak = FORBIDDEN
            for k in range(width):
                score = scores[k] + transitions[beam[k] * stride + y]
                if score > peak:
                    peak = score
                    origins[here + j] = k
        for j in range(wide):
            y = tried[here + j]
            beam[j], scores[j] = y, running[y] - running[tried[here]]
        width = wide
    k = np.int64(0)
    for i in range(n - 1, -1, -1):
        refs[i] = tried[i * BEAM + k]
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
    transitions, _, end, table, closed, ready, _, _ = model
    refs, steps, pulls = work[2], work[3], work[4]
    stride = len(end)
    wide = width_of(stride)
    if width == 1:
        legal, bad = greedy_reference(model, emissions, begin, n, size, work)
    else:
        legal, bad = choose_reference(model, emissions, begin, n, size, width, work)
    if not legal:
        return False, bad
    for i in range(n - 2, -1, -1):
        here, ahead = refs[i] * stride, refs[i + 1] * wide
        if i == n - 2:
            ahead = size * wide  # nothing follows the last token: the row of zeros
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
def thinned(model, work, names, scores, start, used, size, stride, slack):
    """Drop survivors that another beats whatever follows.

    Where transitions are forbidden, that is first the best of those with the same followers;
    then one of the next best.

    Returns the new end, and how many survivors now stand in front, best first.
    """
    transitions, _, _, table, closed, ready, kinds, _ = model
    leaders, peaks = work[9], work[10]
    ahead = len(closed) > 0
    wide = width_of(stride)
    if ahead:
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
            if not published(ready, g):
                fill_row(transitions, table, closed, ready, g, size, stride)
            names[kept], scores[kept] = x, score
            # counting, not branching: who is kept cannot be predicted
            kept += np.int64(score + table[g * wide + x] >= peaks[kind] - slack)
        used = kept
    lead = start
    while lead < start + PIVOTS and lead + 2 < used:
        lead += 1
        for k in range(lead + 1, used):
            if scores[k] > scores[lead]:
                names[lead], names[k] = names[k], names[lead]
                scores[lead], scores[k] = scores[k], scores[lead]
        g = names[lead]
        if not published(ready, g):
            fill_row(transitions, table, closed, ready, g, size, stride)
        floor = scores[lead] - slack
        kept = lead + 1
        for k in range(lead + 1, used):
            x, score = names[k], scores[k]
            names[kept], scores[kept] = x, score
            stays = score + table[g * wide + x] >= floor
            if ahead:
                stays |= closed[g * wide + x] > FORBIDDEN
            kept += np.int64(stays)
        used = kept
    return used, lead + 1 - start


@jit(inline="always")
def gain(table, closed, at, pull):
    """Return what 16 labels can gain on the pivot, or by what only they can reach."""
    if pull > FORBIDDEN:
        return maximum(add(load(closed, at), fill(pull)), load(table, at))
    return load(table, at)


@jit()
def sweep(names, scores, first, past, transitions, running, at, stride):
    """Set ``running[at + y]`` to the best of score + transition over some survivors."""
    y = 0
    while y + WORD <= stride:
        reach(names, scores, first, past, transitions, y, running, at + y, stride, 1, 4)
        y += WORD
    while y < stride:
        reach(names, scores, first, past, transitions, y, running, at + y, stride, 1, 1)
        y += LANES


@jit()
def forward(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Find the survivors of each token of one sentence.

    A survivor lies on a path that may be within `slack` of the best; with a slack of
    `EVERYTHING`, on any legal one. Those of token i are ``marks[i + 1]:marks[i + 2]`` of
    `names` and `scores`, which grow as needed.

    Returns
    -------
    names, scores
    status, token
        `DONE`; or `DEAD` at a token; or `DENSE` when `patience` ends.
    total
        Sum of the sizes of all roundings on a path that counts.
    bad
        The mask of unsound emissions.
    """
    while True:
        status, token, total, bad = advance(
            model, emissions, begin, n, size, slack, patience, work, names, scores
        )
        if status != FULL:
            return names, scores, status, token, total, bad
        room = 2 * len(names)
        names, scores = np.empty(room, np.int64), np.empty(room, np.float32)


@uncounted()
def advance(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Do what `forward` says, or end as `FULL` where `names` and `scores` have no more room."""
    transitions, ceiling, end, table, closed, ready, _, magnitude = model
    marks, running, refs, pulls = work[0], work[1], work[2], work[4]
    stride = len(end)
    wide = width_of(stride)
    ahead = len(closed) > 0
    bad = nowhere()
    names[0], scores[0] = size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    front = 1  # survivors that stand first in the list, best first
    second = FORBIDDEN  # the best score of the others
    total = 0.0
    low = np.float32(0)
    for i in range(n):
        row = (begin + i) * size
        last = i == n - 1
        # a few short names: exact scores. Else those reached from the survivors in front bound
        # all from below, and the others add no more than `second` and the best transition
        # into a label
        exact = (past - first - 1) * stride <= CHEAP
        least = 0 if exact else wide
        if past - first == 1:
            top, bad = step_from(names[first], model, emissions, row, size, last, running, bad)
        else:
            some = past if exact else first + front
            sweep(names, scores, first, some, transitions, running, least, stride)
            lift, peak = fill(second), fill(FORBIDDEN)
            for word in range(0, stride, WORD):
                crest, height = fill(FORBIDDEN), fill(FORBIDDEN)
                for block in range(word, word + WORD, LANES):
                    if block >= stride:
                        break
                    prefetch(emissions, row + size + block)
                    worth = emission(emissions, row, block, size)
                    bad = either(bad, unsound(worth))
                    step = load(running, least + block)
                    if not exact:
                        most = add(maximum(add(load(ceiling, block), lift), step), worth)
                        if last:
                            most = add(most, load(end, block))
                        store(running, block, most)
                        height = maximum(most, height)
                    worth = add(step, worth)
                    if last:
                        worth = add(worth, load(end, block))
                    store(running, least + block, worth)
                    crest = maximum(worth, crest)
                if not exact:
                    store(running, stride + word // 4, height)
                store(running, least + stride + word // 4, crest)
                peak = maximum(crest, peak)
            top = largest(peak)
        if not exact and top == FORBIDDEN:
            # the survivors in front lead nowhere
            exact = True
            least = 0
            peak = fill(FORBIDDEN)
            for word in range(0, stride, WORD):
                crest = fill(FORBIDDEN)
                for block in range(word, word + WORD, LANES):
                    if block >= stride:
                        break
                    worth = reached(transitions, names, scores, first, past, block, stride)
                    worth = add(worth, emission(emissions, row, block, size))
                    if last:
                        worth = add(worth, load(end, block))
                    store(running, block, worth)
                    crest = maximum(worth, crest)
                store(running, stride + word // 4, crest)
                peak = maximum(crest, peak)
            top = largest(peak)
        if not (FORBIDDEN < top < np.inf):
            return DEAD, i, total, bad
        g = own = np.int64(-1)
        at = size * wide  # the row of zeros: nothing follows the last token
        pull = FORBIDDEN
        if slack == EVERYTHING:
            threshold = -EVERYTHING
        elif ahead and not last:
            reference = own = refs[i]
            if not published(ready, reference):
                fill_row(transitions, table, closed, ready, reference, size, stride)
            pull, at = pulls[i], reference * wide
            threshold = FORBIDDEN
            for k in range(first, past):
                threshold = max(threshold, scores[k] + transitions[names[k] * stride + reference])
            threshold += emissions[row + reference] - slack
        else:
            # where the scores are exact, g is the best survivor of this token: the next
            # token can begin before it is known who else survives
            g = own = pivot(running, least, top, stride)
            if not exact:
                # another survivor may reach it with more
                step = FORBIDDEN
                for k in range(first, past):
                    step = max(step, scores[k] + transitions[names[k] * stride + g])
                top = step + emissions[row + g]
                if last:
                    top += end[g]
            threshold = top - slack
            if not last:
                if not published(ready, g):
                    fill_row(transitions, table, closed, ready, g, size, stride)
                at = g * wide
        start = used = past
        if used + size > len(names):
            return FULL, np.int64(i), total, bad
        known = exact and g >= 0
        if known:
            names[start], scores[start] = g, 0.0
            used += 1
        for word in range(0, stride, WORD):
            crest = stride + word // 4
            hope = add(load(running, crest), gain(table, closed, at + crest, pull))
            # the pivot itself would keep its lane of the crest above all bounds
            if not (at_least(hope, fill(threshold)) or word <= own < word + WORD):
                continue
            bits = np.int64(0)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                hope = add(load(running, block), gain(table, closed, at + block, pull))
                bits |= at_least(hope, fill(threshold)) << (block - word)
            if known and word <= g < word + WORD:
                bits &= ~(np.int64(1) << (g - word))
            if bits and not exact:
                hopeful = bits
                bits = np.int64(0)
                for block in range(word, word + WORD, LANES):
                    if block >= stride:
                        break
                    if (hopeful >> (block - word)) & 0xFFFF:
                        # summed in the order of the bounds: rounding keeps the order then
                        worth = reached(transitions, names, scores, first, past, block, stride)
                        worth = add(worth, emission(emissions, row, block, size))
                        if last:
                            worth = add(worth, load(end, block))
                        store(running, block, worth)
                        hope = add(worth, gain(table, closed, at + block, pull))
                        bits |= at_least(hope, fill(threshold)) << (block - word)
            while bits:
                x = word + first_lane(bits)
                bits &= bits - 1
                names[used], scores[used] = x, running[x]
                used += 1
        # every running score that counts lies between best + low and best
        total -= np.float64(low)
        best = top
        if not known:
            best = FORBIDDEN
            where = start
            for k in range(start, used):
                if scores[k] > best:
                    best, where = scores[k], k
            names[start], names[where] = names[where], names[start]
            scores[where], scores[start] = scores[start], 0.0
        low, second = np.float32(0), FORBIDDEN
        for k in range(start + 1, used):
            scores[k] -= best
            second = max(second, scores[k])
            low = min(low, scores[k])
        total += abs(np.float64(best)) - 2.0 * np.float64(low) + magnitude
        front = 1
        if used - start > CROWD and not last:
            used, front = thinned(model, work, names, scores, start, used, size, stride, slack)
            second = FORBIDDEN
            for k in range(start + front, used):
                second = max(second, scores[k])
        first, past = start, used
        marks[i + 2] = used
        share, trial = patience
        flat = used > (share * size + 2) * (i + 1) and used > (trial * size + 3) * n
        if flat and i >= PATIENCE - 1:
            return DENSE, np.int64(i), total, bad
    return DONE, np.int64(-1), total + magnitude, bad


@uncounted()
def trace(model, emissions, begin, n, size, marks, names, scores, labels):
    """Follow the best labelling of a sentence back through the survivors.

    Returns what it is worth, and the sum of the absolute terms, in float64: while the
    sentence is still in the cache.
    """
    transitions, end, stride = model[0], model[2], len(model[2])
    y = names[marks[n]]
    link = np.float64(end[y])
    worth, terms = link, abs(link)
    for i in range(n - 1, -1, -1):
        labels[i] = y
        origin = names[marks[i]]
        if marks[i + 1] - marks[i] > 1:
            most = FORBIDDEN
            for k in range(marks[i], marks[i + 1]):
                reached = scores[k] + transitions[names[k] * stride + y]
                if reached > most:
                    most = reached
                    origin = names[k]
        link = np.float64(transitions[origin * stride + y])
        local = np.float64(emissions[(begin + i) * size + y])
        worth += link + local
        terms += abs(link) + abs(local)
        y = origin
    return worth, terms


@jit()
def workspace(longest, size, stride):
    """Return scratch space, and the lists of survivors."""
    work = (
        np.zeros(longest + 2, np.int64),  # marks
        np.empty(2 * width_of(stride), np.float32),  # running scores
        np.empty(longest + 1, np.int64),  # reference path
        np.empty(longest + 1, np.float32),  # its steps: transition and emission
        np.full(longest + 1, FORBIDDEN),  # pulls
        np.empty(BEAM, np.int64),  # labels in the beam
        np.empty(BEAM, np.float32),  # their scores
        np.empty(BEAM * longest, np.int64),  # labels that were in the beam
        np.empty(BEAM * longest, np.int64),  # their places in the beam before
        np.empty(size, np.int64),  # the best label of each kind
        np.empty(size, np.float32),  # its score
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
    work, names, scores = workspace(longest, size, stride)
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
                names, scores, status, token, total, bad_here = forward(
                    model, emissions, begin, n, size, none, patience, work, names, scores
                )
                bad = either(bad, bad_here)
                if status != DENSE or not ahead:
                    break
            if status == DEAD:
                return labels, slacks, worth, left[:lefts], not any_lane(bad), s, token
            if status == DENSE:
                skip = wait
                wait = min(4 * wait, 64)
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
                model, emissions, begin, n, size, work[0], names, scores, found
            )
    return labels, slacks, worth, left[:lefts], not any_lane(bad), -1, -1
