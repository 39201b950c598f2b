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

from .....jit import jit, uncounted
from .....simd import (
    add,
    at_least,
    fill16,
    first_lane,
    largest,
    load16,
    maximum,
    multiply,
    select_greater,
    store,
    subtract,
)
from ...kernels.layout import FORBIDDEN, LANES, emissions16

__all__ = ["BOTH", "LEFT", "SPLIT", "decode", "decode_other"]

#: The reduced costs of equations 12, 8 and 9.
BOTH, LEFT, SPLIT = 0, 1, 2

UNIT32 = 2.0**-24


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
    best = fill16(FORBIDDEN)
    for k in range(place, place + count):
        step = load16(table, np.int64(domains[k]) * stride + block)
        best = maximum(add(fill16(np.float32(values[k])), step), best)
    return best


#: What all sentences share: padded scores, their bounds, emissions, sizes and options.
Job = namedtuple(
    "Job", "rows columns most_in most_out emissions size stride mode forbids magnitude largest"
)

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


@uncounted()
def open_domains(job, state, begin, n):
    """Start every domain with the best label by local evidence (section 4.1).

    Returns whether the emissions are sound, and the first token without a label, or -1.
    """
    size, stride = job.size, job.stride
    for p in range(1, n + 1):
        row = (begin + p - 1) * size
        best = fill16(FORBIDDEN)
        for block in range(0, stride, LANES):
            worth = emissions16(job.emissions, row, block, size)
            if p == 1:
                worth = add(worth, load16(job.rows, size * stride + block))
            if p == n:
                worth = add(worth, load16(job.columns, size * stride + block))
            store(state.left, block, worth)
            best = maximum(worth, best)
        top = largest(best)
        if not (FORBIDDEN < top < np.inf):
            return True, p - 1
        x = np.int64(0)
        for block in range(0, stride, LANES):
            bits = at_least(load16(state.left, block), fill16(top))
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
    return True, -1


@uncounted()
def close(job, state, begin, n):
    """Put every label of every domain on a legal path within the domains.

    Every emission that is left lies on some legal path, so there always is a label to add.
    """
    size = job.size
    for ahead in (False, True):
        table = job.rows if ahead else job.columns
        for j in range(1, n):
            # label x at p wants a label at q that it may stand beside
            p = j if ahead else n + 1 - j
            q = p + 1 if ahead else p - 1
            for k in range(state.count[p]):
                x = np.int64(state.domains[p * size + k])
                if not beside(job, state, table, x, q * size, state.count[q]):
                    y = companion(job, table, x, (begin + q - 1) * size)
                    state.domains[q * size + state.count[q]] = y
                    state.member[q * size + y] = 1
                    state.count[q] += 1
                    state.grown[q] = 1


@uncounted()
def beside(job, state, table, x, place, count):
    stride = job.stride
    for k in range(place, place + count):
        if table[x * stride + state.domains[k]] > FORBIDDEN:
            return True
    return False


@uncounted()
def companion(job, table, x, row):
    size, stride = job.size, job.stride
    best, chosen = FORBIDDEN, np.int64(0)
    for y in range(size):
        worth = job.emissions[row + y] + table[x * stride + y]
        if worth > best:
            best, chosen = worth, y
    return chosen


@uncounted(forceinline=True)
def pass_messages(job, state, table, values, tops, moved, begin, n, ahead):
    """Bring the messages of one direction up to date (equations 7 and 11).

    Where neither the domain nor the messages before it have changed, nothing is done
    (section 4.2).
    """
    size, stride = job.size, job.stride
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
                state.scratch[k] += np.float64(job.emissions[row + state.domains[place + k]])
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


@uncounted()
def solve(job, state, begin, n):
    """Solve the restricted problem; return what its best labelling is worth."""
    for ahead in range(1, -1 if job.mode == BOTH else 0, -1):
        pass_messages(
            job,
            state,
            job.rows if ahead else job.columns,
            state.ahead if ahead else state.back,
            state.top_ahead if ahead else state.top_back,
            state.moved_ahead if ahead else state.moved_back,
            begin,
            n,
            ahead,
        )
    worth = last_step(job, state, n)[0]
    for p in range(1, n + 1):
        worth += state.top_ahead[p]
    return worth


