"""Column generation over flat arrays.

Positions run from 1 to n. Position 0 and position n + 1 have the single label `size`, whose
row in `rows` holds the start scores and whose row in `columns` holds the end scores, so that
the first and the last token are like any other.

Messages are relative: at each position the best label of the domain has the value 0, and
`tops` holds what was subtracted. Sums over a long sentence therefore never grow, and equal
messages are equal to the last bit, which is what tells a changed message from an old one.

Searches run over 32-bit floats, 16 at a time, and let through whatever rounding might have
hidden; what is too close to tell is computed again in 64 bits.
"""

from collections import namedtuple

import numpy as np

from ....jit import jit
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
    select,
    store,
    subtract,
    unsound,
)

__all__ = ["BOTH", "LEFT", "SPLIT", "decode"]

#: The reduced costs of equations 12, 8 and 9.
BOTH, LEFT, SPLIT = 0, 1, 2

FORBIDDEN = np.float32(-np.inf)
UNIT32 = 2.0**-24
UNIT64 = 2.0**-53


@jit(inline="always")
def emission(emissions, row, block, size):
    if block + LANES <= size:
        return load(emissions, row + block)
    return load_part(emissions, row + block, size - block)


@jit(inline="always")
def message(table, stride, domains, values, place, count, x):
    """Return max over the domain at `place` of its values plus their steps to label x."""
    best = -np.inf
    for k in range(place, place + count):
        best = max(best, values[k] + np.float64(table[np.int64(domains[k]) * stride + x]))
    return best


@jit(inline="always")
def messages(table, stride, domains, values, place, count, block):
    """Return :func:`message` of 16 labels at a time."""
    best = fill(FORBIDDEN)
    for k in range(place, place + count):
        step = load(table, np.int64(domains[k]) * stride + block)
        best = maximum(add(fill(np.float32(values[k])), step), best)
    return best


#: What a sentence in work is made of. `L` places belong to each position in `domains` (labels),
#: `member` (1 if in the domain, 2 if about to be), `ahead` and `back` (messages through each
#: label of the domain), and `origin` (which label of the domain before it came from).
#: One place belongs to each position in the others: sizes of the domains and of what is about
#: to join them, what was subtracted from messages, the best emission, and what has changed.
#: `left` and `right` are the two halves of the reduced costs at two neighbouring positions.
State = namedtuple(
    "State",
    "domains member ahead back origin count fresh top_ahead top_back peak "
    "grown moved_ahead moved_back left right scratch",
)


@jit()
def workspace(longest, size, stride):
    places = (longest + 2) * size
    state = State(
        np.zeros(places, np.int32),
        np.zeros(places, np.uint8),
        np.zeros(places),
        np.zeros(places),
        np.zeros(places, np.int32),
        np.zeros(longest + 2, np.int64),
        np.zeros(longest + 2, np.int64),
        np.zeros(longest + 2),
        np.zeros(longest + 2),
        np.zeros(longest + 2),
        np.zeros(longest + 2, np.uint8),
        np.zeros(longest + 2, np.uint8),
        np.zeros(longest + 2, np.uint8),
        np.zeros(2 * stride, np.float32),
        np.zeros(2 * stride, np.float32),
        np.zeros(size),
    )
    state.domains[0] = size
    state.count[0] = 1
    return state


