"""Margins are proven, or lower bounds that say so."""

import numpy as np

from spacy_decoders import Budget
from spacy_decoders.decoders.representatives import (
    ExactRepresentatives,
    LocalSearch,
    RepresentativesProblem,
)


def test_margins_without_proof_are_flagged():
    rng = np.random.default_rng(0)
    distances = np.triu(rng.random((60, 60)), 1)
    problem = RepresentativesProblem(distances + distances.T, np.split(np.arange(60), 6))
    assert ExactRepresentatives().decode(problem).exact_margins.all()
    assert not ExactRepresentatives(exact_margins=False).decode(problem).exact_margins.any()
    short = ExactRepresentatives(starts=1).decode(problem, budget=Budget(iterations=1))
    assert not short.exact_margins.all()
    assert not LocalSearch().decode(problem).exact_margins.any()
