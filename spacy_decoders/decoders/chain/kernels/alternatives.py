"""What comes after the best labelling, by forward dominance with slack.

A single token that changes its label gives a labelling that is worse by some loss; so the
k-th best labelling is at most the (k - 1)-th smallest such loss worse than the best, and
every label on it survives forward dominance with that slack. The rest is exact dynamic
programming over survivors, in float64.
"""

import numpy as np

from ....jit import jit, uncounted
from .dominance import (
    DONE,
    EVERYTHING,
    FLAT,
    FORBIDDEN,
    LOST,
    UNIT32,
    UNSOUND,
    emission,
    emission_word,
)
from .forward_dominance import survivors, trace, workspace
from .vectors import (
    LANES,
    WORD,
    add,
    at_least,
    chosen,
    crest,
    fill,
    fill_word,
    first_lane,
    largest,
    load,
    load_word,
    maximum,
    peek,
    store,
)
from .viterbi import sweep_one

__all__ = ["k_best", "margins"]

PATIENT = (2.0, 1.0)  # never to give a sentence up: see `FLAT`


@jit()
def all_survivors(model, emissions, begin, n, size, slack, patience, work, names, scores):
    """Find the survivors with slack; all legal labels where there is no reference path."""
    names, scores, status, token, roundings = survivors(
        model, emissions, begin, n, size, slack, patience, work, names, scores
    )
    if status == LOST:
        names, scores, status, token, roundings = survivors(
            model, emissions, begin, n, size, EVERYTHING, patience, work, names, scores
        )
    return names, scores, status, token, roundings


@jit(inline="always")
def neighbours(labels, i, n, size):
    """Return the labels before and after token i; `size` stands for start and end scores."""
    before = np.int64(labels[i - 1]) if i else size
    after = np.int64(labels[i + 1]) if i < n - 1 else size
    return before, after


@jit(inline="always")
def flip(transitions, transposed, lead, tail, emissions, row, word, size):
    """Return what 64 labels of a token are worth beside the labels of its neighbours."""
    links = add(load_word(transitions, lead + word), load_word(transposed, tail + word))
    return add(links, emission_word(emissions, row, word, size))


@jit()
def widened(slack, total, magnitude, worth):
    """Return a slack that no rounding makes too small."""
    if not slack < EVERYTHING:
        return EVERYTHING
    sizes = total + 4.0 * magnitude + abs(np.float64(worth)) + abs(np.float64(slack))
    return np.float32(min(slack + 8.0 * UNIT32 * sizes, np.float64(EVERYTHING)))


@uncounted()
def slack_of(model, transposed, emissions, begin, n, size, labels, values, losses, total):
    """Fill in the smallest losses, sorted; return the slack that the largest of them asks for."""
    transitions, stride = model[0], len(model[1])
    most = len(losses) - 1
    extreme = np.float32(0)
    for i in range(n):
        row, y = (begin + i) * size, np.int64(labels[i])
        before, after = neighbours(labels, i, n, size)
        lead, tail = before * stride, after * stride
        worth = peek(transitions, lead + y) + peek(transposed, tail + y) + peek(emissions, row + y)
        extreme = max(extreme, abs(worth))
        for word in range(0, size, WORD):
            others = flip(transitions, transposed, lead, tail, emissions, row, word, size)
            bits = at_least(others, fill_word(worth - losses[most]))
            if word <= y < word + WORD:
                bits &= ~(np.int64(1) << (y - word))
            if bits:
                store(values, 0, others)
            while bits:
                lane = first_lane(bits)
                bits &= bits - 1
                loss = max(worth - peek(values, lane), np.float32(0))
                if loss < losses[most]:
                    r = most
                    while r > 0 and losses[r - 1] > loss:
                        losses[r] = losses[r - 1]
                        r -= 1
                    losses[r] = loss
    return widened(losses[most], total, model[2], extreme)


