"""Readable brute force: the judge of every decoder.

Slow on purpose: every structure is enumerated and scored as the definition says, in
float64, with nothing shared with the code under test.
"""

from collections.abc import Iterator
from itertools import pairwise, permutations, product

# --- chain -------------------------------------------------------------------


def chain_score(transitions, start, end, emissions, labels) -> float:
    """start[y0] + sum of emissions + sum of transitions + end[y(n-1)]."""
    score = sum(float(emissions[i, y]) for i, y in enumerate(labels))
    score += sum(float(transitions[x, y]) for x, y in pairwise(labels))
    if start is not None:
        score += float(start[labels[0]])
    if end is not None:
        score += float(end[labels[-1]])
    return score


def all_chains(transitions, start, end, emissions) -> list[tuple[float, tuple[int, ...]]]:
    """Every labelling with its score, best first."""
    n, size = emissions.shape
    scored = [
        (chain_score(transitions, start, end, emissions, labels), labels)
        for labels in product(range(size), repeat=n)
    ]
    return sorted(scored, key=lambda pair: -pair[0])


# --- tree of labels ------------------------------------------------------------


def all_label_trees(transitions, start, end, emissions, parents):
    """Every labelling of a forest with its score, best first.

    transitions[label of parent, label of child], start at roots, end at leaves.
    """
    n, size = emissions.shape
    scored = []
    for labels in product(range(size), repeat=n):
        score = sum(float(emissions[v, y]) for v, y in enumerate(labels))
        for node, parent in enumerate(parents):
            if parent >= 0:
                score += float(transitions[labels[parent], labels[node]])
            elif start is not None:
                score += float(start[labels[node]])
            if end is not None and node not in parents:
                score += float(end[labels[node]])
        scored.append((score, labels))
    return sorted(scored, key=lambda pair: -pair[0])


# --- tree --------------------------------------------------------------------


def all_trees(n: int, *, projective: bool, single_root: bool) -> Iterator[tuple[int, ...]]:
    """Every tree over tokens 1..n as the tuple of their heads, 0 for the root."""
    for heads in product(range(n + 1), repeat=n):
        if single_root and heads.count(0) != 1:
            continue
        if is_tree(heads) and (not projective or is_projective(heads)):
            yield heads


def is_tree(heads) -> bool:
    """Whether every token reaches the root."""
    for token in range(1, len(heads) + 1):
        seen = set()
        while token != 0:
            if token in seen:
                return False
            seen.add(token)
            token = heads[token - 1]
    return True


def is_projective(heads) -> bool:
    """Whether no two arcs cross, the root standing left of all tokens."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def sentences(heads) -> list[int] | None:
    """The first token of each sentence, None if some stretch between them has no single root.

    A sentence is what hangs below one token on the root, a stretch without gaps.
    """
    top = {}
    for token in range(1, len(heads) + 1):
        above = token
        while heads[above - 1] != 0:
            above = heads[above - 1]
        top.setdefault(above, []).append(token)
    for tokens in top.values():
        if tokens != list(range(tokens[0], tokens[-1] + 1)):
            return None
    return sorted(tokens[0] for tokens in top.values())


def all_forests(n: int, *, projective: bool) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Every sequence of trees over tokens 1..n, with the first token of each."""
    for heads in all_trees(n, projective=projective, single_root=False):
        starts = sentences(heads)
        if starts is not None:
            yield heads, starts


def breaks(rule, heads, labels) -> bool:
    """Whether a labelled tree breaks a rule, by the name of its class."""
    tokens = range(1, len(heads) + 1)
    head, label = {m: heads[m - 1] for m in tokens}, {m: labels[m - 1] for m in tokens}
    kind = type(rule).__name__
    if kind == "AtMost":
        among = range(len(heads) + 1) if rule.heads is None else rule.heads
        return any(
            sum(head[m] == h and label[m] in rule.labels for m in tokens) > rule.count
            for h in among
        )
    if kind == "Leaves":
        leaves = [m for m in tokens if rule.tokens is None or m in rule.tokens]
        leaves = [m for m in leaves if rule.labels is None or label[m] in rule.labels]
        return any(head[m] in leaves and label[m] not in rule.exempt for m in tokens)
    if kind == "FixedArc":
        return head[rule.token] != rule.head
    if kind == "ForbiddenArc":
        return head[rule.token] == rule.head
    if kind == "FixedLabel":
        return label[rule.token] not in rule.labels
    if kind == "ForbiddenLabel":
        return label[rule.token] in rule.labels
    if kind == "FixedStart":
        return (rule.token in sentences(heads)) != rule.begins
    raise ValueError(kind)


# --- path --------------------------------------------------------------------


def path_score(start, weights, end, vertices) -> float:
    """start + weights along the path + end."""
    score = float(start[vertices[0]]) + float(end[vertices[-1]])
    return score + sum(float(weights[u, v]) for u, v in pairwise(vertices))


def all_paths(start, weights, end, classes, k) -> list[tuple[float, tuple[int, ...]]]:
    """Every path of k vertices that visits each class at most once, with its score, best first."""
    scored = [
        (path_score(start, weights, end, vertices), vertices)
        for vertices in permutations(range(len(start)), k)
        if len({int(classes[v]) for v in vertices}) == k
    ]
    return sorted(scored, key=lambda pair: -pair[0])


# --- representatives ---------------------------------------------------------


def representatives_cost(distances, sets, local, weight, choices) -> float:
    """weight / (k - 1) times the unordered pair distances, plus the local costs.

    `sets` hold rows of `distances`; `local[i]` is parallel to ``sets[i]``.
    """
    chosen = [int(members[choice]) for members, choice in zip(sets, choices, strict=True)]
    k = len(chosen)
    pairs = sum(float(distances[a, b]) for i, a in enumerate(chosen) for b in chosen[i + 1 :])
    cost = weight / (k - 1) * pairs if k > 1 else 0.0
    if local is not None:
        cost += sum(float(costs[choice]) for costs, choice in zip(local, choices, strict=True))
    return cost


def all_representatives(distances, sets, local, weight) -> list[tuple[float, tuple[int, ...]]]:
    """Every choice of one member a set with its cost, cheapest first."""
    scored = [
        (representatives_cost(distances, sets, local, weight, choices), choices)
        for choices in product(*(range(len(members)) for members in sets))
    ]
    return sorted(scored, key=lambda pair: pair[0])
