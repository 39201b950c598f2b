"""Random selection-and-ordering problems."""

import numpy as np

from spacy_decoders.decoders.path import PathProblem


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