@uncounted()
def last_step(job, state, n):
    """Return the value and the place of the best label of the last domain."""
    size, stride = job.size, job.stride
    best, place = -np.inf, n * size
    for k in range(n * size, n * size + state.count[n]):
        worth = state.ahead[k] + np.float64(job.columns[size * stride + state.domains[k]])
        if worth > best:
            best, place = worth, k
    return best, place


@uncounted()
def trace(job, state, labels, begin, n):
    """Write the best labelling of the restricted problem; return the size of its terms."""
    size = job.size
    place = last_step(job, state, n)[1]
    terms = n * job.largest
    for p in range(n, 0, -1):
        x = state.domains[place]
        labels[begin + p - 1] = x
        terms += state.peak[p] + abs(np.float64(job.emissions[(begin + p - 1) * size + x]))
        place = np.int64(state.origin[place])
    return terms


@uncounted()
def adopt(job, state, n):
    """Let what pricing found join the domains."""
    size = job.size
    for p in range(1, n + 1):
        state.grown[p] = state.fresh[p] > 0
        for k in range(p * size + state.count[p], p * size + state.count[p] + state.fresh[p]):
            state.member[p * size + state.domains[k]] = 1
        state.count[p] += state.fresh[p]
        state.fresh[p] = 0


@uncounted()
def clear(job, state, n):
    """Forget the sentence."""
    size = job.size
    for p in range(1, n + 1):
        for k in range(p * size, p * size + state.count[p] + state.fresh[p]):
            state.member[p * size + state.domains[k]] = 0
        state.fresh[p] = 0


@uncounted()
def generate(job, state, p, x):
    """Let label x join the domain at p when pricing is done."""
    size = job.size
    if state.member[p * size + x] == 0:
        state.member[p * size + x] = 2
        state.domains[p * size + state.count[p] + state.fresh[p]] = x
        state.fresh[p] += 1


@uncounted(forceinline=True)
def halves(job, state, begin, n, p):
    """Compute the two halves of the reduced costs at position p, for all labels.

    ``left[x] + weight * transitions[x, y] + right[y]`` is the reduced cost of the pair (x, y)
    at two neighbouring positions, times 2 in mode `BOTH` (equation 13). At the last position
    `left`, and at the first `right`, hold what a label is worth in all.

    The dual of a label outside its domain may be anything. It is what the same message says,
    as section 4.2 advises; `SPLIT` raises it by half of what the label's emission lacks
    (equation 9); and where no label of the neighbouring domain may stand beside it, it is the
    largest transition, as if the best label there could.
    """
    size, stride = job.size, job.stride
    slot = (p & 1) * stride
    row = (begin + p - 1) * size
    before, after = (p - 1) * size, (p + 1) * size
    top_ahead = fill16(np.float32(state.top_ahead[p]))
    top_back = fill16(np.float32(state.top_back[p]))
    ahead_count, back_count = state.count[p - 1], state.count[p + 1]
    local = np.float32(job.emissions[row + state.domains[p * size]])
    peak = fill16(FORBIDDEN)
    for block in range(0, stride, LANES):
        worth = emissions16(job.emissions, row, block, size)
        alpha = messages(job.rows, stride, state.domains, state.ahead, before, ahead_count, block)
        if job.forbids and p > 1:
            alpha = select_greater(alpha, fill16(FORBIDDEN), alpha, load16(job.most_in, block))
        beta = fill16(np.float32(0))
        if job.mode == BOTH or p == n:
            beta = messages(
                job.columns, stride, state.domains, state.back, after, back_count, block
            )
            if job.forbids and p < n:
                beta = select_greater(beta, fill16(FORBIDDEN), beta, load16(job.most_out, block))
        if job.mode == BOTH:
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
            lack = fill16(np.float32(0))
            if job.mode == SPLIT and p > 1:
                lack = multiply(fill16(np.float32(0.5)), subtract(worth, fill16(local)))
                worth = add(fill16(local), lack)
            left = add(subtract(add(alpha, worth), top_ahead), beta)
            # a label that is forbidden here needs no dual
            right = select_greater(worth, fill16(FORBIDDEN), subtract(lack, alpha), worth)
        store(state.left, slot + block, left)
        store(state.right, slot + block, right)
        peak = maximum(left, peak)
    if job.mode == SPLIT and p > 1:
        for k in range(p * size, p * size + state.count[p]):
            x = np.int64(state.domains[k])
            state.left[slot + x] = exact_left(
                job,
                state,
                begin,
                n,
                p,
                x,
            )
            state.right[slot + x] = exact_right(
                job,
                state,
                begin,
                n,
                p,
                x,
            )
            peak = maximum(fill16(state.left[slot + x]), peak)
    return largest(peak)


