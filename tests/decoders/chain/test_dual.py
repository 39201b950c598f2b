"""The judge of chain decoders: tables that hold, bounds from any labelling, lattices that keep."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel, ForwardDominance
from spacy_decoders.decoders.chain.kernels import dual, tables
from spacy_decoders.decoders.chain.problem import Sentences

from .cases import large_problem, random_problems, ranked
from .judge import ONE, Chain, Judge


def bound_from(labels, model, sentences):
    """What labels prove that no labelling of the first sentence is worth more than."""
    given = sentences.emissions.reshape(-1), sentences.offsets, model.size
    return dual.bounds(model.reversed_links, *given, np.array(labels, dtype=np.int32))[0]


def test_any_labelling_leads_to_a_bound():
    rng = np.random.default_rng(2)
    checked = close = 0
    for model, emissions in random_problems(240, seed=9):
        every = ranked(model, emissions)
        if not every:
            continue
        sentences = Sentences.of(model, emissions)
        for _ in range(4):
            score, labels = every[rng.integers(len(every))]
            bound = bound_from(labels, model, sentences)
            assert bound >= every[0][0]
            checked += 1
            # above the best only by what float64 rounds, whatever the labelling given
            close += bound <= every[0][0] + 1e-9 * (1 + abs(every[0][0]) + abs(score))
    assert checked > 500 and close == checked


def test_labels_that_are_none_prove_nothing_and_illegal_labellings_nothing_wrong():
    model = ChainModel([[0, -np.inf], [0, 0]])
    sentence = Sentences.of(model, [[1, 0], [0, 1]])
    for labels, proven in (([0, 1], 1.0), ([0, 2], np.inf), ([-1, 0], np.inf)):
        assert bound_from(labels, model, sentence) >= proven


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
@pytest.mark.parametrize("size", [5, 64, 130])
@pytest.mark.parametrize("slack", [0.5, 6.0])
def test_a_lattice_keeps_every_label_within_its_slack(size, forbidden, slack):
    model, emissions = large_problem(size, size, [12], peaked=4.0, forbidden=forbidden)
    judge = Judge(Chain(model.transitions, model.start, model.end, emissions))
    through = np.array([[float(one.score) / ONE for one in row] for row in judge.with_label])
    labels = through.argmax(axis=1).astype(np.int32)
    sentence = Sentences.of(model, emissions)
    lattice = tables.lattice_for(12, size)
    status, _ = dual.bound(
        model.links, sentence.emissions.reshape(-1), 0, dual.FORTH, 12, size, labels, slack, 2.0,
        lattice,
    )  # fmt: skip
    assert status == dual.PROVEN
    dropped = 0
    for i in range(12):
        kept = set(lattice.names[lattice.marks[i + 1] : lattice.marks[i + 2]].tolist())
        wanted = set(np.flatnonzero(through[i] >= through.max() - slack).tolist())
        assert wanted <= kept
        dropped += size - len(kept)
    assert dropped > 0


@pytest.mark.parametrize("size", [31, 32, 48, 64, 65, 128])
def test_the_search_alone_finds_the_best(size):
    # the proof would hide a search that misses, at the cost of decoding twice
    rng = np.random.default_rng(size)
    model = ChainModel(rng.normal(size=(size, size)), end=rng.normal(size=size))
    lengths = [3] * 40
    emissions = 3.0 * rng.normal(size=(sum(lengths), size)).astype(np.float32)
    sentences = Sentences.of(model, emissions, lengths)
    found = ForwardDominance()._search(model, sentences)
    best = ForwardDominance().solve(model, sentences)
    assert sentences.scores_of(model, found)[:, 0] == pytest.approx(best.scores, abs=1e-4)
