"""Readable brute force: the judge of every decoder.

Slow on purpose: every structure is enumerated and scored as the definition says, in float64 or
exactly, with nothing shared with the code under test.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import inf
from typing import NamedTuple

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


class Path(NamedTuple):
    """A legal path with its exact worth, and the sum of its absolute scores."""

    worth: Fraction
    scale: Fraction
    vertices: tuple[int, ...]


def all_paths(problem, length) -> list[Path]:
    """Every legal path of so many vertices that visits no class twice, best first."""
    found = []
    for vertices in permutations(range(len(problem.start)), length):
        parts = [problem.start[vertices[0]], problem.end[vertices[-1]]]
        parts += [problem.weights[edge] for edge in pairwise(vertices)]
        if -inf not in parts and len({problem.classes[v] for v in vertices}) == length:
            exact = [Fraction(float(part)) for part in parts]
            found.append(Path(sum(exact), sum(map(abs, exact)), vertices))
    return sorted(found, reverse=True)


# --- representatives ---------------------------------------------------------


def all_representatives(problem) -> dict[tuple[int, ...], Fraction]:
    """Every legal choice of one member a set, with its exact cost, the cheapest first.

    That is weight / (k - 1) times the distances of unordered pairs, plus the local costs. The
    sets hold rows of the distances; an infinite local cost forbids its candidate.
    """
    sets = [members.tolist() for members in problem.sets]
    weight = Fraction(problem.weight) / max(1, len(sets) - 1)
    apart = [list(map(Fraction, row)) for row in problem.distances.tolist()]
    found = {}
    for choices in product(*(range(len(members)) for members in sets)):
        rows = [members[choice] for members, choice in zip(sets, choices, strict=True)]
        own = [0.0] * len(rows)
        if problem.local is not None:
            own = [float(of[choice]) for of, choice in zip(problem.local, choices, strict=True)]
        if inf not in own:
            pairs = sum((apart[a][b] for a, b in combinations(rows, 2)), Fraction(0))
            found[choices] = weight * pairs + sum(map(Fraction, own))
    return dict(sorted(found.items(), key=lambda item: item[1]))
