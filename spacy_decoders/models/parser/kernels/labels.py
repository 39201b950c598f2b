"""Compiled loops over the scores of arcs and of their labels."""

import numpy as np

from ....jit import internal, jit

#: Smaller log-odds do not change a sum of at least 1 in single precision.
_NEGLIGIBLE = np.float32(-17.0)


@internal(fastmath=frozenset({"reassoc", "contract"}))
def _add_products(by_label, key, total):
    """Add the products of the labels' rows with a head's key to their scores."""
    inner = len(key)
    for label in range(len(total)):
        product = np.float32(0.0)
        for j in range(inner):
            product += by_label[label * inner + j] * key[j]
        total[label] += product


@internal()
def _label_arc(by_label, key, total, logs):
    """Write the log-probabilities of an arc's labels; return the best label, and its own.

    `total` has the other parts of the labels' scores, and is overwritten.
    """
    count = len(total)
    _add_products(by_label, key, total)
    best, top = 0, np.float32(-np.inf)
    for label in range(count):
        if total[label] > top:
            best, top = label, total[label]
    odds = np.float32(0.0)
    for label in range(count):
        if not total[label] - top <= _NEGLIGIBLE:  # NaN too, which decoders refuse
            odds += np.exp(total[label] - top)
    log = -np.log(odds)
    for label in range(count):
        logs[label] = (total[label] - top) + log
    return best, log


@jit(inline="always")
def _class_of(near, signed):
    """Return the class of the distance from a modifier to a head."""
    far = len(near) // 2
    return near[min(max(signed, -far), far) + far]


@jit()
def lay_out(arcs, offsets, less, scores, logs, likely):
    """Write the scores of arcs by head and modifier, without labels yet, and mark likely arcs.

    These score at most `less` below the best arc of their modifier. Returns their number for each
    token, int64 (tokens,).

    **Shape**: the arrays of all sentences are concatenated. arcs float32, (n, n + 1) by modifier
    and head, the root first. Written are scores and logs, (n + 1, n + 1) by head and modifier, and
    likely, (n, n) by modifier and head.
    """
    counts = np.zeros(offsets[-1], np.int64)
    at = square = inner = 0
    for s in range(len(offsets) - 1):
        size = offsets[s + 1] - offsets[s] + 1
        scores[square : square + size * size] = -np.inf
        logs[square : square + size * size] = 0.0
        for m in range(1, size):
            top = np.float32(-np.inf)
            for h in range(size):
                worth = arcs[at + h]
                scores[square + h * size + m] = worth
                if worth > top or worth != worth:  # with a NaN, no arc is likely
                    top = worth
            for h in range(1, size):
                likely[inner] = arcs[at + h] >= top - less
                counts[offsets[s] + m - 1] += likely[inner]
                inner += 1
            at += size
        square += size * size
    return counts


@jit()
def label_tokens(modifiers, places, heads, given, marks, into, out):
    """Write the best labels of the arcs to some tokens, and add their log-probabilities to scores.

    Returns how many of the arcs are likely.

    **Shape**: modifiers are their products (tokens, labels * inner) and label scores (tokens,
    labels); places (tokens, 5), each token's number, where its sentence begins and ends, its row
    in the marks and its column in `into`; heads are keys (all tokens, inner), label scores (all
    tokens, labels), those of distances (classes, labels), and the class of each distance, as in
    :func:`write_arcs`; given (likely wanted arcs, labels), the scores of templates, or (0,
    labels); marks, the likely and the wanted arcs, by modifier and head; into, the scores, the
    labels' log-probabilities and the labels, by head and modifier, the root first; out (wanted
    arcs, labels), the log-probabilities of all their labels.
    """
    by_label, of_modifiers = modifiers
    keys, of_heads, distances, near = heads
    likely, wanted = marks
    scores, logs, labels = into
    done, seen = 0, 0
    total = np.empty(distances.shape[1], np.float32)
    for i in range(len(by_label)):
        token, begin, end, row, place = places[i]
        for h in range(end - begin):
            place += end - begin + 1
            if not wanted[row + h]:
                continue
            # with `out`: numba takes a second longer to compile the assignment of a slice
            np.add(of_modifiers[i], of_heads[begin + h], total)
            total += distances[_class_of(near, begin + h - token)]
            if likely[row + h]:
                if len(given) > 0:
                    total += given[seen]
                seen += 1
            best, log = _label_arc(by_label[i], keys[begin + h], total, out[done])
            scores[place] += log
            logs[place], labels[place] = log, best
            done += 1
    return seen


@jit()
def best_of_classes(logs, labelled, class_of, found, best):
    """Write the best label of each class of labelled arcs, and its log-probability.

    For other arcs, the label is -1 and the log-probability is its upper bound, 0.

    **Shape**: logs (arcs, labels), as :func:`label_tokens` writes them; labelled (modifiers,
    heads); class_of (labels or more,); found, initially ``-inf``, and best (heads, modifiers,
    classes).
    """
    done = 0
    has_labels = np.zeros(found.shape[2], np.bool_)
    for label in range(logs.shape[1]):
        has_labels[class_of[label]] = True
    for modifier in range(labelled.shape[0]):
        for head in range(labelled.shape[1]):
            scores, which = found[head, modifier], best[head, modifier]
            if not labelled[modifier, head]:
                for one in range(len(has_labels)):
                    if has_labels[one]:
                        scores[one], which[one] = 0.0, -1
                continue
            for label in range(logs.shape[1]):
                one = class_of[label]
                if logs[done, label] > scores[one]:
                    scores[one], which[one] = logs[done, label], label
            done += 1


@jit()
def write_arcs(among, of_root, of_modifier, of_head, near, scores):
    """Write the scores of the arcs of a sentence of n tokens, including those of distances.

    **Shape**: among (n, n), by modifier and head; of_root (n,); of_modifier and of_head (n,
    classes), by the class of the distance; near (2 * far + 1,), the class of each distance, where
    those beyond `far` have the last class of their side; scores (n, n + 1), written, the root
    first.
    """
    n = len(among)
    for m in range(n):
        into, given = scores[m], among[m]
        into[0] = of_root[m]
        for h in range(n):
            bucket = _class_of(near, h - m)
            into[h + 1] = given[h] + of_modifier[m, bucket] + of_head[h, bucket]
        into[m + 1] = -np.inf
