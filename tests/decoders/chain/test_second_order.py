"""Chains of second order against brute force, and the two decoders against each other."""

import pickle
from itertools import product

import numpy as np
import pytest

from spacy_decoders.decoders.chain import (
    ChainModel,
    SecondOrderDominance,
    SecondOrderModel,
    SecondOrderViterbi,
    Viterbi,
)
from spacy_decoders.decoders.chain.kernels import second_order_dominance as dominance
from spacy_decoders.errors import InfeasibleError, ProblemError
from tests.oracles import second_order_chain_score

from .cases import large_problem, random_problems

DECODERS = [SecondOrderViterbi(), SecondOrderDominance()]
each = pytest.mark.parametrize("decoder", DECODERS, ids=lambda decoder: type(decoder).__name__)


def random_triples(rng, model, trial):
    """Triples of the kind of their chain: whole numbers with ties, scaled, sparse, forbidden."""
    shape = (model.size,) * 3
    if trial % 3 == 0:
        triples = rng.integers(-2, 3, shape).astype(np.float32)
    else:
        triples = (max(model.magnitude, 1e-3) * rng.normal(size=shape)).astype(np.float32)
    if trial % 4 == 0:
        triples[rng.random(shape) < 0.7] = 0
    if trial % 2:
        triples[rng.random(shape) < 0.2] = -np.inf
    return triples


def random_second_order(count, seed):
    """Yield (model, emissions) with all that is awkward about them."""
    rng = np.random.default_rng(seed)
    for trial, (chain, emissions) in enumerate(random_problems(count, seed)):
        yield SecondOrderModel(chain, random_triples(rng, chain, trial)), emissions


def ranked(model, emissions):
    """Every legal labelling with its score, best first."""
    chain = model.chain
    links = (chain.transitions, chain.start, chain.end, model.triples)
    n, size = emissions.shape
    every = [
        (second_order_chain_score(*links, emissions, labels), labels)
        for labels in product(range(size), repeat=n)
    ]
    return sorted((pair for pair in every if pair[0] > -np.inf), reverse=True)


def large_second_order(seed, size, lengths, *, peaked=3.0, forbidden=0.0, triples_too=True):
    """Return a model and emissions of several sentences, too large for brute force."""
    rng = np.random.default_rng(seed)
    chain, emissions = large_problem(seed, size, lengths, peaked=peaked, forbidden=forbidden)
    triples = rng.normal(size=(size, size, size)).astype(np.float32)
    if triples_too:
        triples[rng.random(triples.shape) < forbidden] = -np.inf
    return SecondOrderModel(chain, triples), emissions


@each
def test_agrees_with_brute_force(decoder):
    feasible = 0
    for model, emissions in random_second_order(960, seed=4):
        every = ranked(model, emissions)
        if not every:
            with pytest.raises(InfeasibleError, match="no legal labelling"):
                decoder.decode(model, emissions)
            continue
        feasible += 1
        solution = decoder.decode(model, emissions)
        certificate = solution.certificate
        best, labels = every[0]
        assert certificate.decoder == type(decoder).__name__
        assert certificate.status == "optimal"
        assert solution.labels.dtype == np.int32
        assert certificate.score == pytest.approx(model.score(emissions, solution.labels))
        assert certificate.score == pytest.approx(
            dict(map(reversed, every))[tuple(solution.labels)]
        )
        assert certificate.score >= best - certificate.tolerance
        assert certificate.bound >= best - 1e-12 * abs(best)
        if len(every) > 1 and best - every[1][0] > certificate.tolerance:
            assert tuple(solution.labels) == labels
    assert feasible > 450


@each
def test_tolerance_is_small_beside_the_scores(decoder):
    for model, emissions in random_second_order(60, seed=1):
        if ranked(model, emissions):
            finite = np.abs(emissions[np.isfinite(emissions)]).max() + model.magnitude
            tolerance = decoder.decode(model, emissions).certificate.tolerance
            assert tolerance <= 2e-5 * len(emissions) * max(finite, 1e-30)


@each
def test_golden_example(decoder):
    # D N V; "the can rusts": by the pairs, D N V = 3 + 2 + 1 + 1 + 2 = 9 is best and D N N is
    # worth 3 + 2 + 1 + 0 + 1 = 7; a triple D N N of 3 makes it 10, and one of 1.5 does not
    transitions = [[-2, 2, -2], [-1, 0, 1], [1, 0, -2]]
    emissions = [[3, 0, 0], [0, 1, 2], [0, 1, 2]]
    triples = np.zeros((3, 3, 3))
    for worth, labels, score in ((3, [0, 1, 1], 10.0), (1.5, [0, 1, 2], 9.0)):
        triples[0, 1, 1] = worth
        model = SecondOrderModel(ChainModel(transitions), triples)
        solution = decoder.decode(model, emissions)
        assert (solution.labels.tolist(), solution.certificate.score) == (labels, score)


