"""Problems of trees with grandparents."""

import numpy as np

from spacy_decoders.decoders.tree import DenseGrandparents, TreeProblem
from spacy_decoders.decoders.tree.grandparent_scores import ScoreTable


def larger_problem(rng, n, **options):
    """Scores like those of real sentences, with grandparents that contradict arcs."""
    size = n + 1
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    arcs = rng.normal(size=(size, size)) * 3 - 2 * np.log1p(distance)
    return TreeProblem(
        arcs,
        rng.normal(size=(size,) * 3) * options.pop("scale", 1.0),
        projective=False,
        **options,
    )


def dense_table(problem):
    return ScoreTable(DenseGrandparents.of(problem), problem.allowed, -np.inf)
