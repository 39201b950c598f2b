"""Large finite scores that no best labelling has: they change neither answer nor precision."""

import numpy as np

from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
)

from .judge import Chain, Judge
from .promises import (
    check_margins,
    check_ranking,
    check_rivals,
)


def test_what_comes_after_the_best_where_most_transitions_are_masked(rng):
    # messages of the size of the masks are rounded by more than the labellings differ
    for _ in range(60):
        links = rng.normal(size=(16, 16)).astype(np.float32)
        links[rng.random(links.shape) < 0.8] = -1e7
        links[rng.random(links.shape) < 0.3] = -np.inf
        emissions = np.zeros((4, 16), dtype=np.float32)
        emissions[rng.random(emissions.shape) < 0.3] = -np.inf
        judge, model = Judge(Chain(links, None, None, emissions)), ChainModel(links)
        met = check_ranking(judge, model, emissions) + check_rivals(judge, model, emissions)
        assert not any("bounded" in name for name in met)
        check_margins(judge, model, emissions)


def test_a_long_tail_of_flat_transitions_is_no_mask(rng, monkeypatch):
    """As a strong penalty trains them: a few scores are many times as large as the median."""
    size, lengths = 30, [12] * 40
    small = 1e-4 * np.exp(2 * rng.normal(size=(size, size))) * rng.choice([-1, 1], (size, size))
    model = ChainModel(small, start=np.linspace(-0.05, 0.05, size))
    repaired = []
    monkeypatch.setattr(
        "spacy_decoders.decoders.chain.proof.decode_exactly",
        lambda model, sentences, chosen, labels: repaired.extend(chosen),
    )
    emissions = rng.normal(size=(sum(lengths), size)).astype(np.float32)
    found = ForwardDominance().decode_batch(model, emissions, lengths)
    assert all(solution.certificate.is_optimal for solution in found) and not repaired