@jit()
def open_domains(state, rows, columns, emissions, begin, n, size):
    """Start every domain with the best label by local evidence (section 4.1).

    Returns whether the emissions are sound, and the first token without a label, or -1.
    """
    stride = len(state.left) // 2
    bad = nowhere()
    for p in range(1, n + 1):
        row = (begin + p - 1) * size
        best = fill(FORBIDDEN)
        for block in range(0, stride, LANES):
            worth = emission(emissions, row, block, size)
            bad = either(bad, unsound(worth))
            if p == 1:
                worth = add(worth, load(rows, size * stride + block))
            if p == n:
                worth = add(worth, load(columns, size * stride + block))
            store(state.left, block, worth)
            best = maximum(worth, best)
        top = largest(best)
        if not (FORBIDDEN < top < np.inf):
            return not (any_lane(bad) or top == np.inf), p - 1
        x = np.int64(0)
        for block in range(0, stride, LANES):
            bits = at_least(load(state.left, block), fill(top))
            if bits:
                x = block + first_lane(bits)
                break
        state.domains[p * size] = x
        state.member[p * size + x] = 1
        state.count[p] = 1
        state.grown[p] = 1
        state.peak[p] = abs(np.float64(top))
    state.domains[(n + 1) * size] = size
    state.count[n + 1] = 1
    state.back[(n + 1) * size] = 0.0
    state.moved_back[n + 1] = 0
    return not any_lane(bad), -1


@jit()
def close(state, rows, columns, emissions, begin, n, size):
    """Put every label of every domain on a legal path within the domains.

    Every emission that is left lies on some legal path, so there always is a label to add.
    """
    for ahead in (False, True):
        table = rows if ahead else columns
        for j in range(1, n):
            # label x at p wants a label at q that it may stand beside
            p = j if ahead else n + 1 - j
            q = p + 1 if ahead else p - 1
            for k in range(state.count[p]):
                x = np.int64(state.domains[p * size + k])
                if not beside(state, table, x, q * size, state.count[q]):
                    y = companion(table, emissions, x, (begin + q - 1) * size, size, state)
                    state.domains[q * size + state.count[q]] = y
                    state.member[q * size + y] = 1
                    state.count[q] += 1
                    state.grown[q] = 1


@jit()
def beside(state, table, x, place, count):
    stride = len(state.left) // 2
    for k in range(place, place + count):
        if table[x * stride + state.domains[k]] > FORBIDDEN:
            return True
    return False


@jit()
def companion(table, emissions, x, row, size, state):
    stride = len(state.left) // 2
    best, chosen = FORBIDDEN, np.int64(0)
    for y in range(size):
        worth = emissions[row + y] + table[x * stride + y]
        if worth > best:
            best, chosen = worth, y
    return chosen


@jit(forceinline=True)
def pass_messages(state, table, values, tops, moved, emissions, begin, n, size, ahead):
    """Bring the messages of one direction up to date (equations 7 and 11).

    Where neither the domain nor the messages before it have changed, nothing is done
    (section 4.2).
    """
    stride = len(state.left) // 2
    for j in range(1, n + 1):
        p = j if ahead else n + 1 - j
        q = p - 1 if ahead else p + 1
        changed = state.grown[p]
        if changed or moved[q]:
            row = (begin + p - 1) * size
            place, count = p * size, state.count[p]
            for k in range(count):
                state.scratch[k] = -np.inf
            # one row of the table after the other: they are far apart in memory
            for i in range(q * size, q * size + state.count[q]):
                step = np.int64(state.domains[i]) * stride
                for k in range(count):
                    reached = values[i] + np.float64(table[step + state.domains[place + k]])
                    if reached > state.scratch[k]:
                        state.scratch[k] = reached
                        if ahead:
                            state.origin[place + k] = i
            top = -np.inf
            for k in range(count):
                state.scratch[k] += np.float64(emissions[row + state.domains[place + k]])
                top = max(top, state.scratch[k])
            for k in range(count):
                value = state.scratch[k] - top
                if value != values[place + k]:
                    values[place + k] = value
                    changed = np.uint8(1)
            tops[p] = top
        else:
            changed = np.uint8(0)
        moved[p] = changed


@jit()
def solve(state, rows, columns, emissions, begin, n, size, mode):
    """Solve the restricted problem; return what its best labelling is worth."""
    for ahead in range(1, -1 if mode == BOTH else 0, -1):
        pass_messages(
            state,
            rows if ahead else columns,
            state.ahead if ahead else state.back,
            state.top_ahead if ahead else state.top_back,
            state.moved_ahead if ahead else state.moved_back,
            emissions, begin, n, size, ahead,
        )  # fmt: skip
    worth = last_step(state, columns, n, size)[0]
    for p in range(1, n + 1):
        worth += state.top_ahead[p]
    return worth