@each
@pytest.mark.parametrize("triples_too", [False, True])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("size", [15, 16, 17, 40, 64, 70])
@pytest.mark.parametrize("peaked", [0.3, 3.0, 12.0])
def test_batches_agree_with_the_plainest_dynamic_program(
    decoder, size, peaked, forbidden, triples_too
):
    lengths = [7, 0, 1, 20, 2, 0, 3, 5]
    model, emissions = large_second_order(
        size, size, lengths, peaked=peaked, forbidden=forbidden, triples_too=triples_too
    )
    solutions = decoder.decode_batch(model, emissions, lengths)
    assert [len(solution.labels) for solution in solutions] == lengths
    stop = 0
    for solution, length in zip(solutions, lengths, strict=True):
        rows = emissions[stop : stop + length]
        stop += length
        certificate = solution.certificate
        best = plainest(model, rows)
        assert certificate.is_optimal
        assert certificate.score == pytest.approx(model.score(rows, solution.labels), rel=1e-12)
        assert certificate.score >= best - certificate.tolerance
        assert certificate.bound >= best - 1e-12 * abs(best)


def plainest(model, emissions):
    """The best score, in float64, by the plainest dynamic program over pairs."""
    chain = model.chain
    if not len(emissions):
        return 0.0
    running = chain.start_scores.astype(float) + emissions[0]
    if len(emissions) > 1:
        pairs = running[:, None] + chain.transitions + emissions[1]
        for row in emissions[2:]:
            pairs = (pairs[:, :, None] + model.triples).max(axis=0) + chain.transitions + row
        running = pairs.max(axis=0)
    return float((running + chain.end_scores).max())


@pytest.mark.parametrize("forbidden", [0.0, 0.05, 0.4])
def test_clear_scores_need_no_dense_decoding(forbidden):
    lengths = [20] * 10
    model, emissions = large_second_order(
        1, 40, lengths, peaked=12.0, forbidden=forbidden, triples_too=False
    )
    offsets = np.cumsum([0, *lengths])
    *_, left, sound, sentence, _ = dominance.decode(
        model.pruning, emissions.reshape(-1), offsets, model.size
    )
    assert (len(left), sound, sentence) == (0, True, -1)


def test_a_good_path_that_comes_to_nothing():
    # the labels that may follow the best one, 0, are far behind at the last token: the first
    # pass, which knows of those alone, ends there, and the best labelling leaves its reach
    never = -np.inf
    chain = ChainModel([[0, never, never], [0, 0, 0], [0, 0, 0]], end=[never, 0, 0])
    model = SecondOrderModel(chain, np.zeros((3, 3, 3)))
    emissions = [[9, 1, 0], [9, 1, 0], [9, 0, 1], [9, 0, 1]]
    solution = SecondOrderDominance().decode(model, emissions)
    assert solution.labels.tolist() == [1, 1, 2, 2]
    assert (solution.certificate.status, solution.certificate.score) == ("optimal", 4.0)


@each
def test_triples_worth_nothing_leave_the_first_order(decoder):
    chain, emissions = large_problem(2, 30, [50, 50], peaked=1.0)
    model = SecondOrderModel(chain, np.zeros((30, 30, 30)))
    found = decoder.decode_batch(model, emissions, [50, 50])
    first_order = Viterbi().decode_batch(chain, emissions, [50, 50])
    for ours, theirs in zip(found, first_order, strict=True):
        assert ours.labels.tolist() == theirs.labels.tolist()


@each
def test_a_path_that_only_the_last_token_allows(decoder):
    # label 1 is always worse, and at each token one more path of ones is behind; but only
    # after two ones may the last label stand
    triples = np.full((2, 2, 2), 0.0)
    triples[:, :, 1] = -1
    model = SecondOrderModel(ChainModel(np.zeros((2, 2))), triples)
    emissions = np.zeros((30, 2))
    assert not decoder.decode(model, emissions).labels.any()
    triples[:, 0, 1] = triples[0, 1, 1] = -np.inf
    emissions[-1, 0] = -np.inf
    solution = decoder.decode(SecondOrderModel(ChainModel(np.zeros((2, 2))), triples), emissions)
    assert solution.labels.all() and solution.certificate.score == -28.0


@each
def test_large_scores_over_many_tokens(decoder):
    model, emissions = large_second_order(3, 6, [5000], peaked=1e4)
    solution = decoder.decode(model, emissions + np.float32(1e4))
    best = plainest(model, emissions + np.float32(1e4))
    assert solution.certificate.score == pytest.approx(best, rel=1e-9)
    assert solution.certificate.tolerance < 1e-5 * best