@uncounted()
def duals(job, state, n, p, x):
    """Return the two messages to label x at position p, in 64 bits."""
    size, stride = job.size, job.stride
    alpha = message(
        job.rows, stride, state.domains, state.ahead, (p - 1) * size, state.count[p - 1], x
    )
    if job.forbids and p > 1 and alpha == -np.inf:
        alpha = np.float64(job.most_in[x])
    beta = message(
        job.columns, stride, state.domains, state.back, (p + 1) * size, state.count[p + 1], x
    )
    if job.forbids and p < n and beta == -np.inf:
        beta = np.float64(job.most_out[x])
    return alpha, beta


@uncounted()
def exact_left(job, state, begin, n, p, x):
    """Return the left half of the reduced cost of one label (see :func:`halves`)."""
    size = job.size
    alpha, beta = duals(job, state, n, p, x)
    worth = np.float64(job.emissions[(begin + p - 1) * size + x])
    if job.mode == SPLIT and p > 1 and state.member[p * size + x] != 1:
        local = job.emissions[(begin + p - 1) * size + state.domains[p * size]]
        worth = 0.5 * (worth + np.float64(local))
    left = alpha + worth - state.top_ahead[p]
    if p == n:
        return left + beta
    return left - beta if job.mode == BOTH else left


@uncounted()
def exact_right(job, state, begin, n, p, x):
    """Return the right half of the reduced cost of one label (see :func:`halves`)."""
    size = job.size
    alpha, beta = duals(job, state, n, p, x)
    worth = np.float64(job.emissions[(begin + p - 1) * size + x])
    if job.mode == BOTH:
        right = beta + worth - state.top_back[p]
        return right + alpha if p == 1 else right - alpha
    if job.mode == SPLIT and state.member[p * size + x] != 1:
        local = job.emissions[(begin + p - 1) * size + state.domains[p * size]]
        return 0.5 * (worth - np.float64(local)) - alpha
    return -alpha


@uncounted(forceinline=True)
def roundings(job, state, p, q):
    """Bound what 32-bit arithmetic does to a reduced cost between positions p and q."""
    size = job.size
    scale = 16.0 * job.magnitude
    for i in (p, q):
        scale += abs(state.top_ahead[i]) + abs(state.top_back[i]) + state.peak[i]
    if job.forbids:
        # a message may come from a label far below the best one, if that one is not allowed
        for i in range(p - 1, q + 2):
            low = 0.0
            for k in range(i * size, i * size + state.count[i]):
                low = min(low, state.ahead[k], state.back[k])
            scale -= low
    return 32.0 * UNIT32 * scale


