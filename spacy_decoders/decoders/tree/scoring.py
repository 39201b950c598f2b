"""The score of a tree, its sentence starts, and checks of trees."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Booleans, Integers, checked_indices, checked_numbers, checked_type
from ...errors import ProblemError
from .problem import TreeProblem
from .rules import Rule

__all__ = [
    "breaks_any",
    "is_projective",
    "is_tree",
    "score_and_scale",
    "score_tree",
    "sentence_starts",
    "starts_of_tree",
    "tree_with_root",
]


def score_tree(problem: TreeProblem, heads: ArrayLike, labels: ArrayLike | None = None) -> float:
    """Return the score of a tree: the sum of all its parts in float64.

    It is ``-inf`` if a part is forbidden. Whether the heads form a legal tree is not checked: see
    :func:`~spacy_decoders.verify`.

    Parameters
    ----------
    heads
        (n,), the head of each token, 0 for the root.
    labels
        (n,), the label of each token's arc; None for each arc's best label, whatever the rules.

    Raises
    ------
    ProblemError
        If `heads` does not have one entry from 0 to n for each token, or `labels` has one that
        does not exist.

    Examples
    --------
    >>> problem = TreeProblem([[0, 1, 3], [0, 0, 1], [0, 2, 0]])
    >>> score_tree(problem, [2, 0])
    5.0
    """
    return score_and_scale(problem, heads, labels)[0]


def score_and_scale(
    problem: TreeProblem, heads: ArrayLike, labels: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the score of a tree, and the sum of the absolute values of its parts' scores.

    Examples
    --------
    >>> score_and_scale(TreeProblem([[0, 1, 3], [0, 0, 1], [0, -2, 0]]), [2, 0])
    (1.0, 5.0)
    """
    checked_type("problem", problem, TreeProblem)
    tree = tree_with_root(heads, problem.n)
    if labels is not None:
        if problem.labels is None:
            raise ProblemError("labels: the problem has none.")
        count = problem.labels.shape[2]
        labels = checked_indices("labels", labels, (problem.n,), low=0, high=count, dtype=np.int64)
    tokens = np.arange(1, problem.n + 1)
    parts = [problem.arcs[tree[1:], tokens]]
    if problem.labels is not None:
        if labels is None:
            parts.append(problem.labels[tree[1:], tokens].max(axis=1))
        else:
            parts.append(problem.labels[tree[1:], tokens, labels])
    if problem.boundaries is not None:
        parts.append(problem.boundaries[starts_of_tree(tree[1:])])
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


def sentence_starts(heads: ArrayLike) -> Booleans:
    """Return the first tokens of sentences, bool (n,): those before which only root arcs cross.

    Examples
    --------
    >>> sentence_starts([2, 0, 5, 3, 0])
    array([ True, False,  True, False, False])
    """
    return starts_of_tree(tree_with_root(heads)[1:])


def starts_of_tree(tree: NDArray[np.integer[Any]]) -> Booleans:
    """Return the same, without checks, for heads that are known to be valid."""
    tokens = np.arange(1, len(tree) + 1)
    low = np.where(tree > 0, np.minimum(tree, tokens), tokens)
    starts: Booleans = np.minimum.accumulate(low[::-1])[::-1] >= tokens
    starts[1:] &= np.maximum.accumulate(np.maximum(tree, tokens))[:-1] < tokens[1:]
    return starts


def is_tree(heads: ArrayLike) -> bool:
    """Return whether every token reaches the root.

    Examples
    --------
    >>> is_tree([2, 0, 2]), is_tree([2, 1, 0])
    (True, False)
    """
    ancestors = tree_with_root(heads)
    ancestors[0] = 0
    for _ in range(len(ancestors).bit_length()):  # pointer doubling
        ancestors = ancestors[ancestors]
    return not ancestors.any()


def is_projective(heads: ArrayLike) -> bool:
    """Return whether no two arcs cross, where the root stands left of all tokens.

    Examples
    --------
    >>> is_projective([2, 0, 2]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    tree = tree_with_root(heads)[1:]
    tokens = np.arange(1, len(tree) + 1)
    left, right = np.minimum(tree, tokens), np.maximum(tree, tokens)
    begins_inside = (left[:, None] < left) & (left < right[:, None])
    return not (begins_inside & (right[:, None] < right)).any()


def breaks_any(
    rules: Iterable[Rule],
    heads: NDArray[np.int32],
    labels: NDArray[np.integer[Any]] | None,
) -> bool:
    """Return whether a labelled tree breaks any of the rules.

    Examples
    --------
    >>> from .rules import AtMost
    >>> heads, labels = np.array([2, 0, 2], "i"), np.array([1, 0, 1], "i")
    >>> breaks_any([AtMost([1])], heads, labels), breaks_any([AtMost([0])], heads, labels)
    (True, False)
    """
    tree = [-1, *heads.tolist()]
    marks = [-1] * len(tree) if labels is None else [-1, *labels.tolist()]
    return any(rule.is_broken(tree, marks) for rule in rules)


def tree_with_root(heads: ArrayLike, n: int | None = None) -> Integers:
    """Return the heads by token number, -1 for the root itself."""
    given = checked_numbers("heads", heads)
    checked = checked_indices("heads", given, (n,), low=0, high=given.size + 1, dtype=np.int64)
    return np.concatenate([[-1], checked])