@jit()
def k_best(model, transposed, emissions, begin, n, size, k):
    """Return the k best labellings of one sentence, best first, as an array (found, n).

    With them: whether all emissions are sound, and the token of a dead end, or -1.
    """
    nothing = np.empty((0, n), np.int32)
    work, names, scores = workspace(model, n, size)
    marks = work[0]
    labels = np.zeros(n, np.int32)
    none = np.float32(0)
    names, scores, status, token, total = all_survivors(
        model, emissions, begin, n, size, none, PATIENT, work, names, scores
    )
    if status != DONE:
        return nothing, status != UNSOUND, token
    trace(model, emissions, begin, n, size, marks, names, scores, labels, 0)
    losses = np.full(max(k - 1, 1), np.float32(np.inf))
    slack = slack_of(model, transposed, emissions, begin, n, size, labels, work[1], losses, total)
    names, scores, _, _, _ = all_survivors(
        model, emissions, begin, n, size, slack, PATIENT, work, names, scores
    )
    return ranked(model, emissions, begin, n, size, k, marks, names), True, -1


@jit()
def insert(worth, origins, ranks, at, candidate, origin, rank):
    """Put a candidate into the sorted list of row `at`, if it is good enough."""
    r = worth.shape[1] - 1
    while r > 0 and worth[at, r - 1] < candidate:
        worth[at, r] = worth[at, r - 1]
        origins[at, r] = origins[at, r - 1]
        ranks[at, r] = ranks[at, r - 1]
        r -= 1
    worth[at, r] = candidate
    origins[at, r] = origin
    ranks[at, r] = rank


@jit()
def ranked(model, emissions, begin, n, size, k, marks, names):
    """Return the k best paths through the survivors."""
    transitions, end, stride = model[0], model[1], len(model[1])
    goal = marks[n + 1]  # one state after the last
    worth = np.full((goal + 1, k), -np.inf)
    origins = np.zeros((goal + 1, k), np.int64)
    ranks = np.zeros((goal + 1, k), np.int64)
    worth[0, 0] = 0.0
    for i in range(n + 1):
        for state in range(marks[i + 1], marks[i + 2] if i < n else goal + 1):
            y = names[state] if i < n else 0
            own = np.float64(emissions[(begin + i) * size + y]) if i < n else 0.0
            for before in range(marks[i], marks[i + 1]):
                link = transitions[names[before] * stride + y] if i < n else end[names[before]]
                gain = np.float64(link) + own
                for rank in range(k):
                    candidate = worth[before, rank] + gain
                    if not candidate > worth[state, k - 1]:
                        break
                    insert(worth, origins, ranks, state, candidate, before, rank)
    found = 0
    while found < k and worth[goal, found] > -np.inf:
        found += 1
    paths = np.empty((found, n), np.int32)
    for r in range(found):
        state, rank = goal, r
        for i in range(n - 1, -1, -1):
            state, rank = origins[state, rank], ranks[state, rank]
            paths[r, i] = names[state]
    return paths