@uncounted()
def price(
    job,
    state,
    begin,
    n,
    least,
):
    """Find all pairs of labels whose reduced cost is above `least` (section 4.3, figure 1).

    Returns how many labels will join the domains, and the sum of the largest reduced costs:
    by that much, at most, the best labelling of all is worth more than the best one of the
    restricted problem. It is inf where the scores are too large to tell.
    """
    size, stride = job.size, job.stride
    weight = 2 if job.mode == BOTH else 1
    least = weight * least
    total = 0.0
    held0, held1 = np.int64(-1), np.int64(-1)
    peak0 = peak1 = FORBIDDEN
    for p in range(1, n + 1):
        stale = is_stale(job, state, p) or least < 0.0
        later = p < n and (is_stale(job, state, p + 1) or least < 0.0)
        if not (stale or later):
            continue
        for q in range(p, min(p + 1, n) + 1):
            if (q & 1 and held1 != q) or (not q & 1 and held0 != q):
                peak = halves(
                    job,
                    state,
                    begin,
                    n,
                    q,
                )
                if q & 1:
                    held1, peak1 = q, peak
                else:
                    held0, peak0 = q, peak
        if stale and p == 1 and job.mode == BOTH:
            best = -np.inf
            for k in range(size, size + state.count[1]):
                best = max(
                    best, state.back[k] + np.float64(job.rows[size * stride + state.domains[k]])
                )
            total += ends(
                job,
                state,
                begin,
                n,
                least,
                p,
                best,
                state.right,
            )
        if stale and p == n:
            best = last_step(job, state, n)[0]
            total += ends(
                job,
                state,
                begin,
                n,
                least,
                n,
                best,
                state.left,
            )
        if p < n:
            total += pairs(
                job,
                state,
                begin,
                n,
                least,
                p,
                peak1 if p & 1 else peak0,
            )
    found = 0
    for p in range(1, n + 1):
        found += state.fresh[p]
    return found, total / weight


@uncounted(forceinline=True)
def is_stale(job, state, p):
    """Whether the reduced costs at p have changed; if not, there is nothing to find."""
    changed = state.grown[p] or state.moved_ahead[p - 1]
    return changed or (job.mode == BOTH and state.moved_back[p + 1])


@uncounted(forceinline=True)
def ends(
    job,
    state,
    begin,
    n,
    least,
    p,
    best,
    values,
):
    """Price the labels at one end of the sentence; return the largest reduced cost or 0."""
    size, stride = job.size, job.stride
    slot = (p & 1) * stride
    doubt = roundings(job, state, p, p)
    if not doubt < 1e30:
        return np.inf
    bar = fill16(np.float32(best + least - doubt))
    worst = 0.0
    for block in range(0, stride, LANES):
        bits = at_least(load16(values, slot + block), bar)
        while bits:
            x = block + first_lane(bits)
            bits &= bits - 1
            if state.member[p * size + x] == 1:
                continue
            if p == n:
                cost = exact_left(
                    job,
                    state,
                    begin,
                    n,
                    p,
                    x,
                )
            else:
                cost = exact_right(
                    job,
                    state,
                    begin,
                    n,
                    p,
                    x,
                )
            cost -= best
            worst = max(worst, cost)
            if cost > least:
                generate(job, state, p, x)
    return worst


@uncounted(forceinline=True)
def pairs(
    job,
    state,
    begin,
    n,
    least,
    p,
    peak,
):
    """Price the pairs of labels at p and p + 1; return the largest reduced cost or 0.

    A label y at p + 1 is looked at only if it would be above `least` together with the best
    left half and with its largest transition; then all x at p are, by one vector operation
    for each 16.
    """
    size, stride = job.size, job.stride
    slot, other = (p & 1) * stride, (~p & 1) * stride
    twice = job.mode == BOTH
    weight = 2.0 if twice else 1.0
    doubt = roundings(job, state, p, p + 1)
    if not doubt < 1e30:
        return np.inf
    bar = fill16(np.float32(least - doubt))
    worst = 0.0
    for block in range(0, stride, LANES):
        hope = add(load16(state.right, other + block), fill16(peak))
        bound = load16(job.most_in, block)
        hope = add(hope, bound)
        if twice:
            hope = add(hope, bound)
        candidates = at_least(hope, bar)
        while candidates:
            y = block + first_lane(candidates)
            candidates &= candidates - 1
            known = state.member[(p + 1) * size + y] == 1
            right = np.float64(state.right[other + y])
            lacking = fill16(np.float32(least - doubt - right))
            for column in range(0, stride, LANES):
                step = load16(job.columns, y * stride + column)
                cost32 = add(load16(state.left, slot + column), step)
                if twice:
                    cost32 = add(cost32, step)
                bits = at_least(cost32, lacking)
                while bits:
                    x = column + first_lane(bits)
                    bits &= bits - 1
                    if known and state.member[p * size + x] == 1:
                        continue
                    between = weight * np.float64(job.columns[y * stride + x])
                    cost = np.float64(state.left[slot + x]) + between + right
                    if cost > least + doubt:
                        cost += doubt
                    else:
                        # too close to tell in 32 bits
                        cost = (
                            exact_left(
                                job,
                                state,
                                begin,
                                n,
                                p,
                                x,
                            )
                            + between
                            + exact_right(
                                job,
                                state,
                                begin,
                                n,
                                p + 1,
                                y,
                            )
                        )
                    worst = max(worst, cost)
                    if cost > least:
                        generate(job, state, p, x)
                        generate(job, state, p + 1, y)
    return worst


