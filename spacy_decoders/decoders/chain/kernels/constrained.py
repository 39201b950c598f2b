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

So what 16 labels can gain is found from a few rows: one of D, and those of the *live* labels
and groups, each with its `pull` w. Rows, crests and survivors are laid out as in
`forward_dominance`.
"""

import numpy as np

from ....jit import jit, uncounted
from .dominance import (
    DEAD,
    DENSE,
    DONE,
    EVERYTHING,
    FORBIDDEN,
    FULL,
    LOST,
    UNSOUND,
    emission,
    given_up,
)
from .vectors import (
    LANES,
    WORD,
    add,
    any_lane,
    at_least,
    either,
    fill,
    first_lane,
    greater,
    lanes,
    largest,
    load,
    maximum,
    minimum,
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

__all__ = ["forward", "workspace"]

CROWD = 16  # survivors of a token, above which the best of them drop others
BEAM = 6  # most labels of a token that a reference path is sought through
ROUNDING = 2.0**-21  # more than the roundings of a bound may take, relative to its terms
PIVOTS = 3  # the best survivors that drop others where there are many


@jit(inline="always")
def width_of(stride):
    """Return the width of a row with its crest."""
    return stride + (stride + WORD - 1) // WORD * LANES


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


@uncounted()
def fill_row(transitions, table, floor, ready, g, size, stride):
    """Fill in what any label can gain on label g by what follows.

    ``table[g, x] = max over y of (T[x, y] - T[g, y])``, rounded upwards, over the labels y
    that may follow g; over those that may not, ``floor + T[x, y]``.
    """
    at = g * stride
    for x in range(size):
        gains, links = fill(FORBIDDEN), fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            ours = load(transitions, x * stride + block)
            theirs = load(transitions, at + block)
            is_open = greater(theirs, fill(FORBIDDEN))
            more = select(is_open, subtract(ours, theirs), fill(FORBIDDEN))
            gains = maximum(more, gains)
            links = maximum(select(is_open, fill(FORBIDDEN), ours), links)
        bound = max(np.float64(largest(gains)), np.float64(largest(links)) + floor)
        if bound > -np.inf:
            bound += (abs(bound) + abs(floor)) * ROUNDING
        table[at + x] = bound
    table[at + size : at + stride] = FORBIDDEN
    publish(ready, g)


@jit(inline="always")
def inflated(top, base):
    """Return ``top - base`` as float32, rounded upwards."""
    return np.float32(top - base + (abs(top) + abs(base)) * ROUNDING)


@jit(inline="always")
def enter(names, scores, first, past, model, emissions, row, size, last, running, crests, i):
    """Write what all labels of token i are worth, entered from some labels, to row i of `running`.

    With them their crest; and to row i of `crests`, that of the emissions (at the last token,
    of emission and end). Returns the largest worth, and the mask of unsound emissions.
    """
    transitions, end, stride = model[0], model[1], len(model[1])
    wide = width_of(stride)
    at, high = i * wide, i * (wide - stride)
    one = past - first == 1
    lead = names[first] * stride
    if not one:
        sweep(names, scores, first, past, transitions, running, at, stride)
    bad = nowhere()
    peak = fill(FORBIDDEN)
    for word in range(0, stride, WORD):
        crest, height = fill(FORBIDDEN), fill(FORBIDDEN)
        for block in range(word, word + WORD, LANES):
            if block >= stride:
                break
            prefetch(emissions, row + size + block)
            own = emission(emissions, row, block, size)
            bad = either(bad, unsound(own))
            if last:
                own = add(own, load(end, block))
            height = maximum(own, height)
            step = load(transitions, lead + block) if one else load(running, at + block)
            worth = add(step, own)
            store(running, at + block, worth)
            crest = maximum(worth, crest)
        store(crests, high + word // 4, height)
        store(running, at + stride + word // 4, crest)
        peak = maximum(crest, peak)
    return largest(peak), bad


@uncounted()
def choose_reference(model, emissions, begin, n, size, work):
    """Find a good path by a beam of the labels that are little worse than the best.

    Its labels go to `refs`; to `crests`, those of the emissions (and at the last token, of
    emission and end). Returns whether the beam found a legal path, and the mask of
    unsound emissions.
    """
    transitions, stride, margin = model[0], len(model[1]), model[11]
    running, refs, crests, sources = work[1], work[2], work[3], work[16]
    beam, scores, tried, origins = work[4], work[5], work[6], work[7]
    wide = width_of(stride)
    bad = nowhere()
    beam[0], scores[0] = size, 0.0
    width = np.int64(1)
    for i in range(n):
        row, at = (begin + i) * size, i * wide
        last = i == n - 1
        sources[i] = beam[0] if width == 1 else -1
        top, bad_here = enter(
            beam, scores, 0, width, model, emissions, row, size, last, running, crests, i
        )
        bad = either(bad, bad_here)
        if not (FORBIDDEN < top < np.inf):
            return False, bad
        floor = max(top - margin, -EVERYTHING)
        here = i * BEAM
        kept = 0
        for word in range(0, stride, WORD):
            if not at_least(load(running, at + stride + word // 4), fill(floor)):
                continue
            bits = np.int64(0)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                bits |= at_least(load(running, at + block), fill(floor)) << (block - word)
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
    return True, bad


@uncounted()
def look_ahead(model, emissions, begin, n, size, work):
    """Bound what labels can gain on the reference path by what follows.

    The gains at token i, with their crest, go to row i of `gains`.
    """
    transitions, end, _, table, ready, rows, groups, legal, _, _, floor, _ = model
    refs, crests, gains, hopes = work[2], work[3], work[8], work[17]
    live, pulls = work[9], work[10]
    firsts, seconds, bests = work[11], work[12], work[15]
    stride = len(end)
    wide = width_of(stride)
    high = wide - stride
    words = high // LANES
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
            if not published(ready, own):
                fill_row(transitions, table, floor, ready, own, size, stride)
            if used > 1:
                sweep(live, pulls, 0, used, rows, gains, at, stride)
        link = np.float64(transitions[before * stride + own])
        base = link + np.float64(emissions[row + own])
        if last:
            base += np.float64(end[own])
        least = np.float32(base + floor - (abs(base) + abs(floor)) * ROUNDING)
        most = fill(FORBIDDEN)
        touched = np.int64(0)
        for word in range(0, stride, WORD):
            crest = fill(FORBIDDEN)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                prefetch(table, before * stride + block)
                prefetch(rows, lead + block)
                more = fill(np.float32(0))  # nothing follows the last token
                if not last:
                    most_of_rest = add(load(rows, outs + block), fill(rest))
                    more = minimum(load(table, lead + block), most_of_rest)
                    if used > 1:
                        more = maximum(load(gains, at + block), more)
                    else:
                        more = maximum(add(load(rows, one + block), fill(pull)), more)
                store(gains, at + block, more)
                crest = maximum(more, crest)
            store(gains, at + stride + word // 4, crest)
            if i == 0:
                continue
            hope = add(load(crests, i * high + word // 4), crest)
            if not at_least(hope, fill(least)):
                continue
            followers = legal[before * words + word // WORD]
            closed = ~followers
            if word <= own < word + WORD:
                followers &= ~(np.int64(1) << (own - word))
            bits = np.int64(0)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                worth = emission(emissions, row, block, size)
                if last:
                    worth = add(worth, load(end, block))
                hope = add(worth, load(gains, at + block))
                store(hopes, block, hope)
                bits |= at_least(hope, fill(least)) << (block - word)
                is_open = lanes(followers >> (block - word))
                most = maximum(select(is_open, hope, fill(FORBIDDEN)), most)
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


@jit()
def forward(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Find the survivors of each token of one sentence, as `forward_dominance.survivors` says.

    That needs a reference path, except for a slack of `EVERYTHING`.
    """
    bad = nowhere()
    if slack < EVERYTHING:
        legal, bad = choose_reference(model, emissions, begin, n, size, work)
        if not legal:
            return names, scores, UNSOUND if any_lane(bad) else LOST, np.int64(-1), 0.0
        look_ahead(model, emissions, begin, n, size, work)
    else:
        work[8][: n * width_of(len(model[1]))] = 0.0
        work[16][:n] = -1
    while True:
        status, token, total, bad_here = advance(
            model, emissions, begin, n, size, slack, patience, work, names, scores
        )
        if any_lane(either(bad, bad_here)):
            return names, scores, UNSOUND, token, total
        if status != FULL:
            return names, scores, status, token, total
        room = 2 * len(names)
        names, scores = np.empty(room, np.int64), np.empty(room, np.float32)


