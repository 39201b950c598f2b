"""Branch and bound, and solvers, that are at fault: nothing wrong may be called optimal."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_decoders.decoders.programs import LinearProgram, SolverError
from spacy_decoders.decoders.tree import BranchAndBound, PriceAndCut, TreeProblem, score_tree
from spacy_decoders.decoders.tree.branch_and_bound import search
from spacy_decoders.decoders.tree.branch_and_bound.kernels import node as bounding
from spacy_decoders.decoders.tree.branch_and_bound.kernels.records import NodeFound
from spacy_decoders.decoders.tree.published import price_and_cut
from spacy_decoders.errors import DecodersError, InfeasibleError, UndecidedError
from tests.decoders.tree.faults import never_wrong, no_wrong_rank, problem_of, tamper, worse_heads
from tests.decoders.tree.samples import random_factors
from tests.decoders.tree.truth import truth_of


def tampered_work(kind, real, scores, multipliers, pool, mask, *rest):
    found = real(scores, multipliers, pool, mask, *rest)
    if kind == "tree":
        arcs = TreeProblem(scores.arcs, single_root=rest[0].single_root)
        pool.heads[0, 1:] = worse_heads(arcs)
    elif kind == "score" and pool.scores[0] > -np.inf:  # which a node without trees has not
        arcs = TreeProblem(scores.arcs, single_root=rest[0].single_root)
        pool.heads[0, 1:] = worse_heads(arcs)
        pool.scores[0] += 1.0
    elif kind == "done":
        found = found._replace(head=-1, modifier=-1)
    elif kind == "twice":
        pool.heads[1:], pool.scores[1:] = pool.heads[0], pool.scores[0]
        pool.heads[:, 0] = np.arange(len(pool.heads))  # which is not read
    elif kind == "no number":
        pool.scores[0] = np.nan
    elif kind == "multipliers":
        for values in multipliers[:4]:
            values[:] = np.nan
    elif kind == "cycle":
        pool.heads[0, 1:] = np.roll(np.arange(1, len(mask)), 1)
    return found


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["tree", "score", "done", "cycle", "no number", "multipliers"])
def test_branch_and_bound(monkeypatch, kind, projective):
    tamper(monkeypatch, bounding, "solve_node", tampered_work, kind)
    met = set()
    for seed in range(20):
        problem = problem_of(seed, second=True, siblings=True, projective=projective)
        met.add(never_wrong(BranchAndBound(), problem))
    if kind == "multipliers":
        return  # which may be good enough by then
    assert met == {"right"} if kind == "done" else met & {"error", "not optimal"}


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["tree", "score", "twice", "no number"])
def test_the_best_trees_of_branch_and_bound(monkeypatch, kind, projective):
    tamper(monkeypatch, bounding, "solve_node", tampered_work, kind)
    for seed in range(20):
        no_wrong_rank(
            BranchAndBound(), problem_of(seed, second=True, siblings=True, projective=projective)
        )


def lies_about_the_bound(problem, prunes):
    """A search that offers a wrong tree and says that no other is better, nor in pruned arcs."""
    heads = worse_heads(problem)
    worth = score_tree(problem, heads)

    def work(scores, multipliers, pool, mask, *rest):
        pool.heads[0, 1:] = heads
        pool.scores[0] = worth
        if prunes:
            mask[:] = 0
            mask[heads, np.arange(1, len(mask))] = 1
        return NodeFound(1, -1, -1)

    return work


@pytest.mark.parametrize("prunes", [True, False])
@pytest.mark.parametrize("backbone", ["auto", "first-order"])
@pytest.mark.parametrize("sentences", [False, True])
@pytest.mark.parametrize("projective", [True, False])
def test_the_incumbents_own_score_is_no_bound(
    monkeypatch, projective, sentences, backbone, prunes
):
    monkeypatch.setattr(search, "MOST_DISPUTES", 2)
    if sentences and not projective:
        return  # each sentence is a problem of its own
    wrong = 0
    for seed in range(20):
        problem = problem_of(
            seed, second=True, siblings=True, projective=projective, sentences=sentences
        )
        factors = random_factors(np.random.default_rng(seed), problem.n)
        problem = replace(problem, factors=factors)
        truth = truth_of(problem)
        monkeypatch.setattr(bounding, "solve_node", lies_about_the_bound(problem, prunes))
        try:
            certificate = BranchAndBound(backbone).decode(problem).certificate
        except InfeasibleError:
            assert not truth.parts
            continue
        except DecodersError:
            continue
        best = float(truth.best)
        assert certificate.bound is None or certificate.bound >= best - 1e-6
        if certificate.score < best - 1e-6:
            wrong += 1
            assert not certificate.is_optimal
    assert wrong > 5


# --- solvers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("pruning", [True, False])
def test_a_solver_that_says_infeasible(monkeypatch, projective, pruning):
    def lie(self, clock=None):
        raise InfeasibleError("No point satisfies all rows of the program.")

    monkeypatch.setattr(LinearProgram, "relax", lie)
    for seed in range(20):
        problem = problem_of(seed, projective=projective, second=True)
        assert never_wrong(PriceAndCut(pruning=pruning), problem) == "right"


@pytest.mark.parametrize("pruning", [True, False])
def test_a_solver_that_gives_up_leaves_a_tree_and_a_bound(monkeypatch, pruning):
    def give_up(self, clock=None):
        raise SolverError("HIGHS did not solve the program (Solve error).")

    monkeypatch.setattr(LinearProgram, "relax", give_up)
    for seed in range(20):
        problem = problem_of(seed, projective=seed % 2 == 0, second=True)
        assert never_wrong(PriceAndCut(pruning=pruning), problem) != "error"
        certificate = PriceAndCut(pruning=pruning).decode(problem).certificate
        best = BranchAndBound().decode(problem).certificate.score
        assert certificate.bound >= best - certificate.tolerance
    monkeypatch.setattr(price_and_cut.BranchAndPrice, "_offer", lambda *_: None)
    with pytest.raises(UndecidedError, match=r"HIGHS did not solve .*; use BranchAndBound"):
        PriceAndCut(pruning=pruning).decode(problem)


@pytest.mark.parametrize("pruning", [True, False])
def test_a_solver_with_wrong_duals(monkeypatch, pruning):
    real = LinearProgram.relax

    def solve(self, clock=None):
        found = real(self, clock)
        return replace(found, duals=found.duals + 1.0)

    monkeypatch.setattr(LinearProgram, "relax", solve)
    for seed in range(5):
        problem = problem_of(seed, projective=False, second=True)
        never_wrong(PriceAndCut(pruning=pruning), problem)


def test_price_and_cut_with_a_wrong_tree_or_bound(monkeypatch):
    real = price_and_cut.BranchAndPrice.run
    problem = problem_of(2, projective=False, second=True)
    wrong = {"heads": np.concatenate([[-1], worse_heads(problem)])}
    monkeypatch.setattr(
        price_and_cut.BranchAndPrice, "run", lambda self: replace(real(self), **wrong)
    )
    assert never_wrong(PriceAndCut(), problem) == "not optimal"
    wrong = {"bound": -99.0}
    assert not PriceAndCut().decode(problem).certificate.is_optimal
