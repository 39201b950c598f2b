"""Large finite scores that no best labelling has: they change neither answer nor precision."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.certificate import largest_tolerance
from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
)
from spacy_decoders.verify import verify

from .judge import Chain, Judge
from .promises import (
    DECODERS,
    check_margins,
    check_ranking,
    check_rivals,
)

EXACT = {name: decoder for name, decoder in DECODERS.items() if "Beam" not in name}

#: Label 2 is worth 20 at the end, and must not be last: 0 1 and 1 1 are worth 10.
MODEL = ChainModel(np.zeros((3, 3)), end=[0, 0, -1e9])
EMISSIONS = [[0, 0, 0], [1, 10, 20]]


@pytest.mark.parametrize("decoder", EXACT.values(), ids=EXACT)
def test_a_label_that_must_not_be_last_hides_nothing(decoder):
    found = decoder.decode(MODEL, EMISSIONS)
    assert found.labels[1] == 1 and found.certificate.score == 10.0
    assert found.certificate.is_optimal and found.certificate.confidence == 1.0
    assert found.certificate.tolerance <= largest_tolerance(10.0)
    assert found.certificate.bound == pytest.approx(10.0, abs=1e-6)
    assert verify((MODEL, EMISSIONS), found)


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
