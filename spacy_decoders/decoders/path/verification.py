"""An independent check of a path: its score, and an upper bound on the best one.

Only the problem is shared with the decoders. Small problems are enumerated. Otherwise walks, which
may visit a class twice, bound the paths; where they leave a gap, an integer program closes it, and
its solver's bound is trusted.
"""

import math
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, Floats, Integers, checked_type
from ...errors import ProblemError
from ...verify import Findings, best_of_program
from .problem import PathProblem
from .subtree import SubtreeProblem, SubtreeSolution

__all__ = ["examine", "fault_of"]

#: The most sequences of vertices that are enumerated.
MOST_SEQUENCES = 20_000
#: What rounding may add to a bound, relative to the sum of absolute scores.
ROUNDING = 1e-12
#: Scores larger than this, relative to those of the path, are beyond a solver's precision.
LARGEST = 1e6

Path = tuple[int, ...]


def examine(problem: Any, solution: Any, *, seconds: float) -> Findings:
    """Score a path or subtree anew, and bound all others of its length or size.

    `problem` is a `PathProblem`, or the pair of it and the length that was asked for; for a
    `SubtreeSolution` it is the triple ``(SubtreeProblem, capacity, least)``. A solver that takes
    more than `seconds` yields no bound. Raises `ProblemError` if the problem is none of these, or
    the solution has no path, whose length would be needed.
    """
    if isinstance(solution, SubtreeSolution):
        return _examine_subtree(problem, solution)
    asked = len(solution.vertices)
    if isinstance(problem, tuple) and len(problem) == 2:
        problem, asked = problem
    checked_type("problem", problem, PathProblem)
    path = tuple(int(vertex) for vertex in solution.vertices)
    if not path:
        raise ProblemError("solution: it has no path, so there is nothing to verify.")
    if len(path) != asked:
        return Findings.illegal(f"the path {path} does not have the length {asked}.")
    fault = fault_of(problem, path)
    if fault is not None:
        return Findings.illegal(fault)
    parts = _parts(problem, path)
    score, scale = math.fsum(parts), math.fsum(map(abs, parts))
    if math.perm(problem.size, len(path)) <= MOST_SEQUENCES:
        sequences = permutations(range(problem.size), len(path))
        legal = (other for other in sequences if fault_of(problem, other) is None)
        best = max(math.fsum(_parts(problem, other)) for other in legal)
        return Findings(None, score, scale, best, best)
    through = _walks_through(problem, len(path))
    slack = ROUNDING * (1.0 + scale)
    bound = max(float(edges.max()) for edges in through) + slack
    if bound <= score + 2.0 * slack:
        return Findings(None, score, scale, score, bound)
    promising = [edges >= score - slack for edges in through]
    other, solved = _best_by_program(problem, promising, 1.0 + scale, seconds)
    bound = min(bound, max(solved, score))
    best = score
    if other is not None and fault_of(problem, other) is None:
        best = max(best, math.fsum(_parts(problem, other)))
    return Findings(None, score, scale, best, max(bound, best))


def _examine_subtree(problem: Any, solution: SubtreeSolution) -> Findings:
    parts = problem if isinstance(problem, tuple) else ()
    if len(parts) != 3 or not isinstance(parts[0], SubtreeProblem):
        raise ProblemError(
            "problem: expected the triple (SubtreeProblem, capacity, least) that was decoded; got "
            f"{type(problem).__name__}."
        )
    tree, capacity, least = parts
    nodes = np.asarray(solution.nodes).tolist()
    parents = tree.parents.tolist()
    sizes = [tuple(row) for row in tree.sizes.reshape(len(parents), -1).tolist()]

    def within(size: tuple[int, ...], low: Any = 0) -> bool:
        """Whether each size is at least `low` and at most the capacity."""
        limits = zip(*np.broadcast_arrays(low, size, capacity), strict=True)
        return all(least <= given <= most for least, given, most in limits)

    if not all(isinstance(node, int) and 0 <= node < len(parents) for node in nodes):
        return Findings.illegal(f"{nodes} are not all nodes of the tree.")
    if nodes != sorted(set(nodes)) or 0 not in nodes:
        return Findings.illegal("the nodes are not in ascending order, or the root is missing.")
    if any(parents[node] not in nodes for node in nodes if node):
        return Findings.illegal("a node is chosen without its parent.")
    if not within(tuple(map(sum, zip(*(sizes[node] for node in nodes), strict=True))), least):
        return Findings.illegal(f"the size is not within {least} and {capacity}.")
    # for each node, the best score by size of a subtree at it; fractions, which are not rounded
    tables = [{sizes[node]: Fraction(score)} for node, score in enumerate(tree.scores.tolist())]
    for node in range(len(parents) - 1, 0, -1):
        merged = dict(tables[parents[node]])
        for size, worth in tables[parents[node]].items():
            for more, gain in tables[node].items():
                both = tuple(map(sum, zip(size, more, strict=True)))
                if within(both):
                    merged[both] = max(merged.get(both, worth + gain), worth + gain)
        tables[parents[node]] = merged
    best = float(max(worth for size, worth in tables[0].items() if within(size, least)))
    terms = [float(tree.scores[node]) for node in nodes]
    score, scale = math.fsum(terms), math.fsum(map(abs, terms))
    return Findings(None, score, scale, best, best)


