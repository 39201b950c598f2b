"""Scores whose sums would not fit float32 are refused, whoever is to decode them."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import (
    Beam,
    ChainModel,
    ColumnGeneration,
    ForwardDominance,
    PrunedViterbi,
    Viterbi,
    k_best,
    max_marginal_margins,
    zero_one_oracle,
)
from spacy_decoders.errors import ProblemError

DECODERS = [ForwardDominance(), Viterbi(), PrunedViterbi(), ColumnGeneration(), Beam(2)]

LOWEST = float(np.finfo(np.float32).min)


@pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: type(decoder).__name__)
@pytest.mark.parametrize("size", [2, 20, 70])
def test_the_lowest_float_is_no_mask(decoder, size):
    # its sums become -inf, and would forbid what is legal
    model = ChainModel(np.where(np.tri(size, dtype=bool), 0.0, -np.inf))
    for row in (0, 2):
        emissions = np.zeros((3, size), dtype=np.float32)
        emissions[row] = LOWEST
        for ask in (
            lambda given: decoder.decode(model, given),
            lambda given: k_best(model, given, 10_000),
            lambda given: max_marginal_margins(model, given, cap=1.0),
            lambda given: zero_one_oracle(model, given, [0, 0, 0]),
        ):
            with pytest.raises(ProblemError, match=r"emissions: the score -3.4.* use -inf"):
                ask(emissions)
        emissions[row] = -1e30
        assert decoder.decode(model, emissions).certificate.score <= -1e29
