"""An independent check of a tree: its score, and an upper bound on the best one.

Only the problem is shared with the decoders. Small problems are enumerated; first-order projective
trees are bounded by a plain chart; all others by an integer program in the style of Martins, Smith
and Xing (2009), whose solver's bound is trusted.
"""

import math
from itertools import pairwise, product
from typing import Any

import numpy as np

from ...arrays import Floats, checked_type
from ...verify import ROUNDING, Findings
from .problem import TreeProblem
from .rules import FixedStart, Rule
from .verification_program import (
    Arc,
    Heads,
    LabelledArc,
    Objective,
    best_by_program,
    factors_of,
    limits_of,
)

__all__ = ["examine"]

#: The most choices of heads and labels that are enumerated.
MOST_CHOICES = 20_000


def examine(problem: TreeProblem, solution: Any, *, seconds: float) -> Findings:
    """Score a tree anew, and bound all others; a solver that takes more `seconds` yields no bound.

    Solutions of `SecondOrder` are scored by adjacent siblings alone, those of its variant by
    outermost grandparents alone. The problem of an adapted parser is that of
    :meth:`~spacy_decoders.adapt.trees.ArcParser.problem`.
    """
    checked_type("problem", problem, TreeProblem)
    heads = tuple(int(head) for head in solution.heads)
    labels = (0,) * len(heads)
    if problem.labels is not None and solution.labels is not None:
        labels = tuple(int(label) for label in solution.labels)
    fault = _fault_of(problem, heads) or _fault_of_labels(problem, heads, labels)
    fault = fault or _fault_of_claims(problem, solution, heads)
    if fault is not None:
        return Findings.illegal(fault)
    found = _compared(problem, heads, labels, solution.certificate.decoder, seconds)
    rank = getattr(solution, "rank_bound", None)
    if rank is not None and not found.score - ROUNDING * (1.0 + found.scale) <= rank < math.inf:
        return Findings.illegal(f"rank_bound: {rank!r} is less than the tree's own score.")
    return found


def _compared(
    problem: TreeProblem, heads: Heads, labels: Heads, decoder: str, seconds: float
) -> Findings:
    """Compare a legal tree with the best under the objective of its decoder."""
    objective = Objective(decoder.startswith("SecondOrder"), decoder == "SecondOrder.outermost")
    parts = _parts(problem, objective, heads, labels)
    score, scale = math.fsum(parts), math.fsum(map(abs, parts))
    if score == -math.inf:
        return Findings.illegal("the tree has a forbidden grandparent, sibling pair or factor.")
    choices = [_choices(problem, m) for m in range(1, problem.n + 1)]
    if math.prod(map(len, choices)) <= MOST_CHOICES:
        best = max(
            math.fsum(_parts(problem, objective, tree, marks))
            for tree, marks in map(_unzipped, product(*choices))
            if _fault_of(problem, tree) is None and _fault_of_labels(problem, tree, marks) is None
        )
        return Findings(None, score, scale, best, best)
    if problem.is_first_order and problem.projective and not problem.rules:
        # the chart's value is attained by some tree, up to rounding
        arcs = problem.arcs
        if problem.labels is not None:
            arcs = arcs + problem.labels.max(axis=2)
        bound = _best_projective(arcs, problem.has_one_root, problem.boundaries)
        attained = bound - ROUNDING * (1.0 + scale + abs(bound))
        return Findings(None, score, scale, max(score, attained), bound)
    other, marks, bound = best_by_program(problem, objective, score, seconds)
    best = score
    if (
        other is not None
        and _fault_of(problem, other) is None
        and _fault_of_labels(problem, other, marks) is None
    ):
        best = max(best, math.fsum(_parts(problem, objective, other, marks)))
    return Findings(None, score, scale, best, max(bound, best))


def _fault_of(problem: TreeProblem, heads: Heads) -> str | None:
    """Return why the heads are not a legal tree, forbidden parts aside, or None."""
    n = problem.n
    if len(heads) != n:
        return f"{len(heads)} heads for {n} tokens."
    for m, h in enumerate(heads, start=1):
        if not 0 <= h <= n or not problem.allowed[h, m]:
            return f"the arc {h} -> {m} is forbidden."
    for m, h in enumerate(heads, start=1):
        above, steps = m, 0
        while above and steps <= n:
            above, steps = heads[above - 1], steps + 1
        if above:
            return f"token {m} does not reach the root."
        low, high = min(h, m), max(h, m)
        if problem.projective and any(
            not low <= heads[between - 1] <= high for between in range(low + 1, high)
        ):
            return f"an arc crosses {h} -> {m}."
    if problem.has_one_root and n and heads.count(0) != 1:
        return f"{heads.count(0)} tokens are attached to the root."
    if problem.boundaries is not None and heads.count(0) != len(_first_tokens(heads)):
        return "two sentences overlap, or one has several roots."
    return None


