"""Scores of the kinds that break arithmetic."""

import numpy as np

#: How the scores of an array are drawn.
KINDS = ("normal", "ties", "integers", "masked", "mixed", "tiny", "large", "forbidden")
#: Of which the last two have many paths or trees of the same score, but for rounding.
EVERY_KIND = (*KINDS, "repeated", "masked ties")
MASKS = (-1e4, -1e6, -1e7, -1e9, -1e10, -1e15, -1e20, -1e30)


def drawn(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Scores of one kind."""
    values = rng.normal(size=shape)
    if kind == "ties":
        return rng.integers(-1, 2, shape) * 0.1
    if kind == "repeated":
        return rng.choice([0.1, 0.2, 0.3, 0.1 + 0.2], shape)
    if kind == "masked ties":
        return rng.choice([0.0, 1.0, rng.choice(MASKS), -np.inf], shape)
    if kind == "integers":
        return rng.integers(-9, 10, shape).astype(float)
    if kind == "masked":
        return np.where(rng.random(shape) < 0.3, rng.choice(MASKS, shape), values)
    if kind == "mixed":
        return values * 10.0 ** rng.integers(-20, 21, shape)
    if kind == "tiny":
        return values * 5e-324 * rng.integers(0, 10, shape)
    if kind == "large":
        return 1e5 * rng.integers(-12, 13, shape) + 1e-4 * values
    if kind == "forbidden":
        return np.where(rng.random(shape) < 0.4, -np.inf, values)
    return values
