"""What a batch gives back, options that are no numbers, and labels of a few kinds."""

import pickle

import numpy as np
import pytest

from spacy_decoders.decoders.chain import (
    Beam,
    ChainModel,
    ChainSolution,
    ColumnGeneration,
    ForwardDominance,
    Viterbi,
    k_best,
    max_marginal_margins,
)
from spacy_decoders.errors import ProblemError


def test_a_batch_is_a_list() -> None:
    model = ChainModel([[1, 0], [0, 1]])

    def batch() -> list[ChainSolution]:
        return ForwardDominance().decode_batch(model, [[3, 0], [0, 1.5], [0, 2]], [2, 1])

    solutions = batch()
    assert isinstance(solutions, list) and len(solutions) == 2
    assert [s.certificate.score for s in solutions] == [4.5, 2.0]
    assert solutions[-1].labels.tolist() == [1]
    nothing: list = [None]
    assert len(batch() + nothing) == len(nothing + batch()) == 3
    assert list(solutions) == solutions == solutions[:]
    assert type(pickle.loads(pickle.dumps(solutions))) is list
    last = solutions.pop()
    assert last.labels.tolist() == [1] and len(solutions) == 1
    solutions.append(last)
    assert solutions.index(last) == 1 and solutions[::-1][0] is last


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("k", lambda model, emissions: k_best(model, emissions, 1.5)),
        ("k", lambda model, emissions: k_best(model, emissions, "2")),
        ("cap", lambda model, emissions: max_marginal_margins(model, emissions, cap="3")),
        ("gap", lambda model, emissions: ColumnGeneration(gap=None)),
        ("width", lambda model, emissions: Beam(2.0)),
    ],
)
def test_options_that_are_no_numbers_are_named(name: str, call) -> None:
    with pytest.raises(ProblemError, match=f"^{name}: "):
        call(ChainModel([[1, 0], [0, 1]]), [[3, 0], [0, 1.5]])


@pytest.mark.parametrize("strength", [0.3, 1.0, 5.0])
def test_labels_of_a_few_kinds(strength: float) -> None:
    # label t * 6 + p is outside for t = 0, begins entity t for odd t, and is inside it for even t
    rng = np.random.default_rng(7)
    names = np.arange(13 * 6) // 6
    transitions = rng.integers(-3, 4, (78, 78)).astype(np.float32)
    inside = (names % 2 == 0) & (names > 0)
    follows = (names[None] == names[:, None]) | (names[None] == names[:, None] + 1)
    transitions[:, inside] = np.where(follows, transitions, -np.inf)[:, inside]
    model = ChainModel(transitions, start=np.where(inside, -np.inf, 0))
    lengths = rng.integers(1, 25, 30)
    emissions = np.rint(strength * rng.normal(size=(lengths.sum(), 78))).astype(np.float32)
    pruned = ForwardDominance().decode_batch(model, emissions, lengths)
    for ours, best in zip(pruned, Viterbi().decode_batch(model, emissions, lengths), strict=True):
        assert ours.certificate.status == "optimal"
        assert ours.certificate.score == best.certificate.score
