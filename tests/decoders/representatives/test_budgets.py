"""A budget in seconds is kept, with a bound; run with ``-m timing`` on a machine at rest."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders.representatives import (
    ExactRepresentatives,
    LocalSearch,
    RepresentativesProblem,
)


def hard() -> RepresentativesProblem:
    """Twenty sets of sixty at random distances, far beyond what is ever proven."""
    rng = np.random.default_rng(0)
    distances = np.triu(rng.random((1200, 1200)), 1)
    return RepresentativesProblem(distances + distances.T, np.split(np.arange(1200), 20))


@pytest.mark.timing
@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("decoder", [ExactRepresentatives(), LocalSearch(starts=10**6)])
def test_a_budget_in_seconds_is_kept(decoder, seconds):
    problem = hard()
    decoder.decode(problem, budget=Budget(iterations=1))  # compiles
    begin = perf_counter()
    certificate = decoder.decode(problem, budget=Budget(seconds=seconds)).certificate
    assert perf_counter() - begin <= 1.2 * seconds + 0.05
    if certificate.decoder == "ExactRepresentatives":
        assert certificate.status == "bounded" and certificate.bound <= certificate.score
