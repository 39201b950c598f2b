"""Small random problems and all their trees, which every tree decoder is judged by."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from spacy_decoders.decoders import tree
from spacy_decoders.decoders.tree import verification
from tests import oracles


@lru_cache
def trees(n: int, projective: bool, single_root: bool) -> tuple[tuple[int, ...], ...]:
    """Every tree over n tokens; for no token the empty one."""
    if n == 0:
        return ((),)
    return tuple(oracles.all_trees(n, projective=projective, single_root=single_root))


def random_factors(
    rng: np.random.Generator, n: int, scores: Callable[..., np.ndarray] | None = None
) -> tree.Factors:
    """A few of each kind: constants, larger parts, ORs, ranges, valency."""
    scores = scores or (lambda *shape: rng.integers(-8, 9, shape).astype(float))
    factors = tree.Factors.empty()
    for _ in range(rng.integers(1, 12)):
        pairs = zip(rng.integers(0, n + 1, 4).tolist(), rng.integers(1, n + 1, 4), strict=True)
        arcs = [(h, int(m)) for h, m in pairs if h != m][: rng.integers(0, 5)]
        score = float(scores(1)[0]) if rng.random() < 0.95 else -np.inf
        kind = rng.random()
        size = len(set(arcs))
        if kind < 0.5 or not arcs:
            factors += tree.Factors.of([(arcs, score)])
        elif kind < 0.65:
            factors += tree.Factors.any_of(arcs, score)
        elif kind < 0.85:
            low = int(rng.integers(0, size + 1))
            high = int(rng.integers(low, size + 1))
            factors += tree.Factors(arcs, [0, len(arcs)], [score], [low], [high])
        else:
            factors += tree.Factors.valency(int(rng.integers(0, n + 1)), n, scores(4))
    return factors


#: The number of labels of the rules that are drawn.
LABELS = 3


def drawn_rules(rng, n, *, sentences=False):
    """Some rules of every kind."""
    token, labels = lambda: int(rng.integers(1, n + 1)), lambda: [int(rng.integers(LABELS))]
    arc = lambda: (int(rng.choice(np.delete(np.arange(n + 1), m := token()))), m)  # noqa: E731
    kinds = [
        lambda: tree.AtMost(labels(), int(rng.integers(3))),
        lambda: tree.AtMost([0, 1]),
        lambda: tree.AtMost([1, 2], heads=[token(), 0]),
        lambda: tree.Leaves(labels()),
        lambda: tree.Leaves(labels(), exempt=labels()),
        lambda: tree.Leaves(tokens=[token()], exempt=labels()),
        lambda: tree.Leaves(labels(), [token(), token()]),
        lambda: tree.Leaves(tokens=[token()]),
        lambda: tree.FixedArc(*arc()),
        lambda: tree.ForbiddenArc(*arc()),
        lambda: tree.FixedLabel(token(), labels()),
        lambda: tree.ForbiddenLabel(token(), labels()),
    ]
    if sentences:
        kinds += [lambda: tree.FixedStart(token(), bool(rng.integers(2)))] * 3
    return [kinds[place]() for place in rng.integers(len(kinds), size=rng.integers(1, 5))]


def fault(problem, solution):
    """Why a solution is no tree of its problem, by the code behind `verify`; None if it is one."""
    heads = tuple(solution.heads.tolist())
    labels = (0,) * len(heads) if problem.labels is None else tuple(solution.labels.tolist())
    found = verification._fault_of(problem, heads)
    found = found or verification._fault_of_labels(problem, heads, labels)
    if found is None and tree.score_tree(problem, heads, solution.labels) == -np.inf:
        return "a part is forbidden."
    return found