@uncounted()
def converge(job, state, begin, n, gap, limit):
    """Generate columns until the best labelling of the domains is the best of all (figure 1).

    Returns
    -------
    sound, token
        Whether the emissions are neither NaN nor ``+inf`` nor too large; where no label is
        allowed, or -1.
    excess
        The duals prove that no labelling is worth more than the one found plus this.
    iterations
        How often the restricted problem was solved.
    """
    sound, token = open_domains(job, state, begin, n)
    if not sound or token >= 0:
        return sound, token, 0.0, 0
    if job.forbids:
        close(job, state, begin, n)
    best_bound = np.inf
    iterations = 0
    while True:
        worth = solve(job, state, begin, n)
        found, over = price(job, state, begin, n, 0.0)
        iterations += 1
        if not over < np.inf:
            return False, token, 0.0, iterations
        best_bound = min(best_bound, worth + over)
        if not found:
            # nothing to generate: the excess is 0, not what is left of a subtraction
            return True, token, 0.0, iterations
        if iterations == limit or best_bound - worth <= gap:
            return True, token, max(0.0, best_bound - worth), iterations
        adopt(job, state, n)
        if job.forbids:
            close(job, state, begin, n)


@jit()
def longest_of(offsets):
    longest = np.int64(0)
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    return longest


@jit()
def decode(
    rows, columns, most_in, most_out, emissions, size, mode, forbids, magnitude, largest_score,
    offsets, gap, limit,
):  # fmt: skip
    """Decode a batch.

    Returns
    -------
    labels
        **Shape (total,)**, int32.
    excess
        **Shape (sentences,)**: see :func:`converge`.
    iterations
        **Shape (sentences,)**.
    sound, sentence, token
        See :func:`converge`.
    """
    job = Job(
        rows, columns, most_in, most_out, emissions, size, len(most_in), mode, forbids, magnitude,
        largest_score,
    )  # fmt: skip
    sentences = len(offsets) - 1
    labels = np.zeros(offsets[-1], np.int32)
    excess = np.zeros(sentences)
    iterations = np.zeros(sentences, np.int64)
    state = workspace(longest_of(offsets), size, len(most_in))
    for s in range(sentences):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        sound, token, excess[s], iterations[s] = converge(job, state, begin, n, gap, limit)
        if not sound or token >= 0:
            return labels, excess, iterations, sound, s, token
        trace(job, state, labels, begin, n)
        clear(job, state, n)
    return labels, excess, iterations, True, -1, -1


# --- the best labelling but one -----------------------------------------------


@jit()
def decode_other(
    rows, columns, most_in, most_out, emissions, size, mode, forbids, magnitude, largest_score,
    gold,
):  # fmt: skip
    """Find the best labelling of one sentence that is not `gold`.

    If `gold` is the best, some other labelling is known to be worth at most `delta` less.
    Whatever is worth more than that has no pair with a reduced cost below ``-delta``, so the
    best two labellings over the domains with all pairs above that are the best two of all
    (section 5, margin violation queries).

    Returns
    -------
    labels, iterations, sound, token
        As for :func:`decode`; the token is `n` if there is no other labelling.
    """
    job = Job(
        rows, columns, most_in, most_out, emissions, size, len(most_in), mode, forbids, magnitude,
        largest_score,
    )  # fmt: skip
    n = len(gold)
    labels = gold.copy()
    state = workspace(n, size, len(most_in))
    begin = np.int64(0)
    sound, token, _, iterations = converge(job, state, begin, n, 0.0, -1)
    if not sound or token >= 0:
        return labels, iterations, sound, token
    scale = trace(job, state, labels, begin, n)
    if not same(labels, gold):
        return labels, iterations, True, -1
    ranked = Ranked(
        np.empty((n + 2) * size),
        np.empty((n + 2) * size),
        np.empty((n + 2) * size, np.int64),
        np.empty((n + 2) * size, np.int64),
    )
    known = max(best_flip(job, state, labels, n), two_best(job, state, ranked, n))
    least = max(known - 2.0**-40 * scale, -1e36)
    sound = price(job, state, begin, n, least)[1] < np.inf
    adopt(job, state, n)
    if two_best(job, state, ranked, n) == -np.inf:
        return labels, iterations, sound, n
    for rank in range(2):
        trace_ranked(job, state, ranked, labels, n, rank)
        if not same(labels, gold):
            break
    return labels, iterations, sound, -1