@jit()
def last_step(state, columns, n, size):
    """Return the value and the place of the best label of the last domain."""
    stride = len(state.left) // 2
    best, place = -np.inf, n * size
    for k in range(n * size, n * size + state.count[n]):
        worth = state.ahead[k] + np.float64(columns[size * stride + state.domains[k]])
        if worth > best:
            best, place = worth, k
    return best, place


@jit()
def trace(state, rows, columns, labels, emissions, begin, n, size):
    """Write the best labelling of the restricted problem; return the size of its terms."""
    place = last_step(state, columns, n, size)[1]
    terms = 0.0
    for p in range(n, 0, -1):
        x = state.domains[place]
        labels[begin + p - 1] = x
        terms += state.peak[p] + abs(np.float64(emissions[(begin + p - 1) * size + x]))
        place = np.int64(state.origin[place])
    return terms


@jit()
def adopt(state, n, size):
    """Let what pricing found join the domains."""
    for p in range(1, n + 1):
        state.grown[p] = state.fresh[p] > 0
        for k in range(p * size + state.count[p], p * size + state.count[p] + state.fresh[p]):
            state.member[p * size + state.domains[k]] = 1
        state.count[p] += state.fresh[p]
        state.fresh[p] = 0


@jit()
def clear(state, n, size):
    """Forget the sentence."""
    for p in range(1, n + 1):
        for k in range(p * size, p * size + state.count[p] + state.fresh[p]):
            state.member[p * size + state.domains[k]] = 0
        state.fresh[p] = 0


@jit()
def generate(state, p, x, size):
    """Let label x join the domain at p when pricing is done."""
    if state.member[p * size + x] == 0:
        state.member[p * size + x] = 2
        state.domains[p * size + state.count[p] + state.fresh[p]] = x
        state.fresh[p] += 1


@jit(forceinline=True)
def halves(state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size, mode, p):
    """Compute the two halves of the reduced costs at position p, for all labels.

    ``left[x] + weight * transitions[x, y] + right[y]`` is the reduced cost of the pair (x, y)
    at two neighbouring positions, times 2 in mode `BOTH` (equation 13). At the last position
    `left`, and at the first `right`, hold what a label is worth in all.

    The dual of a label outside its domain may be anything. It is what the same message says,
    as section 4.2 advises; `SPLIT` raises it by half of what the label's emission lacks
    (equation 9); and where no label of the neighbouring domain may stand beside it, it is the
    largest transition, as if the best label there could.
    """
    stride = len(state.left) // 2
    slot = (p & 1) * stride
    row = (begin + p - 1) * size
    before, after = (p - 1) * size, (p + 1) * size
    top_ahead = fill(np.float32(state.top_ahead[p]))
    top_back = fill(np.float32(state.top_back[p]))
    ahead_count, back_count = state.count[p - 1], state.count[p + 1]
    local = np.float32(emissions[row + state.domains[p * size]])
    peak = fill(FORBIDDEN)
    for block in range(0, stride, LANES):
        worth = emission(emissions, row, block, size)
        alpha = messages(rows, stride, state.domains, state.ahead, before, ahead_count, block)
        if forbids and p > 1:
            alpha = select(greater(alpha, fill(FORBIDDEN)), alpha, load(most_in, block))
        beta = fill(np.float32(0))
        if mode == BOTH or p == n:
            beta = messages(columns, stride, state.domains, state.back, after, back_count, block)
            if forbids and p < n:
                beta = select(greater(beta, fill(FORBIDDEN)), beta, load(most_out, block))
        if mode == BOTH:
            together = add(alpha, worth)
            if p == n:
                left = subtract(add(together, beta), top_ahead)
            else:
                left = subtract(subtract(together, top_ahead), beta)
            if p == 1:
                right = subtract(add(together, beta), top_back)
            else:
                right = subtract(subtract(add(beta, worth), top_back), alpha)
        else:
            lack = fill(np.float32(0))
            if mode == SPLIT and p > 1:
                lack = multiply(fill(np.float32(0.5)), subtract(worth, fill(local)))
                worth = add(fill(local), lack)
            left = add(subtract(add(alpha, worth), top_ahead), beta)
            # a label that is forbidden here needs no dual
            right = select(greater(worth, fill(FORBIDDEN)), subtract(lack, alpha), worth)
        store(state.left, slot + block, left)
        store(state.right, slot + block, right)
        peak = maximum(left, peak)
    if mode == SPLIT and p > 1:
        for k in range(p * size, p * size + state.count[p]):
            x = np.int64(state.domains[k])
            state.left[slot + x] = exact_left(
                state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size,
                mode, p, x,
            )  # fmt: skip
            state.right[slot + x] = exact_right(
                state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size,
                mode, p, x,
            )  # fmt: skip
            peak = maximum(fill(state.left[slot + x]), peak)
    return largest(peak)


