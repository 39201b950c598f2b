"""Scores: which are refused; and large ones that no best labelling has cost no precision."""

import numpy as np
import pytest

from spacy_decoders.decoders import chain
from spacy_decoders.errors import ProblemError

from .judge import Chain, Judge
from .promises import DECODERS, check_margins, check_ranking, check_rivals


def test_what_comes_after_the_best_where_most_transitions_are_masked(rng):
    # messages of the size of the masks are rounded by more than the labellings differ
    for _ in range(60):
        links = rng.normal(size=(16, 16)).astype(np.float32)
        links[rng.random(links.shape) < 0.8] = -1e7
        links[rng.random(links.shape) < 0.3] = -np.inf
        emissions = np.zeros((4, 16), dtype=np.float32)
        emissions[rng.random(emissions.shape) < 0.3] = -np.inf
        judge, model = Judge(Chain(links, None, None, emissions)), chain.ChainModel(links)
        met = check_ranking(judge, model, emissions) + check_rivals(judge, model, emissions)
        assert not any("bounded" in name for name in met)
        check_margins(judge, model, emissions)


def test_a_long_tail_of_flat_transitions_is_no_mask(rng, monkeypatch):
    """As a strong penalty trains them: a few scores are many times as large as the median."""
    size, lengths = 30, [12] * 40
    small = 1e-4 * np.exp(2 * rng.normal(size=(size, size))) * rng.choice([-1, 1], (size, size))
    model = chain.ChainModel(small, start=np.linspace(-0.05, 0.05, size))
    repaired = []
    monkeypatch.setattr(
        "spacy_decoders.decoders.chain.proof.decode_exactly",
        lambda model, sentences, chosen, labels: repaired.extend(chosen),
    )
    emissions = rng.normal(size=(sum(lengths), size)).astype(np.float32)
    found = chain.ForwardDominance().decode_batch(model, emissions, lengths)
    assert all(solution.certificate.is_optimal for solution in found) and not repaired


def test_refuses_what_is_no_model():
    with pytest.raises(ProblemError, match="transitions: expected a square"):
        chain.ChainModel(np.zeros((2, 3)))
    with pytest.raises(ProblemError, match="at least one label"):
        chain.ChainModel(np.zeros((0, 0)))
    with pytest.raises(ProblemError, match=r"transitions: .*index \(0, 1\)"):
        chain.ChainModel([[0, np.nan], [0, 0]])
    with pytest.raises(ProblemError, match="start: expected shape"):
        chain.ChainModel(np.zeros((2, 2)), start=[0, 0, 0])
    with pytest.raises(ProblemError, match="end: every score"):
        chain.ChainModel(np.zeros((2, 2)), end=[0, np.inf])


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("size", [2, 20, 70])
def test_the_lowest_float_is_no_mask(name, size):
    decoder = DECODERS[name]
    # its sums become -inf, and would forbid what is legal
    model = chain.ChainModel(np.where(np.tri(size, dtype=bool), 0.0, -np.inf))
    for row in (0, 2):
        emissions = np.zeros((3, size), dtype=np.float32)
        emissions[row] = np.finfo(np.float32).min
        for ask in (
            lambda given: decoder.decode(model, given),
            lambda given: chain.k_best(model, given, 10_000),
            lambda given: chain.max_marginal_margins(model, given),
            lambda given: chain.zero_one_oracle(model, given, [0, 0, 0]),
        ):
            with pytest.raises(ProblemError, match=r"emissions: the score -3.4.* use -inf"):
                ask(emissions)
        emissions[row] = -1e30
        assert decoder.decode(model, emissions).certificate.score <= -1e29