#: The best two ways to each label of a domain: what they are worth, and where they come from,
#: which is twice the place in `domains`, plus 1 for the second best way to there.
Ranked = namedtuple("Ranked", "first second first_origin second_origin")


@uncounted()
def same(left, right):
    for i in range(len(left)):
        if left[i] != right[i]:
            return False
    return True


@uncounted()
def best_flip(job, state, labels, n):
    """Return by how much the best change of one label changes the score; -inf if none can."""
    size, stride = job.size, job.stride
    best = -np.inf
    for i in range(n):
        before = np.int64(labels[i - 1]) if i else size
        after = np.int64(labels[i + 1]) if i < n - 1 else size
        for block in range(0, stride, LANES):
            worth = emissions16(job.emissions, i * size, block, size)
            worth = add(worth, load16(job.rows, before * stride + block))
            store(state.left, block, add(worth, load16(job.columns, after * stride + block)))
        old = np.int64(labels[i])
        state.left[old] = FORBIDDEN
        peak = fill16(FORBIDDEN)
        for block in range(0, stride, LANES):
            peak = maximum(load16(state.left, block), peak)
        top = largest(peak)
        if top > FORBIDDEN:
            x = np.int64(0)
            while state.left[x] != top:
                x += 1
            change = 0.0
            for y, sign in ((x, 1.0), (old, -1.0)):
                change += sign * np.float64(job.emissions[i * size + y])
                change += sign * np.float64(job.rows[before * stride + y])
                change += sign * np.float64(job.columns[after * stride + y])
            best = max(best, change)
    return best


@uncounted()
def two_best(job, state, ranked, n):
    """Rank the best two labellings of the domains; return the second's worth less the first's."""
    size, stride = job.size, job.stride
    ranked.first[0], ranked.second[0] = 0.0, -np.inf
    for p in range(1, n + 2):
        top = -np.inf
        for k in range(p * size, p * size + state.count[p]):
            x = np.int64(state.domains[k])
            ranked.first[k] = ranked.second[k] = -np.inf
            ranked.first_origin[k] = ranked.second_origin[k] = 0
            for i in range((p - 1) * size, (p - 1) * size + state.count[p - 1]):
                y = np.int64(state.domains[i])
                if p <= n:
                    step = np.float64(job.rows[y * stride + x])
                    step += np.float64(job.emissions[(p - 1) * size + x])
                else:
                    step = np.float64(job.columns[size * stride + y])
                for rank in range(2):
                    worth = (ranked.second[i] if rank else ranked.first[i]) + step
                    if worth > ranked.first[k]:
                        ranked.second[k] = ranked.first[k]
                        ranked.second_origin[k] = ranked.first_origin[k]
                        ranked.first[k], ranked.first_origin[k] = worth, 2 * i + rank
                    elif worth > ranked.second[k]:
                        ranked.second[k], ranked.second_origin[k] = worth, 2 * i + rank
            top = max(top, ranked.first[k])
        if p <= n:
            for k in range(p * size, p * size + state.count[p]):
                ranked.first[k] -= top
                ranked.second[k] -= top
    place = (n + 1) * size
    return ranked.second[place] - ranked.first[place]


@uncounted()
def trace_ranked(job, state, ranked, labels, n, rank):
    """Write the best or the second best labelling of the domains."""
    place = (n + 1) * job.size
    for p in range(n, 0, -1):
        origin = ranked.second_origin[place] if rank else ranked.first_origin[place]
        place, rank = origin // 2, origin % 2
        labels[p - 1] = state.domains[place]
