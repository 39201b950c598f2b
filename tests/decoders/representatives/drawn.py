"""Small problems drawn at random."""

import numpy as np


def random_problem(rng, case: int):
    """Small whole or real costs, with and without local ones, some of them enormous."""
    k, v = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    if case % 4 < 2:
        distances = rng.integers(0, 4 + 5 * (case % 2), (v, v))
    else:
        distances = rng.normal(size=(v, v)) * 10.0 ** rng.integers(-3, 4)
    distances = np.triu(distances, case % 2)
    distances = np.triu(distances) + np.triu(distances, 1).T
    sets = [
        rng.choice(v, size=int(rng.integers(1, min(v, 5) + 1)), replace=False) for _ in range(k)
    ]
    local = None
    if case % 3 == 0:
        local = [
            rng.normal(size=len(s)) if case % 2 else rng.integers(0, 4, len(s)) * 1.0 for s in sets
        ]
        for costs in local[: case % 5]:
            costs[rng.random(len(costs)) < 0.3] = 1e30
    return distances, sets, local, float(rng.choice([0.0, 1.0, 2.5]))
