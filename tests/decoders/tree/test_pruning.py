import numpy as np
import pytest

from spacy_decoders import InfeasibleError
from spacy_decoders.decoders import tree
from tests.decoders.draws import KINDS, drawn


@pytest.mark.parametrize("projective", [True, False])
def test_keeps_the_best_heads_and_a_tree(rng, projective):
    decoder = tree.Eisner() if projective else tree.ChuLiuEdmonds()
    for _ in range(50):
        n = int(rng.integers(1, 9))
        arcs = drawn(rng, str(rng.choice(KINDS)), (n + 1, n + 1))
        problem = tree.TreeProblem(arcs, projective=projective)
        try:
            best = decoder.decode(problem)
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                tree.prune(problem, 2)
            continue
        for k in (1, 2, 20):
            smaller = tree.prune(problem, k)
            kept = smaller.allowed[:, 1:].sum(axis=0)
            candidates = problem.allowed[:, 1:].sum(axis=0)
            assert (kept >= np.minimum(k, candidates)).all() and (kept <= k + 1).all()
            for m in range(1, n + 1):  # nothing that is left out beats the k-th that is kept
                out = problem.arcs[problem.allowed[:, m] & ~smaller.allowed[:, m], m]
                inside = np.sort(problem.arcs[smaller.allowed[:, m], m])[::-1]
                assert not out.size or out.max() <= inside[: min(k, len(inside))].min()
            assert smaller.scope == ("full" if (kept == candidates).all() else "pruned")
            again = decoder.decode(smaller)
            assert again.certificate.score == best.certificate.score
            assert again.certificate.scope == smaller.scope


@pytest.mark.parametrize("projective", [True, False])
def test_a_beam_keeps_what_is_near_the_best_tree(rng, projective):
    for _ in range(50):
        n = int(rng.integers(1, 6))
        arcs = drawn(rng, str(rng.choice(KINDS)), (n + 1, n + 1))
        problem = tree.TreeProblem(arcs, projective=projective)
        try:
            worth = tree.max_marginals(problem)
            smaller = tree.prune(problem, beam=1.0)
        except InfeasibleError:
            continue
        expected = problem.allowed & (worth >= worth.max() - 1.0)
        assert (smaller.allowed >= expected).all()  # no more than a bound if arcs may cross
        assert not projective or (smaller.allowed == expected).all()
        assert smaller.scope == (
            "full" if smaller.allowed.sum() == problem.allowed.sum() else "pruned"
        )
        both = tree.prune(problem, 2, beam=1.0).allowed
        assert (both <= tree.prune(problem, 2).allowed).all()
        decoder = tree.Eisner() if projective else tree.ChuLiuEdmonds()
        best = decoder.decode(problem).certificate.score
        assert decoder.decode(tree.prune(problem, 2, beam=0.0)).certificate.score == best


@pytest.mark.parametrize("projective", [True, False])
def test_labels_boundaries_and_rules_are_seen(projective):
    rng = np.random.default_rng(8)
    for _ in range(20):
        problem = tree.TreeProblem(
            rng.normal(size=(6, 6)),
            labels=2 * rng.normal(size=(6, 6, 3)),
            boundaries=rng.normal(size=5),
            rules=[tree.AtMost([0]), tree.AtMost([1]), tree.FixedArc(4, 5)],
            projective=projective,
        )
        for smaller in (tree.prune(problem, 1), tree.prune(problem, beam=0.0)):
            assert smaller.scope == "pruned" and smaller.rules == problem.rules
            found = tree.k_best(smaller, 1)[0]
            best = tree.k_best(problem, 1)[0]
            assert found.certificate.score == pytest.approx(best.certificate.score)
