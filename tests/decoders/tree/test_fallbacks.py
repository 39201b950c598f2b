"""Where time is short: a clock that counts how often it is read."""

import numpy as np
import pytest

from spacy_decoders.budget import Budget, Clock
from spacy_decoders.decoders import tree
from spacy_decoders.decoders.tree import eisner, second_order, sentences
from spacy_decoders.decoders.tree.kernels import proofs, second_order_proof
from spacy_decoders.errors import InfeasibleError

SECONDS = (0.5, 1.5, 3.5, 6.5, 12.5, 1e6)


@pytest.fixture
def ticking(monkeypatch, ticks):
    """Every problem lacks time."""
    monkeypatch.setattr(eisner, "STEP", 1e9)
    monkeypatch.setattr(second_order, "STEP", 1e9)


def drawn(rng, n, *, projective, forbidden=0.0, single_root=True):
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[rng.random(arcs.shape) < forbidden] = -np.inf
    return tree.TreeProblem(arcs, projective=projective, single_root=single_root)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.5])
def test_a_projective_tree_in_time_is_legal_and_its_bound_true(forbidden, single_root, ticking):
    rng = np.random.default_rng(7)
    ends = set()
    for _ in range(40):
        problem = drawn(rng, 7, projective=True, forbidden=forbidden, single_root=single_root)
        for seconds in SECONDS:
            try:
                best = tree.Eisner().decode(problem).certificate.score
            except InfeasibleError:
                with pytest.raises(InfeasibleError):
                    tree.Eisner().decode(problem, budget=Budget(seconds=seconds))
                continue
            found = tree.Eisner().decode(problem, budget=Budget(seconds=seconds))
            certificate = found.certificate
            assert tree.score_tree(problem, found.heads) == pytest.approx(certificate.score)
            assert certificate.bound >= best - 1e-9
            assert certificate.status in ("optimal", "bounded")
            if certificate.is_optimal:
                assert certificate.score == pytest.approx(best)
            ends.add(certificate.status)
    assert "bounded" in ends


def test_blocks_of_tokens_are_a_tree_when_the_time_ends(ticking, rng):
    problem = drawn(rng, 150, projective=True)
    best = tree.Eisner().decode(problem).certificate.score
    found = tree.Eisner().decode(problem, budget=Budget(seconds=1.5))
    assert found.certificate.status == "bounded"
    assert found.certificate.score <= best <= found.certificate.bound


@pytest.mark.parametrize("siblings", [True, False])
@pytest.mark.parametrize("grandparents", ["all", "outermost"])
def test_blocks_are_bounded_with_grandparents_and_siblings(grandparents, siblings, ticking, rng):
    decoder, cubes = tree.SecondOrder(grandparents), 2 + siblings
    for size in (4, 6, 8) * 10:
        scores = [2 * rng.normal(size=(size,) * axes) for axes in (2, 3, 3)[:cubes]]
        # a pair that is not adjacent costs nothing here, and the inner grandparents do not count
        scores[1:] = [np.where(rng.random(one.shape) < 0.3, -20.0, one) for one in scores[1:]]
        problem = tree.TreeProblem(*scores)
        best = decoder.decode(problem).certificate.score
        found = decoder.decode(problem, budget=Budget(seconds=1.5))
        certificate = found.certificate
        assert certificate.score == pytest.approx(
            tree.second_order_score(problem, found.heads, grandparents)
        )
        assert certificate.score <= best + 1e-9 and best - 1e-9 <= certificate.bound


@pytest.mark.parametrize("second", [True, False])
def test_no_chart_is_begun_that_there_is_no_time_for(second, ticking, rng, monkeypatch):
    problem = tree.TreeProblem(
        rng.normal(size=(8, 8)), rng.normal(size=(8, 8, 8)) if second else None
    )
    best, *others = tree.k_best(problem, 2)
    assert others
    monkeypatch.setattr(second_order_proof if second else proofs, "chart_bound", None)
    (found,) = tree.k_best(problem, 2, budget=Budget(seconds=2.5))
    assert found.rank_bound >= best.certificate.score
    for found in (
        tree.max_marginals(problem, budget=Budget(seconds=1.5)),
        tree.head_margins(problem, best.heads, budget=Budget(seconds=1.5)),
    ):
        assert np.isnan(found).all()


@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("n", [3, 90])
def test_stretches_are_laid_out_while_there_is_time(factors, n, ticking, rng, monkeypatch):
    extend, laid_out = sentences._extend, []
    monkeypatch.setattr(
        sentences, "_extend", lambda *given: (laid_out.append(given[1]), extend(*given))
    )
    problem = tree.TreeProblem(
        rng.normal(size=(n + 1, n + 1)),
        factors=tree.Factors.of([([(0, 1), (1, 2)], 5.0), ([(2, 3)], 1.0)]) if factors else None,
        boundaries=rng.normal(size=n),
        projective=False,
    )
    best = tree.BranchAndBound().decode(problem)
    assert len(laid_out) == n
    laid_out.clear()
    found = tree.BranchAndBound().decode(problem, budget=Budget(seconds=2.5))
    assert len(laid_out) < 3
    certificate = found.certificate
    assert tree.score_tree(problem, found.heads) == pytest.approx(certificate.score)
    assert certificate.score <= best.certificate.score + 1e-9
    assert certificate.bound >= best.certificate.bound - 1e-9


@pytest.mark.parametrize("decoder", [tree.Eisner(), tree.SecondOrder(), tree.ChuLiuEdmonds()])
def test_what_a_ranking_has_no_time_for_is_bounded(decoder, ticks, rng, monkeypatch):
    problem = drawn(rng, 4, projective=decoder != tree.ChuLiuEdmonds())
    every = [one.certificate.score for one in decoder.k_best(problem, 200)]
    others_of, lengths = type(decoder)._best_without, set()

    def others(self, part, best, clock):
        assert not Clock(Budget(clock.budget.seconds + 1), clock.started).exhausted()
        return others_of(self, part, best, clock)

    monkeypatch.setattr(type(decoder), "_best_without", others)
    for seconds in range(60):
        found = decoder.k_best(problem, 8, budget=Budget(seconds=seconds + 0.5))
        known = [one.certificate.score for one in found]
        for place, one in enumerate(found, start=1):
            rest = max(score for score in every if score not in known[:place])
            assert one.rank_bound >= rest - 1e-9
        lengths.add(len(found))
    assert len(lengths) > 3
