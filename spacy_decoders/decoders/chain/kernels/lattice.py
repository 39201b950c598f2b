"""The k best labellings, over the survivors, and margins, over all labels: both in float64.

A lattice contains every label of every labelling that scores at most `slack` below the best, as
:mod:`.dual` proves; or all legal labels. A state is an index into its names.
"""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit, uncounted
from ....simd import add, at_least, fill64, first_lane, load64, peek, store
from .dense import pass_on
from .dual import FORTH, PROVEN, bound
from .layout import BLOCK, FORBIDDEN, TINY, UP32, emissions64
from .tables import lattice_for

__all__ = ["k_best", "margins"]

SHARE = 0.5  # the average share of labels that may survive before all labels take less time
WIDENING = 1e-9  # how much a slack is widened, relative to itself and to the labelling's scores


@jit()
def keep_every_label(emissions, begin, n, size, lattice):
    """Fill a lattice with all labels that are not forbidden at their token."""
    lattice.names[0] = size
    used = 1
    lattice.marks[1] = used
    for i in range(n):
        for y in range(size):
            if emissions[(begin + i) * size + y] > FORBIDDEN:
                lattice.names[used] = y
                used += 1
        lattice.marks[i + 2] = used


@jit()
def survive_within(links, emissions, begin, n, size, labels, best, scale, slack, lattice):
    """Fill a lattice with all labellings that score at most `slack` below `labels`, the best.

    `best` is the score of `labels`, and `scale` the sum of its absolute terms. Returns whether it
    is proven complete. If masks make messages so large that their rounding exceeds the widening of
    the slack, the bound lies above the best, and labels may be missing.
    """
    widening = WIDENING * (slack + scale)
    status, most = bound(
        links, emissions, begin, FORTH, n, size, labels, slack + widening, SHARE, lattice
    )
    return status == PROVEN and most - best <= widening


@jit()
def prefixes(links, emissions, begin, n, size, lattice):
    """Return the score of the best prefix up to each state, and the state's backpointer.

    The score includes the state's emission, and at the last token the end score.
    """
    marks, names = lattice.marks, lattice.names
    stride = len(links.end)
    score = np.full(marks[n + 1], -np.inf)
    before = np.zeros(marks[n + 1], np.int64)
    score[0] = 0.0
    for i in range(n):
        for state in range(marks[i + 1], marks[i + 2]):
            y = names[state]
            best, origin = -np.inf, marks[i]
            for k in range(marks[i], marks[i + 1]):
                reached = score[k] + np.float64(links.transitions[names[k] * stride + y])
                if reached > best:
                    best, origin = reached, k
            own = np.float64(emissions[(begin + i) * size + y])
            if i == n - 1:
                own += np.float64(links.end[y])
            score[state] = best + own
            before[state] = origin
    return score, before


# --- changes of one label --------------------------------------------------------
#
# Changing one label gives another labelling, so the k-th best labelling loses no more than the
# (k - 1)-th smallest loss of such a change.


@uncounted()
def smallest_losses(transitions, transposed, emissions, begin, n, size, stride, labels, losses,
                    values):  # fmt: skip
    """Write the smallest losses of changes, sorted and rounded up; infinite if there are fewer.

    `values`, (64,), is a workspace.
    """
    last = len(losses) - 1
    for i in range(n):
        row = (begin + i) * size
        y = np.int64(peek(labels, begin + i))
        lead = (np.int64(peek(labels, begin + i - 1)) if i else size) * stride
        tail = (np.int64(peek(labels, begin + i + 1)) if i < n - 1 else size) * stride
        into, out = peek(transitions, lead + y), peek(transposed, tail + y)
        own = peek(emissions, row + y)
        score = into + out + own
        sizes = abs(np.float64(into)) + abs(np.float64(out)) + abs(np.float64(own))
        doubt = UP32 * sizes + TINY
        for block in range(0, size, BLOCK):
            others = add(load64(transitions, lead + block), load64(transposed, tail + block))
            others = add(others, emissions64(emissions, row, block, size))
            bits = at_least(others, fill64(np.float32(score - losses[last])))
            if block <= y < block + BLOCK:
                bits &= ~(np.int64(1) << (y - block))
            if bits:
                store(values, 0, others)
            while bits:
                lane = first_lane(bits)
                bits &= bits - 1
                other = np.float64(peek(values, lane))
                loss = score - other + doubt + UP32 * (abs(score) + abs(other))
                if other > -np.inf and loss < losses[last]:
                    r = last
                    while r > 0 and losses[r - 1] > loss:
                        losses[r] = losses[r - 1]
                        r -= 1
                    losses[r] = loss


# --- the k best ----------------------------------------------------------------


class Deviations(NamedTuple):
    """The k best labellings known, best first.

    score, (k,). place, (k,): the row of each in `origin`, (k, 3): its parent, the labelling that
    it equals after a token, or -1; that token; its state there, which the best prefix precedes.
    """

    score: Any
    place: Any
    origin: Any


@jit()
def insert(known, count, low, score, parent, token, state):
    """Insert a labelling after the first `low` if it is among the best; return the new count."""
    k = place = count
    if count == len(known.score):
        if low == count or score <= known.score[count - 1]:
            return count
        k -= 1
        place = known.place[k]
    while k > low and known.score[k - 1] < score:
        known.score[k], known.place[k] = known.score[k - 1], known.place[k - 1]
        k -= 1
    known.score[k], known.place[k] = score, place
    origin = known.origin[place]
    origin[0], origin[1], origin[2] = parent, token, state
    return min(count + 1, len(known.score))