def fault_of(problem: PathProblem, path: Path) -> str | None:
    """Return why this is not a path of the problem, or None if it is."""
    if not all(0 <= vertex < problem.size for vertex in path):
        return f"the path {path} has a vertex that is none of the {problem.size}."
    if len({int(problem.classes[vertex]) for vertex in path}) < len(path):
        return f"the path {path} visits a class twice."
    if -math.inf in _parts(problem, path):
        return f"the path {path} has a forbidden start, edge or end."
    return None


def _parts(problem: PathProblem, path: Path) -> list[float]:
    """List the scores of a path's start, edges and end."""
    steps = [float(problem.weights[edge]) for edge in pairwise(path)]
    return [float(problem.start[path[0]]), *steps, float(problem.end[path[-1]])]


def _walks_through(problem: PathProblem, length: int) -> list[Floats]:
    """Return the score of the best walk through each edge as its first, second, ... step.

    The start scores count as the first step, a matrix of one row, and the end scores as the last,
    of one column, so that a path of one vertex has steps too.
    """
    classes = problem.classes
    inner = np.where(classes[:, None] == classes[None, :], -np.inf, problem.weights)
    steps = [problem.start[None, :], *[inner] * (length - 1), problem.end[:, None]]
    before, after = [np.zeros(1)], [np.zeros(1)]
    for step in steps:
        before.append((before[-1][:, None] + step).max(axis=0))
    for step in reversed(steps):
        after.append((step + after[-1][None, :]).max(axis=1))
    after.reverse()
    return [
        before[place][:, None] + step + after[place + 1][None, :]
        for place, step in enumerate(steps)
    ]


def _best_by_program(
    problem: PathProblem, promising: list[Booleans], scale: float, seconds: float
) -> tuple[Path | None, float]:
    """Return the path that an integer program finds in the promising steps, and its bound."""
    length = len(promising) - 1
    tails, heads, places, gains = _columns(problem, promising)
    if np.abs(gains).max() > LARGEST * scale:
        return None, math.inf
    # flow balance: as many steps enter a vertex at each place as leave it
    states, classes = problem.size * length, np.unique(problem.classes, return_inverse=True)[1]
    entered, left = (places < length).nonzero()[0], (places > 0).nonzero()[0]
    balance = _matrix(states, len(gains), places[entered] * problem.size + heads[entered], entered)
    balance -= _matrix(states, len(gains), (places[left] - 1) * problem.size + tails[left], left)
    once = _matrix(int(classes.max()) + 1, len(gains), classes[heads[entered]], entered)
    begins = _matrix(1, len(gains), np.zeros(int((places == 0).sum())), (places == 0).nonzero()[0])
    rows = [(balance, 0, 0), (once, 0, 1), (begins, 1, 1)]
    solved, bound = best_of_program(gains, rows, seconds)
    if solved is None:
        return None, bound
    chosen = np.flatnonzero((solved > 0.5) & (places < length))
    return tuple(heads[chosen[np.argsort(places[chosen])]].tolist()), bound


def _columns(
    problem: PathProblem, promising: list[Booleans]
) -> tuple[Integers, Integers, Integers, Floats]:
    """Return the tail, head, position and score of each promising step."""
    tails, heads = zip(*(np.nonzero(step) for step in promising), strict=True)
    scores = [problem.start[None, :], *[problem.weights] * (len(promising) - 2)]
    scores.append(problem.end[:, None])
    gains = [score[step] for score, step in zip(scores, promising, strict=True)]
    places = [np.full(len(tail), place) for place, tail in enumerate(tails)]
    return tuple(map(np.concatenate, (tails, heads, places, gains)))  # type: ignore[return-value]


def _matrix(rows: int, columns: int, row: NDArray[Any], column: NDArray[Any]) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(row)), (row, column)), shape=(rows, columns))
