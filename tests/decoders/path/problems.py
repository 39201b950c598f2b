"""Random selection-and-ordering problems."""

from collections.abc import Iterator

import numpy as np

from spacy_decoders.decoders.path import PathProblem


def small_problems(count: int, seed: int = 0) -> Iterator[tuple[PathProblem, int]]:
    """Problems that brute force can judge, each with a length to ask for."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        n = int(rng.integers(1, 7))
        classes = int(rng.integers(1, n + 1))
        drawn = [  # small whole ones to provoke ties, or normal ones
            rng.normal(size=shape) if i % 2 else rng.integers(-3, 4, shape).astype(float)
            for shape in (n, (n, n), n)
        ]
        for scores in drawn:
            scores[rng.random(scores.shape) < (0.0, 0.3, 0.6)[i % 3]] = -np.inf
        yield PathProblem(*drawn, rng.integers(0, classes, n)), int(rng.integers(1, 5))


def headline_like(rng, n: int) -> PathProblem:
    """Weights as a language model's: one term for the target, and a sparse part."""
    into = rng.normal(0, 2, n)
    weights = np.tile(into, (n, 1)) - 6.0
    weights[rng.random((n, n)) < 0.02] += 4.0
    return PathProblem(into, weights, rng.normal(0, 1, n), rng.integers(0, 9 * n // 10, n))


def symmetric(rng, n: int) -> PathProblem:
    """Symmetric weights, on which the best walk goes to and fro."""
    weights = rng.random((n, n))
    return PathProblem(np.zeros(n), weights + weights.T, np.zeros(n), np.arange(n))


def assert_path(problem: PathProblem, length: int, solution) -> None:
    """A path of that length, no class twice, whose stated score is its own."""
    vertices = [int(v) for v in solution.vertices]
    assert solution.vertices.dtype == np.int32
    assert len(vertices) == length
    assert len({int(problem.classes[v]) for v in vertices}) == length
    assert solution.certificate.score == problem.score(vertices)