@jit()
def margins(model, transposed, emissions, offsets, size, cap):
    """Return the max-marginal margins of all tokens, up to `cap`.

    With them: whether all emissions are sound, and the first dead end (sentence, token).
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    work, names, scores = workspace(model, longest, size)
    labels = np.zeros(longest, np.int32)
    found = np.full(offsets[-1], cap)
    none = np.float32(0)
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        names, scores, status, token, total = all_survivors(
            model, emissions, begin, n, size, none, PATIENT, work, names, scores
        )
        if status != DONE:
            return found, status != UNSOUND, s, token
        trace(model, emissions, begin, n, size, work[0], names, scores, labels, 0)
        slack = margin_slack(model, transposed, emissions, begin, n, size, labels, cap, total)
        status = DONE + 1
        if slack < EVERYTHING:
            names, scores, status, _, _ = all_survivors(
                model, emissions, begin, n, size, slack, FLAT, work, names, scores
            )
        if status == DONE:
            sparse_margins(model, emissions, begin, n, size, labels, work[0], names, found)
        else:
            dense_margins(model, transposed, emissions, begin, n, size, labels, found)
    return found, True, -1, -1


@uncounted()
def margin_slack(model, transposed, emissions, begin, n, size, labels, cap, total):
    """Return the slack with which every margin up to `cap` shows among the survivors."""
    transitions, stride = model[0], len(model[1])
    most = extreme = np.float32(0)
    for i in range(n):
        row, y = (begin + i) * size, np.int64(labels[i])
        before, after = neighbours(labels, i, n, size)
        lead, tail = before * stride, after * stride
        worth = peek(transitions, lead + y) + peek(transposed, tail + y) + peek(emissions, row + y)
        extreme = max(extreme, abs(worth))
        peak = fill(FORBIDDEN)
        for word in range(0, size, WORD):
            others = flip(transitions, transposed, lead, tail, emissions, row, word, size)
            if word <= y < word + WORD:
                others = chosen(~(np.int64(1) << (y - word)), others)
            peak = maximum(crest(others), peak)
        loss = worth - largest(peak)
        if loss == np.inf:
            # no change of this token alone is legal: perhaps no other label is at all
            legal = 0
            for x in range(size):
                legal += emissions[row + x] > FORBIDDEN
            if legal == 1:
                continue
        most = max(most, loss)
        if most >= cap:
            most = cap
            break
    return widened(most, total, model[2], extreme)


@jit()
def sparse_margins(model, emissions, begin, n, size, labels, marks, names, found):
    """Lower `found` to the margins among the survivors, by messages from both ends."""
    transitions, end, stride = model[0], model[1], len(model[1])
    count = marks[n + 1]
    ahead = np.full(count, -np.inf)  # best prefix that ends here, own emission included
    behind = np.full(count, -np.inf)  # best suffix after here
    ahead[0] = 0.0
    for i in range(n):
        for y in range(marks[i + 1], marks[i + 2]):
            best = -np.inf
            for x in range(marks[i], marks[i + 1]):
                best = max(best, ahead[x] + np.float64(transitions[names[x] * stride + names[y]]))
            ahead[y] = best + np.float64(emissions[(begin + i) * size + names[y]])
    for i in range(n - 1, -1, -1):
        chosen = other = -np.inf
        for x in range(marks[i + 1], marks[i + 2]):
            if i == n - 1:
                behind[x] = end[names[x]]
            else:
                for y in range(marks[i + 2], marks[i + 3]):
                    link = np.float64(transitions[names[x] * stride + names[y]])
                    link += np.float64(emissions[(begin + i + 1) * size + names[y]])
                    behind[x] = max(behind[x], link + behind[y])
            if names[x] == labels[i]:
                chosen = ahead[x] + behind[x]
            else:
                other = max(other, ahead[x] + behind[x])
        found[begin + i] = max(0.0, min(np.float64(found[begin + i]), chosen - other))


@jit()
def dense_margins(model, transposed, emissions, begin, n, size, labels, found):
    """Lower `found` to the margins, by messages over all labels from both ends."""
    transitions, end, stride = model[0], model[1], len(model[1])
    names = np.arange(size)
    prefixes = np.empty(n * stride, np.float32)
    message = np.zeros(stride, np.float32)
    scores = np.zeros(stride, np.float32)
    for i in range(n):
        if i == 0:
            message[:] = transitions[size * stride :]
        else:
            sweep_one(names, scores, transitions, message, stride)
        add_emission(emissions, (begin + i) * size, size, message, scores, stride)
        prefixes[i * stride : (i + 1) * stride] = scores
    message[:] = end
    for i in range(n - 1, -1, -1):
        chosen = other = np.float32(-np.inf)
        for y in range(size):
            worth = prefixes[i * stride + y] + message[y]
            if y == labels[i]:
                chosen = worth
            else:
                other = max(other, worth)
        margin = max(np.float32(0), chosen - other)
        found[begin + i] = min(found[begin + i], margin)
        if i:
            add_emission(emissions, (begin + i) * size, size, message, scores, stride)
            sweep_one(names, scores, transposed, message, stride)


@jit()
def add_emission(emissions, row, size, message, scores, stride):
    """Set `scores` to message plus emission, less the maximum."""
    peak = fill(FORBIDDEN)
    for block in range(0, stride, LANES):
        worth = add(load(message, block), emission(emissions, row, block, size))
        store(scores, block, worth)
        peak = maximum(worth, peak)
    top = largest(peak)
    for y in range(stride):
        scores[y] -= top