@each
def test_no_tokens(decoder):
    model = SecondOrderModel(ChainModel(np.ones((3, 3)), end=[1, 1, 1]), np.ones((3, 3, 3)))
    solution = decoder.decode(model, np.zeros((0, 3)))
    assert solution.labels.shape == (0,)
    assert solution.certificate.score == 0.0 and solution.certificate.is_optimal
    assert decoder.decode_batch(model, np.zeros((0, 3)), []) == []


@each
def test_dead_end_names_the_token(decoder):
    triples = np.zeros((2, 2, 2))
    triples[0, 0, 0] = -np.inf
    model = SecondOrderModel(ChainModel(np.zeros((2, 2))), triples)
    emissions = np.array([[0, -np.inf]] * 3 + [[0, 0]], dtype=np.float32)
    with pytest.raises(InfeasibleError, match="token 2 of 4"):
        decoder.decode(model, emissions)
    with pytest.raises(InfeasibleError, match=r"sentence 1: .* token 2 of 3"):
        decoder.decode_batch(model, np.concatenate([emissions[:2], emissions[:3]]), [2, 3])


@each
def test_refuses_scores_that_are_none(decoder):
    model = SecondOrderModel(ChainModel(np.zeros((20, 20))), np.zeros((20, 20, 20)))
    for poison in (np.nan, -np.nan, np.inf):
        for place in ((0, 0), (2, 17), (3, 19)):
            emissions = np.zeros((4, 20), dtype=np.float32)
            emissions[place] = poison
            with pytest.raises(
                ProblemError, match=rf"emissions: .*index \({place[0]}, {place[1]}"
            ):
                decoder.decode(model, emissions)
    with pytest.raises(ProblemError, match=r"emissions: the score 3e\+38 .* too large"):
        decoder.decode(SecondOrderModel(ChainModel([[0]]), [[[0]]]), [[3e38]])


@each
def test_refuses_what_does_not_fit(decoder):
    model = SecondOrderModel(ChainModel(np.zeros((3, 3))), np.zeros((3, 3, 3)))
    with pytest.raises(ProblemError, match="emissions: expected shape"):
        decoder.decode(model, np.zeros((2, 4), dtype=np.float32))
    with pytest.raises(ProblemError, match="lengths: they must add up"):
        decoder.decode_batch(model, np.zeros((4, 3)), [1, 2])


@each
def test_leaves_its_input_alone_and_pickles(decoder):
    model, emissions = large_second_order(0, 20, [12])
    before = emissions.copy()
    solution = decoder.decode(model, emissions)
    assert np.array_equal(before, emissions) and emissions.flags.writeable
    again, model_again = pickle.loads(pickle.dumps((decoder, model)))
    assert again == decoder
    assert np.array_equal(again.decode(model_again, emissions).labels, solution.labels)


@each
def test_takes_any_layout_and_dtype(decoder):
    model, emissions = large_second_order(0, 20, [12])
    labels = decoder.decode(model, emissions).labels
    for variant in (np.asfortranarray(emissions), emissions.astype(float), emissions.tolist()):
        assert np.array_equal(decoder.decode(model, variant).labels, labels)


def test_scores_as_the_definition_says(rng):
    for model, emissions in random_second_order(80, seed=6):
        labels = rng.integers(0, model.size, len(emissions))
        chain = model.chain
        links = (chain.transitions, chain.start, chain.end, model.triples)
        expected = second_order_chain_score(*links, emissions, labels)
        assert model.score(emissions, labels) == pytest.approx(expected, rel=1e-12)


def test_refuses_what_is_no_model():
    chain = ChainModel(np.zeros((2, 2)))
    with pytest.raises(ProblemError, match="chain: expected a ChainModel"):
        SecondOrderModel(np.zeros((2, 2)), np.zeros((2, 2, 2)))
    with pytest.raises(ProblemError, match=r"triples: expected shape \(2, 2, 2\)"):
        SecondOrderModel(chain, np.zeros((2, 2)))
    for poison in (np.nan, np.inf):
        triples = np.zeros((2, 2, 2))
        triples[1, 0, 1] = poison
        with pytest.raises(ProblemError, match=r"triples: .*index \(1, 0, 1\)"):
            SecondOrderModel(chain, triples)
    with pytest.raises(ProblemError, match=r"triples: the score 3e\+38 at \[0, 0, 0\]"):
        SecondOrderModel(ChainModel([[0]]), [[[3e38]]])
    wide = ChainModel(np.zeros((513, 513)))
    with pytest.raises(ProblemError, match="chain: 513 labels have 135,005,697 triples"):
        SecondOrderModel(wide, np.zeros((1, 1, 1)))


def test_does_not_change_with_the_callers_array():
    triples = np.zeros((2, 2, 2), dtype=np.float32)
    model = SecondOrderModel(ChainModel(np.zeros((2, 2))), triples)
    triples[:] = 7
    assert not model.triples.any()
    with pytest.raises(ValueError, match="read-only"):
        model.triples[0, 0, 0] = 1
