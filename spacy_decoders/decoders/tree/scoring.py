"""The score of a tree, and whether it satisfies the constraints."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices
from .problem import TreeProblem

__all__ = [
    "is_projective",
    "is_tree",
    "score_and_scale",
    "score_tree",
    "tree_with_root",
    "violations",
]


def score_tree(problem: TreeProblem, heads: ArrayLike) -> float:
    """Return the score of a tree: all its parts, summed in float64.

    Parameters
    ----------
    problem
        The scores.
    heads
        (n,), the head of each token, 0 for the root.

    Returns
    -------
    float
        ``-inf`` if a part is forbidden. Whether the heads form a tree that the problem allows is
        not checked: see :func:`violations`.

    Raises
    ------
    ProblemError
        If `heads` does not have one entry from 0 to n for each token.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> score_tree(problem, [2, 0])
    5.0
    """
    return score_and_scale(problem, heads)[0]


def score_and_scale(problem: TreeProblem, heads: ArrayLike) -> tuple[float, float]:
    """Return the score of a tree, and the sum of the absolute scores of its parts.

    Examples
    --------
    >>> score_and_scale(TreeProblem([[0, 1, 3], [0, 0, 1], [0, -2, 0]]), [2, 0])
    (1.0, 5.0)
    """
    tree = tree_with_root(heads, problem.n)
    tokens = np.arange(1, problem.n + 1)
    parts = [problem.arcs[tree[1:], tokens]]
    if problem.grandparents is not None:
        m = tokens[tree[1:] > 0]
        parts.append(problem.grandparents[tree[tree[m]], tree[m], m])
    if problem.siblings is not None:
        a, b = np.nonzero(np.triu(tree[1:, None] == tree[None, 1:], 1))
        parts.append(problem.siblings[tree[a + 1], a + 1, b + 1])
    if problem.factors is not None:
        parts.append(problem.factors.scores[problem.factors.paid(tree[1:])])
    score = scale = 0.0
    for part in parts:
        score += float(part.sum())
        scale += float(np.abs(part).sum())
    return score, scale


def is_tree(heads: ArrayLike) -> bool:
    """Return whether every token reaches the root.

    Examples
    --------
    >>> is_tree([2, 0, 2]), is_tree([2, 1, 0])
    (True, False)
    """
    ancestors = tree_with_root(heads, len(np.asarray(heads)))
    ancestors[0] = 0
    for _ in range(len(ancestors).bit_length()):  # pointer doubling
        ancestors = ancestors[ancestors]
    return not ancestors.any()


def is_projective(heads: ArrayLike) -> bool:
    """Return whether no two arcs cross, the root standing left of all tokens.

    Examples
    --------
    >>> is_projective([2, 0, 2]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    tree = tree_with_root(heads, len(np.asarray(heads)))[1:]
    tokens = np.arange(1, len(tree) + 1)
    left, right = np.minimum(tree, tokens), np.maximum(tree, tokens)
    begins_inside = (left[:, None] < left) & (left < right[:, None])
    return not (begins_inside & (right[:, None] < right)).any()


def violations(problem: TreeProblem, heads: ArrayLike) -> tuple[str, ...]:
    """Describe which of the problem's constraints the heads violate.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> violations(problem, [2, 0]), violations(problem, [0, 0])
    ((), ('2 tokens hang on the root',))
    """
    tree = tree_with_root(heads, problem.n)[1:]
    tokens = np.arange(1, problem.n + 1)
    found = [
        f"the arc {int(tree[m - 1])} -> {int(m)} is forbidden"
        for m in tokens[~problem.allowed[tree, tokens]]
    ]
    if not is_tree(tree):
        found.append("there is a cycle")
    if problem.projective and not is_projective(tree):
        found.append("arcs cross")
    roots = int((tree == 0).sum())
    if problem.single_root and problem.n and roots != 1:
        found.append(f"{roots} tokens hang on the root")
    if not found and score_tree(problem, tree) == -np.inf:
        found.append("a forbidden grandparent, sibling pair or factor is in the tree")
    return tuple(found)


def tree_with_root(heads: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the heads by token number, -1 for the root itself."""
    given = np.asarray(heads)
    if given.size == 0:
        given = given.astype(np.int64)
    checked = checked_indices("heads", given, (n,), low=0, high=n + 1, dtype=np.int64)
    return np.concatenate([[-1], checked])