def _fault_of_labels(problem: TreeProblem, heads: Heads, labels: Heads) -> str | None:
    """Return which label is forbidden, or which rule the tree breaks, or None."""
    if len(labels) != len(heads):
        return f"{len(labels)} labels for {len(heads)} tokens."
    if problem.labels is not None:
        for m, (h, label) in enumerate(zip(heads, labels, strict=True), start=1):
            known = 0 <= label < problem.labels.shape[2]
            if not known or problem.labels[h, m, label] == -math.inf:
                return f"label {label} of the arc {h} -> {m} is forbidden."
    for place, rule in enumerate(problem.rules):
        if _breaks(rule, heads, labels, _first_tokens(heads)):
            return f"rules[{place}] is broken: {rule}."
    return None


def _breaks(rule: Rule, heads: Heads, labels: Heads, begins: set[int]) -> bool:
    """Return whether a tree breaks a rule."""
    if isinstance(rule, FixedStart):
        return (rule.token in begins) != rule.begins
    tree = {LabelledArc(h, m, one) for m, (h, one) in enumerate(zip(heads, labels), start=1)}  # noqa: B905
    n = len(heads)
    return any(
        not limit.low <= len(tree.intersection(limit.members)) <= limit.high
        for limit in limits_of(rule, n, sorted(tree))
    )


def _first_tokens(heads: Heads) -> set[int]:
    """Return the first tokens of sentences: those before which no arc crosses but the root's."""
    return {
        s
        for s in range(1, len(heads) + 1)
        if not any(h and min(h, m) < s <= max(h, m) for m, h in enumerate(heads, start=1))
    }


def _fault_of_claims(problem: TreeProblem, solution: Any, heads: Heads) -> str | None:
    """Return which claim of a solution beside its heads and labels is wrong, or None."""
    for name in ("labels", "starts"):
        given = problem.boundaries if name == "starts" else problem.labels
        if (given is None) != (getattr(solution, name, None) is None):
            return f"{name} are " + ("missing." if given is not None else "not in the problem.")
    if problem.scope != solution.certificate.scope:
        return f"scope: {solution.certificate.scope!r}, but the problem's is {problem.scope!r}."
    if problem.boundaries is None:
        return None
    starts = (np.flatnonzero(solution.starts) + 1).tolist()
    begins = sorted(_first_tokens(heads))
    if len(solution.starts) == len(heads) and starts == begins:
        return None
    return f"starts are {starts}, but sentences begin at {begins}."


def _choices(problem: TreeProblem, m: int) -> list[Arc]:
    """List the candidate heads of a token, each with each of its labels."""
    heads = [int(h) for h in np.flatnonzero(problem.allowed[:, m])]
    if problem.labels is None:
        return [(h, 0) for h in heads]
    scores = problem.labels
    return [(h, int(label)) for h in heads for label in np.flatnonzero(scores[h, m] > -np.inf)]


def _unzipped(choice: tuple[Arc, ...]) -> tuple[Heads, Heads]:
    return tuple(h for h, _ in choice), tuple(label for _, label in choice)


def _parts(problem: TreeProblem, objective: Objective, heads: Heads, labels: Heads) -> list[float]:
    """List the scores of all parts of a tree."""
    parts = [problem.arcs[h, m] for m, h in enumerate(heads, start=1)]
    if problem.labels is not None:
        parts += [problem.labels[h, m, labels[m - 1]] for m, h in enumerate(heads, start=1)]
    if problem.boundaries is not None:
        parts += [problem.boundaries[s - 1] for s in sorted(_first_tokens(heads)) if s > 1]
    for h in range(len(heads) + 1):
        below = [m for m, head in enumerate(heads, start=1) if head == h]
        before, behind = [m for m in below if m < h], [m for m in below if m > h]
        if problem.siblings is not None:
            pairs = [*pairwise(before), *pairwise(behind)]
            if not objective.adjacent:
                pairs = [(a, b) for a in below for b in below if a < b]
            parts += [problem.siblings[h, a, b] for a, b in pairs]
        if problem.grandparents is not None and h:
            paid = before[:1] + behind[-1:] if objective.outermost else below
            parts += [problem.grandparents[heads[h - 1], h, m] for m in paid]
    for part in factors_of(problem):
        if part.low <= sum(heads[m - 1] == h for h, m in part.arcs) <= part.high:
            parts.append(part.score)
    return [float(part) for part in parts]


def _best_projective(arcs: Floats, single_root: bool, boundaries: Floats | None) -> float:
    """Return the score of the best projective tree, by Eisner's chart."""
    size = len(arcs)
    right, left = np.full((size, size), -np.inf), np.full((size, size), -np.inf)
    with_right, with_left = right.copy(), left.copy()
    np.fill_diagonal(right, 0.0)
    np.fill_diagonal(left, 0.0)
    for width in range(1, size):
        for i in range(1 if single_root else 0, size - width):
            j = i + width
            splits = right[i, i:j] + left[i + 1 : j + 1, j]
            if i == 0 and boundaries is not None:
                splits[1:] += boundaries[1:j]
            between = splits.max()
            with_right[i, j], with_left[i, j] = between + arcs[i, j], between + arcs[j, i]
            right[i, j] = (with_right[i, i + 1 : j + 1] + right[i + 1 : j + 1, j]).max()
            left[i, j] = (left[i, i:j] + with_left[i:j, j]).max()
    if single_root:
        return float((left[1, 1:] + arcs[0, 1:] + right[1:, -1]).max())
    return float(right[0, -1])