@jit()
def duals(state, rows, columns, most_in, most_out, forbids, n, size, p, x):
    """Return the two messages to label x at position p, in 64 bits."""
    stride = len(state.left) // 2
    alpha = message(
        rows, stride, state.domains, state.ahead, (p - 1) * size, state.count[p - 1], x
    )
    if forbids and p > 1 and alpha == -np.inf:
        alpha = np.float64(most_in[x])
    beta = message(
        columns, stride, state.domains, state.back, (p + 1) * size, state.count[p + 1], x
    )
    if forbids and p < n and beta == -np.inf:
        beta = np.float64(most_out[x])
    return alpha, beta


@jit()
def exact_left(
    state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size, mode, p, x
):
    """Return the left half of the reduced cost of one label (see :func:`halves`)."""
    alpha, beta = duals(state, rows, columns, most_in, most_out, forbids, n, size, p, x)
    worth = np.float64(emissions[(begin + p - 1) * size + x])
    if mode == SPLIT and p > 1 and state.member[p * size + x] != 1:
        local = emissions[(begin + p - 1) * size + state.domains[p * size]]
        worth = 0.5 * (worth + np.float64(local))
    left = alpha + worth - state.top_ahead[p]
    if p == n:
        return left + beta
    return left - beta if mode == BOTH else left


@jit()
def exact_right(
    state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size, mode, p, x
):
    """Return the right half of the reduced cost of one label (see :func:`halves`)."""
    alpha, beta = duals(state, rows, columns, most_in, most_out, forbids, n, size, p, x)
    worth = np.float64(emissions[(begin + p - 1) * size + x])
    if mode == BOTH:
        right = beta + worth - state.top_back[p]
        return right + alpha if p == 1 else right - alpha
    if mode == SPLIT and state.member[p * size + x] != 1:
        local = emissions[(begin + p - 1) * size + state.domains[p * size]]
        return 0.5 * (worth - np.float64(local)) - alpha
    return -alpha


@jit(forceinline=True)
def roundings(state, forbids, magnitude, size, p, q):
    """Bound what 32-bit arithmetic does to a reduced cost between positions p and q."""
    scale = 16.0 * magnitude
    for i in (p, q):
        scale += abs(state.top_ahead[i]) + abs(state.top_back[i]) + state.peak[i]
    if forbids:
        # a message may come from a label far below the best one, if that one is not allowed
        for i in range(p - 1, q + 2):
            low = 0.0
            for k in range(i * size, i * size + state.count[i]):
                low = min(low, state.ahead[k], state.back[k])
            scale -= low
    return 32.0 * UNIT32 * scale


