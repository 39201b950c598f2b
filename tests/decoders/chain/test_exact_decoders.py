"""What holds for every exact decoder of chains."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import Beam, ChainModel
from spacy_decoders.errors import InfeasibleError

from .promises import DECODERS

EXACT = {name: decoder for name, decoder in DECODERS.items() if not isinstance(decoder, Beam)}
pytestmark = pytest.mark.parametrize("decoder", EXACT.values(), ids=EXACT)


def test_golden_example(decoder):
    # D N V; "the can rusts": the determiner asks for a noun though "can" looks like a verb
    transitions = [[-2, 2, -2], [-1, 0, 1], [1, 0, -2]]
    emissions = [[3, 0, 0], [0, 1, 2], [0, 1, 2]]
    # by hand: D N V = 3 + 2 + 1 + 1 + 2 = 9; the next best, D N N, is 3 + 2 + 1 + 0 + 1 = 7
    solution = decoder.decode(ChainModel(transitions), emissions)
    assert solution.labels.tolist() == [0, 1, 2]
    assert solution.certificate.score == 9.0


def test_dead_end_names_the_token(decoder):
    never = -np.inf
    model = ChainModel([[0, never], [never, 0]])
    emissions = np.array([[0, never], [0, never], [never, 0], [0, 0]], dtype=np.float32)
    with pytest.raises(InfeasibleError, match="token 2 of 4"):
        decoder.decode(model, emissions)
    with pytest.raises(InfeasibleError, match=r"sentence 1: .* token 2 of 3"):
        decoder.decode_batch(model, np.concatenate([emissions[:1], emissions[:3]]), [1, 3])
