"""Random small chain problems, with all that is awkward about them."""

from collections.abc import Iterator

import numpy as np

from spacy_decoders.decoders.chain import ChainModel
from tests.oracles import all_chains

SHAPES = [(1, 1), (1, 4), (2, 3), (3, 2), (4, 3), (5, 3), (3, 6), (6, 2)]


def random_problems(count: int, seed: int = 0) -> Iterator[tuple[ChainModel, np.ndarray]]:
    """Yield (model, emissions): integers full of ties, tiny, huge, biased, with ``-inf``."""
    rng = np.random.default_rng(seed)
    for trial in range(count):
        n, size = SHAPES[trial % len(SHAPES)]
        scale = 10.0 ** rng.uniform(-3, 4)
        shapes = ((size, size), (size,), (size,), (n, size))
        if trial % 3 == 0:
            arrays = [rng.integers(-2, 3, shape).astype(np.float32) for shape in shapes]
        else:
            arrays = [(scale * rng.normal(size=shape)).astype(np.float32) for shape in shapes]
        if trial % 7 == 0:
            arrays[3] += np.float32(scale * 100)
        if trial % 2:
            for array, share in zip(arrays, (0.3, 0.3, 0.3, 0.2), strict=True):
                array[rng.random(array.shape) < share] = -np.inf
        transitions, start, end, emissions = arrays
        if trial % 5 == 0:
            start = end = None
        yield ChainModel(transitions, start, end), emissions


def ranked(model: ChainModel, emissions: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """Every legal labelling with its score, best first."""
    every = all_chains(model.transitions, model.start, model.end, emissions)
    return [pair for pair in every if pair[0] > -np.inf]


def large_problem(
    seed: int, size: int, lengths: list[int], *, peaked: float = 3.0, forbidden: float = 0.0
) -> tuple[ChainModel, np.ndarray]:
    """Return a model and emissions of several sentences, too large for the oracle."""
    rng = np.random.default_rng(seed)
    transitions = rng.normal(size=(size, size)).astype(np.float32)
    transitions[rng.random(transitions.shape) < forbidden] = -np.inf
    emissions = peaked * rng.normal(size=(sum(lengths), size)).astype(np.float32)
    start, end = rng.normal(size=(2, size)).astype(np.float32)
    return ChainModel(transitions, start, end), emissions
