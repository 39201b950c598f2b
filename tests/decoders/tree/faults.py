"""What tests of faults share: problems, wrong results, and what must not come of them."""

import numpy as np

from spacy_decoders.arrays import read_only
from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.errors import DecodersError, InfeasibleError
from tests.decoders.tree.samples import trees
from tests.decoders.tree.truth import exact, judge, truth_of


def problem_of(
    seed, *, projective=True, single_root=True, second=False, siblings=False, n=4, sentences=False
):
    rng = np.random.default_rng(seed)
    return TreeProblem(
        3 * rng.normal(size=(n + 1, n + 1)),
        rng.normal(size=(n + 1,) * 3) if second else None,
        rng.normal(size=(n + 1,) * 3) if siblings else None,
        projective=projective,
        single_root=single_root,
        boundaries=2 * rng.normal(size=n) if sentences else None,
    )


def worse_heads(problem):
    """Another legal tree, worth less by its arcs."""
    others = trees(problem.n, problem.projective, problem.has_one_root)
    tokens = range(1, problem.n + 1)
    worst = min(others, key=lambda tree: problem.arcs[list(tree), tokens].sum())
    return np.array(worst, dtype=np.int32)


def tamper(monkeypatch, module, name, fault, kind, *, always=True):
    """Let a fault of some kind stand in for a function, which it is given; or do so at times."""
    real, rng = getattr(module, name), np.random.default_rng(0)

    def tampered(*given):
        if always or rng.random() < 0.5:
            return fault(kind, real, *given)
        return real(*given)

    monkeypatch.setattr(module, name, tampered)


def without_an_arc_of(arcs, heads):
    """The arcs without one of the tree's that some other tree can do without."""
    token = int(np.argmax([arcs[h, m] for m, h in enumerate(heads, start=1)])) + 1
    fewer = arcs.copy()
    fewer[heads[token - 1], token] = -np.inf
    return read_only(fewer)


def never_wrong(decoder, problem, paid="everything"):
    """Demand that what comes out is the best tree, is not called optimal, or is an error."""
    truth = truth_of(problem, paid)
    try:
        solution = decoder.decode(problem)
    except InfeasibleError:
        assert not truth.parts
        return "infeasible"
    except DecodersError:
        return "error"
    judge(truth, problem, solution)
    return "right" if truth.best - exact(truth.of(solution)) <= 1e-6 else "not optimal"


def no_wrong_rank(decoder, problem):
    """Demand that trees are not said to be optimal, or the next best, where they are not."""
    truth = truth_of(problem)
    try:
        solutions = decoder.k_best(problem, 3)
    except InfeasibleError:
        raise AssertionError("infeasible, but there are trees") from None
    except DecodersError:
        return {"error"}
    met, seen = set(), set()
    for solution in solutions:
        certificate, heads = solution.certificate, tuple(solution.heads.tolist())
        assert heads not in seen
        rest = max(float(truth.exact(other)) for other in truth.parts if other not in seen)
        assert solution.rank_bound >= rest - 1e-6
        if certificate.is_optimal:
            assert certificate.score >= float(truth.best) - 1e-6
        if solution.rank_bound - certificate.score <= certificate.tolerance:
            assert certificate.score >= rest - 1e-6
            met.add("proven")
        else:
            met.add("not proven")
        seen.add(heads)
    return met