@jit()
def enumerate_best(links, emissions, begin, n, size, lattice, k):
    """Return the k best labellings through a lattice, best first: **shape (found, n)**.

    Every labelling but the best deviates from another, its parent, at the last token where its
    state is not the backpointer of the next. So each is generated once, after its parent, and the
    work is k times n times the survivors of a token. A sorted list is faster than heaps up to
    thousands of labellings; for tens of thousands, its moves dominate.
    """
    marks, names = lattice.marks, lattice.names
    stride = len(links.end)
    score, before = prefixes(links, emissions, begin, n, size, lattice)
    known = Deviations(np.empty(k), np.empty(k, np.int64), np.empty((k, 3), np.int64))
    count = 0
    for state in range(marks[n], marks[n + 1]):
        if score[state] > -np.inf:
            count = insert(known, count, 0, score[state], -1, n - 1, state)
    states = np.empty((k, n), np.int64)
    found = 0
    while found < count:
        origin, path = known.origin[known.place[found]], states[found]
        parent, token, state = origin[0], origin[1], origin[2]
        if parent >= 0:
            path[:] = states[parent]
        for i in range(token, -1, -1):
            path[i] = state
            state = before[state]
        rest = 0.0  # the score from token i + 1 on, with its emission
        for i in range(n - 2, -1, -1):
            after = path[i + 1]
            y = names[after]
            rest += np.float64(emissions[(begin + i + 1) * size + y])
            if i == n - 2:
                rest += np.float64(links.end[y])
            for x in range(marks[i + 1], marks[i + 2] if i < token else marks[i + 1]):
                link = np.float64(links.transitions[names[x] * stride + y])
                # summed anew, as differences to the parent's score would accumulate errors
                value = score[x] + link + rest
                if x != path[i] and value > -np.inf:
                    count = insert(known, count, found + 1, value, found, i, x)
            rest += np.float64(links.transitions[names[path[i]] * stride + y])
        found += 1
    labels = np.empty((found, n), np.int32)
    for r in range(found):
        for i in range(n):
            labels[r, i] = names[states[r, i]]
    return labels


@jit()
def k_best(links, transposed, emissions, begin, n, size, labels, best, scale, k, most):
    """Return the k best labellings of one sentence, best first: **shape (found, n)**.

    `labels`, **shape (total,)**, are the best, with the score and the sum of its absolute terms.
    If too many labels survive, all legal ones are used. If more than `most` pairs of labels would
    have to be ranked, none is returned.
    """
    lattice = lattice_for(n, size)
    losses = np.full(max(k - 1, 1), np.inf)
    smallest_losses(
        links.transitions, transposed, emissions, begin, n, size, len(links.end), labels, losses,
        np.empty(64, np.float32),
    )  # fmt: skip
    complete = False
    if losses[-1] < np.inf:
        complete = survive_within(
            links, emissions, begin, n, size, labels, best, scale, losses[-1], lattice
        )
    if not complete:
        keep_every_label(emissions, begin, n, size, lattice)
    pairs = 0.0
    for i in range(n):
        survivors = lattice.marks[i + 2] - lattice.marks[i + 1]
        pairs += survivors * (lattice.marks[i + 1] - lattice.marks[i] + k)
    if pairs > most:
        return np.empty((0, n), np.int32)
    return enumerate_best(links, emissions, begin, n, size, lattice, k)


# --- margins ---------------------------------------------------------------------


@jit()
def margins(links, transposed, emissions, offsets, size, labels):
    """Return the max-marginal margins of all tokens: **shape (total,)**, float64.

    With F the score of the best prefix that ends with a label and B that of the best continuation,
    the margin of a token is the largest ``F + B`` less the largest with a label other than that of
    the best labelling: `labels`, **shape (total,)**. Pruning would not help: the token with the
    largest margin decides which labels may be left out.
    """
    found = np.zeros(offsets[-1])
    for s in range(len(offsets) - 1):
        begin, n = offsets[s], offsets[s + 1] - offsets[s]
        if n:
            margins_of(links, transposed, emissions, begin, n, size, labels, found)
    return found


@jit()
def margins_of(links, transposed, emissions, begin, n, size, labels, found):
    """Write the margins of one sentence."""
    stride = len(links.end)
    ahead = np.empty((n, stride))
    for y in range(size):
        ahead[0, y] = links.transitions[size * stride + y]
    for i in range(n):
        if i:
            pass_on(links.transitions, ahead[i - 1], size, stride, ahead[i])
        for y in range(size):
            ahead[i, y] += np.float64(emissions[(begin + i) * size + y])
    behind, local = np.empty(stride), np.empty(stride)
    for y in range(size):
        behind[y] = links.end[y]
    best = -np.inf
    for i in range(n - 1, -1, -1):
        other = -np.inf
        for y in range(size):
            score = ahead[i, y] + behind[y]
            if i == n - 1:
                best = max(best, score)
            if y != labels[begin + i]:
                other = max(other, score)
        found[begin + i] = max(0.0, best - other)
        if i:
            for y in range(size):
                local[y] = behind[y] + np.float64(emissions[(begin + i) * size + y])
            pass_on(transposed, local, size, stride, behind)