@jit()
def price(
    state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n, size, mode,
    least,
):  # fmt: skip
    """Find all pairs of labels whose reduced cost is above `least` (section 4.3, figure 1).

    Returns how many labels will join the domains, and the sum of the largest reduced costs:
    by that much, at most, the best labelling of all is worth more than the best one of the
    restricted problem. It is inf where the scores are too large to tell.
    """
    stride = len(state.left) // 2
    weight = 2 if mode == BOTH else 1
    least = weight * least
    total = 0.0
    held0, held1 = np.int64(-1), np.int64(-1)
    peak0 = peak1 = FORBIDDEN
    for p in range(1, n + 1):
        stale = is_stale(state, p, mode) or least < 0.0
        later = p < n and (is_stale(state, p + 1, mode) or least < 0.0)
        if not (stale or later):
            continue
        for q in range(p, min(p + 1, n) + 1):
            if (q & 1 and held1 != q) or (not q & 1 and held0 != q):
                peak = halves(
                    state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size,
                    mode, q,
                )  # fmt: skip
                if q & 1:
                    held1, peak1 = q, peak
                else:
                    held0, peak0 = q, peak
        if stale and p == 1 and mode == BOTH:
            best = -np.inf
            for k in range(size, size + state.count[1]):
                best = max(
                    best, state.back[k] + np.float64(rows[size * stride + state.domains[k]])
                )
            total += ends(
                state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n,
                size, mode, least, p, best, state.right,
            )  # fmt: skip
        if stale and p == n:
            best = last_step(state, columns, n, size)[0]
            total += ends(
                state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n,
                size, mode, least, n, best, state.left,
            )  # fmt: skip
        if p < n:
            total += pairs(
                state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n,
                size, mode, least, p, peak1 if p & 1 else peak0,
            )  # fmt: skip
    found = 0
    for p in range(1, n + 1):
        found += state.fresh[p]
    return found, total / weight


@jit(forceinline=True)
def is_stale(state, p, mode):
    """Whether the reduced costs at p have changed; if not, there is nothing to find."""
    changed = state.grown[p] or state.moved_ahead[p - 1]
    return changed or (mode == BOTH and state.moved_back[p + 1])


@jit(forceinline=True)
def ends(
    state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n, size, mode,
    least, p, best, values,
):  # fmt: skip
    """Price the labels at one end of the sentence; return the largest reduced cost or 0."""
    stride = len(state.left) // 2
    slot = (p & 1) * stride
    doubt = roundings(state, forbids, magnitude, size, p, p)
    if not doubt < 1e30:
        return np.inf
    bar = fill(np.float32(best + least - doubt))
    worst = 0.0
    for block in range(0, stride, LANES):
        bits = at_least(load(values, slot + block), bar)
        while bits:
            x = block + first_lane(bits)
            bits &= bits - 1
            if state.member[p * size + x] == 1:
                continue
            if p == n:
                cost = exact_left(
                    state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size,
                    mode, p, x,
                )  # fmt: skip
            else:
                cost = exact_right(
                    state, rows, columns, most_in, most_out, forbids, emissions, begin, n, size,
                    mode, p, x,
                )  # fmt: skip
            cost -= best
            worst = max(worst, cost)
            if cost > least:
                generate(state, p, x, size)
    return worst


