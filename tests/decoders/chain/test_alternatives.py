"""What comes after the best labelling: the k best, and margins."""

from itertools import pairwise

import numpy as np
import pytest

from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
    k_best,
    max_marginal_margins,
)
from spacy_decoders.errors import InfeasibleError, ProblemError

from .cases import large_problem, random_problems, ranked


@pytest.mark.parametrize("k", [1, 2, 7, 5000])
def test_k_best_agrees_with_brute_force(k):
    for model, emissions in random_problems(240, seed=k):
        every = ranked(model, emissions)
        if not every:
            with pytest.raises(InfeasibleError):
                k_best(model, emissions, k)
            continue
        found = k_best(model, emissions, k)
        assert len(found) == min(k, len(every))
        assert len({tuple(solution.labels) for solution in found}) == len(found)
        best = every[0][0]
        for solution, (score, _) in zip(found, every, strict=False):
            certificate = solution.certificate
            assert certificate.score == pytest.approx(score, rel=1e-9, abs=1e-9)
            assert certificate.score == model.score(emissions, solution.labels)
            assert certificate.bound >= best - certificate.tolerance
            assert certificate.is_optimal == (certificate.gap <= certificate.tolerance)
        assert found[0].certificate.is_optimal


def test_k_best_golden_example():
    # transitions reward staying: 0 0 = 3+1, 0 1 = 3+1.5, 1 1 = 0+1+1.5, 1 0 = 0
    model = ChainModel([[1, 0], [0, 1]])
    found = k_best(model, [[3, 0], [0, 1.5]], 9)
    assert [solution.labels.tolist() for solution in found] == [[0, 1], [0, 0], [1, 1], [1, 0]]
    assert [solution.certificate.score for solution in found] == [4.5, 4.0, 2.5, 0.0]
    assert [s.certificate.gap for s in found] == pytest.approx([0.0, 0.5, 2.0, 4.5])


@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_k_best_on_larger_problems_follows_its_own_prefix(forbidden):
    model, emissions = large_problem(5, 60, [30], forbidden=forbidden)
    many = [tuple(solution.labels) for solution in k_best(model, emissions, 40)]
    few = [tuple(solution.labels) for solution in k_best(model, emissions, 10)]
    assert few == many[:10]
    assert many[0] == tuple(ForwardDominance().decode(model, emissions).labels)


def test_k_best_of_nothing_and_of_nonsense():
    model = ChainModel(np.zeros((2, 2)))
    (only,) = k_best(model, np.zeros((0, 2)), 3)
    assert only.labels.shape == (0,) and only.certificate.is_optimal
    with pytest.raises(ProblemError, match="k: expected a whole number"):
        k_best(model, np.zeros((1, 2)), 0)
    with pytest.raises(ProblemError, match=r"emissions: .*index \(0, 1\)"):
        k_best(model, np.array([[0, np.nan]], dtype=np.float32), 2)


def expected_margins(every, n):
    best, labels = every[0]
    return [
        best - max((score for score, other in every if other[i] != labels[i]), default=-np.inf)
        for i in range(n)
    ]


@pytest.mark.parametrize("cap", [np.inf, 2.0])
def test_margins_agree_with_brute_force(cap):
    for model, emissions in random_problems(320, seed=2):
        every = ranked(model, emissions)
        if not every:
            with pytest.raises(InfeasibleError):
                max_marginal_margins(model, emissions, cap=cap)
            continue
        margins = max_marginal_margins(model, emissions, cap=cap)
        assert margins.dtype == np.float32 and margins.shape == (len(emissions),)
        finite = emissions[np.isfinite(emissions)]
        slack = 1e-5 * (np.abs(finite).max(initial=0) + model.bounds.magnitude)
        wanted = np.minimum(expected_margins(every, len(emissions)), cap)
        assert np.allclose(margins, wanted, rtol=1e-5, atol=slack)


def dense_margins(model, emissions):
    transitions = model.transitions.astype(float)
    n = len(emissions)
    ahead = [model.start_scores + emissions[0].astype(float)]
    behind = [model.end_scores.astype(float)]
    for row in emissions[1:]:
        ahead.append((ahead[-1][:, None] + transitions).max(axis=0) + row)
    for row in emissions[:0:-1]:
        behind.append((transitions + row + behind[-1]).max(axis=1))
    marginals = np.sort([ahead[i] + behind[n - 1 - i] for i in range(n)], axis=1)
    return marginals[:, -1] - marginals[:, -2]


@pytest.mark.parametrize("cap", [np.inf, 3.0])
@pytest.mark.parametrize(("forbidden", "peaked"), [(0.0, 9.0), (0.0, 0.5), (0.3, 3.0)])
def test_margins_of_a_batch(cap, forbidden, peaked):
    lengths = [9, 0, 1, 30, 4]
    model, emissions = large_problem(7, 50, lengths, peaked=peaked, forbidden=forbidden)
    margins = max_marginal_margins(model, emissions, lengths, cap=cap)
    starts = np.cumsum([0, *lengths])
    wanted = [dense_margins(model, emissions[a:b]) for a, b in pairwise(starts) if b > a]
    assert np.allclose(margins, np.minimum(np.concatenate(wanted), cap), atol=1e-3)


def test_margins_where_there_is_no_choice():
    never = -np.inf
    model = ChainModel([[0, 1], [1, 0]])
    assert np.isinf(max_marginal_margins(model, [[0, never], [never, 5]])).all()
    assert max_marginal_margins(model, [[0, never], [3, 5]]).tolist() == [np.inf, 3.0]
    assert max_marginal_margins(model, np.zeros((0, 2))).shape == (0,)
    with pytest.raises(ProblemError, match="cap"):
        max_marginal_margins(model, np.zeros((1, 2)), cap=0)