@uncounted()
def advance(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Do what `forward` says, or end as `FULL` where `names` and `scores` have no more room."""
    stride, magnitude = len(model[1]), model[2]
    marks, running, refs, crests = work[0], work[1], work[2], work[3]
    gains, sources = work[8], work[16]
    wide = width_of(stride)
    bad = nowhere()
    names[0], scores[0] = size, 0.0
    marks[0], marks[1] = 0, 1
    first, past = 0, 1
    total = 0.0
    low = np.float32(0)
    for i in range(n):
        row = (begin + i) * size
        last = i == n - 1
        at = i * wide
        if past - first == 1 and names[first] == sources[i]:
            # the reference came from here alone: all labels are scored already
            peak = fill(FORBIDDEN)
            for crest in range(at + stride, at + wide, LANES):
                peak = maximum(load(running, crest), peak)
            top = largest(peak)
        else:
            sources[i] = -1
            top, bad_here = enter(
                names, scores, first, past, model, emissions, row, size, last, running, crests, i
            )
            bad = either(bad, bad_here)
        if not (FORBIDDEN < top < np.inf):
            return DEAD, np.int64(i), total, bad
        own = np.int64(-1)
        threshold = top - slack
        if slack == EVERYTHING:
            threshold = -EVERYTHING
        elif not last:
            own = refs[i]
            threshold = running[at + own] - slack
        start = used = past
        if used + size > len(names):
            return FULL, np.int64(i), total, bad
        for word in range(0, stride, WORD):
            crest = stride + word // 4
            hope = add(load(running, at + crest), load(gains, at + crest))
            if not at_least(hope, fill(threshold)):
                continue
            bits = np.int64(0)
            for block in range(word, word + WORD, LANES):
                if block >= stride:
                    break
                hope = add(load(running, at + block), load(gains, at + block))
                bits |= at_least(hope, fill(threshold)) << (block - word)
            while bits:
                x = word + first_lane(bits)
                bits &= bits - 1
                names[used], scores[used] = x, running[at + x]
                used += 1
        # every running score that counts lies between best + low and best
        total -= np.float64(low)
        best = FORBIDDEN
        where = start
        for k in range(start, used):
            if scores[k] > best:
                best, where = scores[k], k
        names[start], names[where] = names[where], names[start]
        scores[where], scores[start] = scores[start], 0.0
        low = np.float32(0)
        for k in range(start + 1, used):
            scores[k] -= best
            low = min(low, scores[k])
        total += abs(np.float64(best)) - 2.0 * np.float64(low) + magnitude
        if used - start > CROWD and not last and slack < EVERYTHING:
            used = thinned(model, work, names, scores, start, used, size, stride, slack)
        first, past = start, used
        marks[i + 2] = used
        if given_up(used, i, n, size, patience):
            return DENSE, np.int64(i), total, bad
    return DONE, np.int64(-1), total + magnitude, bad


@uncounted()
def thinned(model, work, names, scores, start, used, size, stride, slack):
    """Drop survivors that another beats whatever follows, and return the new end.

    First the best of those with the same followers drops others, then each of the next best
    those whose followers may all follow it too.
    """
    transitions, _, _, table, ready, _, _, _, kinds, within, floor, _ = model
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
        if not published(ready, g):
            fill_row(transitions, table, floor, ready, g, size, stride)
        names[kept], scores[kept] = x, score
        # counting, not branching: who is kept cannot be predicted
        kept += np.int64(score + table[g * stride + x] >= peaks[kind] - slack)
    used = kept
    lead = start
    while lead < start + PIVOTS and used - start > CROWD:
        lead += 1
        for k in range(lead + 1, used):
            if scores[k] > scores[lead]:
                names[lead], names[k] = names[k], names[lead]
                scores[lead], scores[k] = scores[k], scores[lead]
        g = names[lead]
        if not published(ready, g):
            fill_row(transitions, table, floor, ready, g, size, stride)
        least = scores[lead] - slack
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
    """Return room for floats where no 16 of a row lie in two lines of the cache."""
    room = np.empty(count + LANES, np.float32)
    skipped = -(room.ctypes.data // 4) % LANES
    return room[skipped : skipped + count]


@jit()
def workspace(model, longest, size):
    """Return scratch space, and the lists of survivors."""
    stride = len(model[1])
    wide = width_of(stride)
    count = len(model[5]) // stride - size - 1
    work = (
        np.zeros(longest + 2, np.int64),  # marks
        aligned(longest * wide),  # running scores
        np.empty(longest + 1, np.int64),  # reference path
        np.empty(longest * (wide - stride), np.float32),  # crests of the emissions
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
        aligned(stride),  # hopes
    )
    room = 4 * longest + 2 * size + 2
    return work, np.empty(room, np.int64), np.empty(room, np.float32)