@jit(forceinline=True)
def pairs(
    state, rows, columns, most_in, most_out, forbids, magnitude, emissions, begin, n, size, mode,
    least, p, peak,
):  # fmt: skip
    """Price the pairs of labels at p and p + 1; return the largest reduced cost or 0.

    A label y at p + 1 is looked at only if it would be above `least` together with the best
    left half and with its largest transition; then all x at p are, by one vector operation
    for each 16.
    """
    stride = len(state.left) // 2
    slot, other = (p & 1) * stride, (~p & 1) * stride
    twice = mode == BOTH
    weight = 2.0 if twice else 1.0
    doubt = roundings(state, forbids, magnitude, size, p, p + 1)
    if not doubt < 1e30:
        return np.inf
    bar = fill(np.float32(least - doubt))
    worst = 0.0
    for block in range(0, stride, LANES):
        hope = add(load(state.right, other + block), fill(peak))
        bound = load(most_in, block)
        hope = add(hope, bound)
        if twice:
            hope = add(hope, bound)
        candidates = at_least(hope, bar)
        while candidates:
            y = block + first_lane(candidates)
            candidates &= candidates - 1
            known = state.member[(p + 1) * size + y] == 1
            right = np.float64(state.right[other + y])
            lacking = fill(np.float32(least - doubt - right))
            for column in range(0, stride, LANES):
                step = load(columns, y * stride + column)
                cost32 = add(load(state.left, slot + column), step)
                if twice:
                    cost32 = add(cost32, step)
                bits = at_least(cost32, lacking)
                while bits:
                    x = column + first_lane(bits)
                    bits &= bits - 1
                    if known and state.member[p * size + x] == 1:
                        continue
                    between = weight * np.float64(columns[y * stride + x])
                    cost = np.float64(state.left[slot + x]) + between + right
                    if cost > least + doubt:
                        cost += doubt
                    else:
                        # too close to tell in 32 bits
                        cost = (
                            exact_left(
                                state, rows, columns, most_in, most_out, forbids, emissions,
                                begin, n, size, mode, p, x,
                            )
                            + between
                            + exact_right(
                                state, rows, columns, most_in, most_out, forbids, emissions,
                                begin, n, size, mode, p + 1, y,
                            )
                        )  # fmt: skip
                    worst = max(worst, cost)
                    if cost > least:
                        generate(state, p, x, size)
                        generate(state, p + 1, y, size)
    return worst


@jit()
def decode(
    rows, columns, most_in, most_out, forbids, magnitude, largest_score,
    emissions, offsets, size, mode, gap, limit,
):  # fmt: skip
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    excess
        **Shape (sentences,)**: the duals prove that no labelling is worth more than the one
        returned plus this.
    slacks
        **Shape (sentences,)**: what rounding may have done to the proof.
    iterations
        **Shape (sentences,)**.
    sound, sentence, token
        Whether the emissions are neither NaN nor ``+inf`` nor too large; where no label is
        allowed, or -1.
    """
    sentences = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    excess = np.zeros(sentences)
    slacks = np.zeros(sentences)
    iterations = np.zeros(sentences, np.int64)
    longest = np.int64(0)
    for s in range(sentences):
        longest = max(longest, offsets[s + 1] - offsets[s])
    state = workspace(longest, size, len(most_in))
    for s in range(sentences):
        n = offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        sound, token = open_domains(state, rows, columns, emissions, offsets[s], n, size)
        if not sound or token >= 0:
            return labels, excess, slacks, iterations, sound, s, token
        if forbids:
            close(state, rows, columns, emissions, offsets[s], n, size)
        best_bound = np.inf
        while True:
            worth = solve(state, rows, columns, emissions, offsets[s], n, size, mode)
            found, over = price(
                state, rows, columns, most_in, most_out, forbids, magnitude,
                emissions, offsets[s], n, size, mode, 0.0,
            )  # fmt: skip
            iterations[s] += 1
            if not over < np.inf:
                return labels, excess, slacks, iterations, False, s, token
            best_bound = min(best_bound, worth + over)
            if not found or iterations[s] == limit or best_bound - worth <= gap:
                break
            adopt(state, n, size)
            if forbids:
                close(state, rows, columns, emissions, offsets[s], n, size)
        # nothing left to generate: the excess is 0, not what is left of a subtraction
        excess[s] = max(0.0, best_bound - worth) if found else 0.0
        slacks[s] = n * largest_score + trace(
            state, rows, columns, labels, emissions, offsets[s], n, size
        )
        clear(state, n, size)
    return labels, excess, slacks, iterations, True, -1, -1
