"""What holds for every exact decoder of chains."""

import pickle

import numpy as np
import pytest

from spacy_decoders.decoders.chain import Beam, ChainDecoder, ChainModel
from spacy_decoders.errors import InfeasibleError

from .cases import large_problem, max_marginals
from .promises import DECODERS

EXACT = {name: decoder for name, decoder in DECODERS.items() if not isinstance(decoder, Beam)}
pytestmark = pytest.mark.parametrize("decoder", EXACT.values(), ids=EXACT)


def assert_proven(decoder: ChainDecoder, model: ChainModel, emissions, solution, best) -> None:
    certificate = solution.certificate
    assert certificate.decoder == type(decoder).__name__
    assert certificate.status == "optimal"
    assert solution.labels.dtype == np.int32
    assert certificate.score == pytest.approx(model.score(emissions, solution.labels), rel=1e-12)
    assert certificate.score >= best - certificate.tolerance
    assert certificate.bound >= best - 1e-12 * abs(best)


def test_golden_example(decoder):
    # D N V; "the can rusts": the determiner asks for a noun though "can" looks like a verb
    transitions = [[-2, 2, -2], [-1, 0, 1], [1, 0, -2]]
    emissions = [[3, 0, 0], [0, 1, 2], [0, 1, 2]]
    # by hand: D N V = 3 + 2 + 1 + 1 + 2 = 9; the next best, D N N, is 3 + 2 + 1 + 0 + 1 = 7
    solution = decoder.decode(ChainModel(transitions), emissions)
    assert solution.labels.tolist() == [0, 1, 2]
    assert solution.certificate.score == 9.0


@pytest.mark.parametrize("forbidden", [0.0, 0.5])
@pytest.mark.parametrize("size", [15, 16, 17, 45, 64, 130])
@pytest.mark.parametrize("peaked", [0.3, 5.0])
def test_batches_agree_with_dense_decoding(decoder, size, peaked, forbidden):
    lengths = [7, 0, 1, 20, 2, 0, 40, 5]
    model, emissions = large_problem(size, size, lengths, peaked=peaked, forbidden=forbidden)
    solutions = decoder.decode_batch(model, emissions, lengths)
    assert [len(solution.labels) for solution in solutions] == lengths
    stop = 0
    for solution, length in zip(solutions, lengths, strict=True):
        rows = emissions[stop : stop + length]
        stop += length
        assert_proven(decoder, model, rows, solution, dense(model, rows))


def dense(model: ChainModel, emissions: np.ndarray) -> float:
    """The best score, in float64."""
    return float(max_marginals(model, emissions)[0].max()) if len(emissions) else 0.0


def test_dead_end_names_the_token(decoder):
    never = -np.inf
    model = ChainModel([[0, never], [never, 0]])
    emissions = np.array([[0, never], [0, never], [never, 0], [0, 0]], dtype=np.float32)
    with pytest.raises(InfeasibleError, match="token 2 of 4"):
        decoder.decode(model, emissions)
    with pytest.raises(InfeasibleError, match=r"sentence 1: .* token 2 of 3"):
        decoder.decode_batch(model, np.concatenate([emissions[:1], emissions[:3]]), [1, 3])


def test_leaves_its_input_alone_and_pickles(decoder):
    model, emissions = large_problem(0, 20, [12])
    before = emissions.copy()
    solution = decoder.decode(model, emissions)
    assert np.array_equal(before, emissions) and emissions.flags.writeable
    again, model_again = pickle.loads(pickle.dumps((decoder, model)))
    assert again == decoder
    assert np.array_equal(again.decode(model_again, emissions).labels, solution.labels)
