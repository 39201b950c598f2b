"""Forward dominance where transitions are forbidden: BIO, and any pattern."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
    Viterbi,
    k_best,
    max_marginal_margins,
)
from spacy_decoders.errors import InfeasibleError

from .cases import margins_of, max_marginals, ranked


def bio(tags: int, types: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which labels tag x {O, B, I} x type may not begin, and not follow one another."""
    labels = [(part, kind) for _ in range(tags) for part in "OBI" for kind in range(types)]
    inside = np.array([part == "I" for part, _ in labels])
    same = np.array([[a == b for _, b in labels] for _, a in labels])
    within = np.array([part in "BI" for part, _ in labels])
    return inside, inside & ~(same & within[:, None])


def problem(
    rng: np.random.Generator, inside: np.ndarray, forbidden: np.ndarray, n: int
) -> tuple[ChainModel, np.ndarray]:
    """Return scores that peak more or less, half of them whole numbers full of ties."""
    size = len(inside)
    scale = 10.0 ** rng.uniform(-2, 3)

    def scores(*shape):
        if whole:
            return rng.integers(-2, 3, shape).astype(np.float32)
        return (scale * rng.normal(size=shape)).astype(np.float32)

    whole = rng.random() < 0.5
    transitions, start, end = scores(size, size), scores(size), scores(size)
    emissions = scores(n, size) * np.float32(rng.choice([0.3, 1.0, 4.0, 8.0]))
    emissions[rng.random(emissions.shape) < rng.choice([0.0, 0.15])] = -np.inf
    transitions[forbidden], start[inside] = -np.inf, -np.inf
    return ChainModel(transitions, start, end), emissions


def small_problems(count):
    rng = np.random.default_rng(5)
    for trial in range(count):
        inside, forbidden = bio(1 + trial % 2, 1 + trial // 2 % 2)
        if trial % 3 == 0:
            size = int(rng.integers(2, 7))
            inside = rng.random(size) < 0.3
            forbidden = rng.random((size, size)) < rng.choice([0.1, 0.5, 0.8])
        n = int(rng.integers(1, 5 if len(inside) > 6 else 7))
        yield problem(rng, inside, forbidden, n)


def test_agrees_with_brute_force():
    feasible = 0
    for model, emissions in small_problems(150):
        every = ranked(model, emissions)
        if not every:
            with pytest.raises(InfeasibleError):
                ForwardDominance().decode(model, emissions)
            continue
        feasible += 1
        certificate = ForwardDominance().decode(model, emissions).certificate
        assert certificate.status == "optimal"
        assert certificate.score >= every[0][0] - certificate.tolerance
        found = [solution.certificate.score for solution in k_best(model, emissions, 4)]
        assert found == pytest.approx([worth for worth, _ in every[:4]], rel=1e-9, abs=1e-9)
    assert feasible > 100


def larger_problems(count):
    rng = np.random.default_rng(6)
    for trial in range(count):
        inside, forbidden = bio(int(rng.integers(1, 12)), int(rng.integers(1, 9)))
        if trial % 3 == 0:
            size = int(rng.integers(30, 200))
            inside = rng.random(size) < 0.2
            forbidden = rng.random((size, size)) < rng.choice([0.02, 0.5, 0.9])
        yield problem(rng, inside, forbidden, int(rng.integers(5, 30)))


def test_agrees_with_dense_decoding():
    for model, emissions in larger_problems(60):
        dense = Viterbi().decode(model, emissions)
        pruned = ForwardDominance().decode(model, emissions)
        tolerance = max(pruned.certificate.tolerance, dense.certificate.tolerance)
        assert abs(pruned.certificate.score - dense.certificate.score) <= tolerance
        assert pruned.certificate.bound >= dense.certificate.score


def test_margins_agree_with_messages_from_both_ends():
    for model, emissions in larger_problems(40):
        size = np.abs(max_marginals(model, emissions)[0].max())
        links = model.transitions[np.isfinite(model.transitions)]
        size += len(emissions) * np.abs(links).max(initial=0.0)
        margins = max_marginal_margins(model, emissions)
        wanted = margins_of(model, emissions)
        assert margins == pytest.approx(wanted, rel=1e-5, abs=1e-5 * size)


def test_golden_example():
    # O, B-x, I-x, B-y, I-y: token by token B-x, I-y is worth 5, but is illegal
    model = ChainModel(
        np.where(bio_of_two_types(), -np.inf, 0.0), start=[0, 0, -np.inf, 0, -np.inf]
    )
    emissions = [[0, 2, 0, 1, 0], [0, 0, 1.5, 0, 3], [1, 0, 0, 0, 0.5]]
    # by hand: B-y I-y O = 1 + 3 + 1 = 5; the best that begins with B-x is 2 + 1.5 + 1 = 4.5
    solution = ForwardDominance().decode(model, emissions)
    assert solution.labels.tolist() == [3, 4, 0]
    assert solution.certificate.score == 5.0
    second = k_best(model, emissions, 2)[1]
    # and as good: B-y I-y I-y = 1 + 3 + 0.5
    assert second.labels.tolist() in ([1, 2, 0], [3, 4, 4])
    assert second.certificate.score == 4.5


def bio_of_two_types():
    forbidden = np.zeros((5, 5), dtype=bool)
    forbidden[[0, 3, 4], 2] = True
    forbidden[[0, 1, 2], 4] = True
    return forbidden


def test_no_reference_path_but_a_legal_one():
    # the best six labels of the first token lead nowhere
    size = 20
    transitions = np.full((size, size), -np.inf)
    transitions[19, 19] = 0.0
    emissions = np.zeros((3, size), dtype=np.float32)
    emissions[0, :19] = 10.0
    model = ChainModel(transitions)
    assert ForwardDominance().decode(model, emissions).labels.tolist() == [19, 19, 19]
    (only,) = k_best(model, emissions, 3)
    assert only.labels.tolist() == [19, 19, 19]
    assert np.isposinf(max_marginal_margins(model, emissions)).all()
