"""Random tree problems of the kinds that break arithmetic, and what must hold of each."""

import math
from collections import Counter
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from spacy_decoders.budget import UNLIMITED, Budget
from spacy_decoders.decoders import tree
from spacy_decoders.decoders.tree.branch_and_bound import preparation
from spacy_decoders.decoders.tree.second_order import second_order_marginals
from spacy_decoders.errors import InfeasibleError, ProblemError, UndecidedError
from tests.decoders.draws import KINDS, drawn
from tests.decoders.tree.samples import LABELS, drawn_rules, random_factors
from tests.decoders.tree.truth import JointTruth, Truth, judge, truth_of


@st.composite
def _problems(draw: st.DrawFn) -> tree.TreeProblem:
    """Trees of one sentence: half of the problems are of single arcs."""
    n = draw(st.integers(0, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind, parts = st.sampled_from(KINDS), st.booleans()
    cube, second = (n + 1,) * 3, draw(parts)
    return tree.TreeProblem(
        drawn(rng, draw(kind), (n + 1, n + 1)),
        grandparents=drawn(rng, draw(kind), cube) if second and draw(parts) else None,
        siblings=drawn(rng, draw(kind), cube) if second and draw(parts) else None,
        factors=_factors(rng, n, draw(kind)) if second and n and draw(parts) else None,
        projective=draw(parts),
        single_root=draw(parts),
    )


def _factors(rng: np.random.Generator, n: int, kind: str) -> tree.Factors:
    return random_factors(rng, n, lambda *shape: drawn(rng, kind, shape))


@st.composite
def _joint_problems(draw: st.DrawFn) -> tree.TreeProblem:
    """Sentences, labels and rules, some or all of them, with any other parts."""
    kind, parts = st.sampled_from(KINDS), st.booleans()
    labelled = draw(parts)
    n = draw(st.integers(0, 3 if labelled else 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, second = n + 1, draw(parts)
    sentences = draw(parts)
    labels = drawn(rng, draw(kind), (size, size, LABELS)) if labelled else None
    rules = drawn_rules(rng, n, sentences=sentences) if n and draw(parts) else []
    projective = draw(parts)
    # factors must not join sentences that are decoded apart, as where arcs may cross
    factors = second and n and (projective or not sentences) and draw(parts)
    return tree.TreeProblem(
        drawn(rng, draw(kind), (size, size)),
        grandparents=drawn(rng, draw(kind), (size,) * 3) if second else None,
        siblings=drawn(rng, draw(kind), (size,) * 3) if second and draw(parts) else None,
        factors=_factors(rng, n, draw(kind)) if factors else None,
        projective=projective,
        boundaries=drawn(rng, draw(kind), (n,)) if sentences else None,
        labels=labels,
        rules=[rule for rule in rules if labels is not None or not rule.needs_labels],
    )


problems = st.one_of(_problems(), _joint_problems())


# --- who is asked ------------------------------------------------------------------------------


def deciders(problem: tree.TreeProblem):
    """Every decoder that takes the problem: a name, the objective, the decoder, the budget."""
    first = problem.is_first_order
    if first and problem.projective:
        yield "Eisner", "everything", tree.Eisner(), UNLIMITED
    if first and not problem.projective:
        yield "ChuLiuEdmonds", "everything", tree.ChuLiuEdmonds(), UNLIMITED
    if problem.projective and not problem.has_factors:
        yield "SecondOrder", "adjacent", tree.SecondOrder(), UNLIMITED
        yield "SecondOrder, outermost", "outermost", tree.SecondOrder("outermost"), UNLIMITED
    for backbone in ("auto", "first-order", "second-order"):
        yield f"BranchAndBound {backbone}", "everything", tree.BranchAndBound(backbone), UNLIMITED
    short, late = Budget(iterations=2), Budget(seconds=1e-9)
    yield "BranchAndBound, 2 passes", "everything", tree.BranchAndBound(iterations=2), short
    yield "BranchAndBound, hardly any time", "everything", tree.BranchAndBound(), late
    paper = tree.BranchAndBound(method="paper")
    yield "paper", "everything", paper, UNLIMITED
    yield "paper, 2 passes", "everything", paper, short
    if problem.siblings is None and not problem.has_factors:
        yield "PriceAndCut", "everything", tree.PriceAndCut(), UNLIMITED
        yield "PriceAndCut relaxed", "everything", tree.PriceAndCut(relax=True), UNLIMITED
        yield "PriceAndCut, 3 passes", "everything", tree.PriceAndCut(), Budget(iterations=3)
        whole = tree.PriceAndCut(relax=True, pruning=False)
        yield "PriceAndCut relaxed, unpruned", "everything", whole, UNLIMITED
        yield "PriceAndCut unpruned", "everything", tree.PriceAndCut(pruning=False), UNLIMITED


def check(problem: tree.TreeProblem) -> Counter[str]:
    """Let every decoder at the problem; raise where a promise is broken."""
    met: Counter[str] = Counter()
    truths = {paid: truth_of(problem, paid) for paid in ("everything", "adjacent", "outermost")}
    joint = isinstance(truths["everything"], JointTruth)
    for name, paid, decoder, budget in deciders(problem):
        met[f"{'joint ' * joint}{name} {_met(problem, truths[paid], name, decoder, budget)}"] += 1
    with patch.object(preparation, "LONGEST_CHART", 0):  # short sentences go the way of long ones
        name, decoder = "BranchAndBound without a chart", tree.BranchAndBound()
        status = _met(problem, truths["everything"], name, decoder, UNLIMITED)
    met[f"{'joint ' * joint}{name} {status}"] += 1
    met.update(check_ranking(problem, truths["everything"]))
    if problem.projective and not problem.has_factors and not joint:
        check_marginals(second_order_marginals(problem), truths["adjacent"])
    return met


def _met(problem: tree.TreeProblem, truth: Truth, name: str, decoder, budget: Budget) -> str:
    """Decode once; return the status, or how it was refused."""
    try:
        solution = decoder.decode(problem, budget=budget)
    except InfeasibleError:
        assert not truth.parts, f"{name}: infeasible, but {truth.score}"
        return "infeasible"
    except UndecidedError:
        assert budget != UNLIMITED, name
        return "undecided"
    except ProblemError:
        # scores beyond those of a solver, factors that join sentences
        assert name.startswith(("PriceAndCut", "paper")), name
        return "refused"
    assert truth.parts, f"{name}: a tree of none"
    if problem.boundaries is not None:
        assert solution.starts.tolist() == tree.sentence_starts(solution.heads).tolist(), name
    status = judge(truth, problem, solution)
    if budget == UNLIMITED and "relaxed" not in name and _is_ordinary(problem):
        assert status == "optimal", (name, solution.certificate)
    if name.startswith("BranchAndBound") and budget == UNLIMITED and type(truth) is Truth:
        check_ranked(decoder.k_best(problem, 3), problem, truth)
    return status


def _is_ordinary(problem: tree.TreeProblem) -> bool:
    """Whether no score is so large that rounding could leave a decoder without a proof."""
    factors = None if problem.factors is None else problem.factors.scores
    every = (problem.arcs, problem.grandparents, problem.siblings, factors)
    every += (problem.boundaries, problem.labels)
    return all(of is None or (np.abs(of[of > -np.inf]) < 100).all() for of in every)


def check_ranking(problem: tree.TreeProblem, truth: Truth) -> Counter[str]:
    """k best trees, max-marginals and margins: exact where they say so."""
    met: Counter[str] = Counter()
    if not truth.parts:
        return met
    met["max_marginals"] += 1
    check_marginals(tree.max_marginals(problem), truth)
    best = max(truth.score, key=lambda heads: truth.score[heads])
    margins = tree.head_margins(problem, best)
    for m, margin in enumerate(margins, start=1):
        others = {heads: s for heads, s in truth.score.items() if heads[m - 1] != best[m - 1]}
        other = truth.score[best] - margin if math.isfinite(margin) else -math.inf
        if not math.isnan(margin):
            _agrees(other, others, truth, also=truth.scale(best))
    met.update(check_ranked(tree.k_best(problem, 3), problem, truth))
    return met


def check_ranked(
    solutions: list[tree.TreeSolution], problem: tree.TreeProblem, truth: Truth
) -> Counter[str]:
    """Trees that are said to be the best three."""
    met: Counter[str] = Counter()
    seen: list[tuple[int, ...]] = []
    for solution in solutions:
        judge(truth, problem, solution, verified=False)
        heads = tuple(solution.heads.tolist())
        assert heads not in seen
        rest = max(truth.exact(one) for one in truth.parts if one not in seen)
        assert solution.rank_bound is not None and rest <= Fraction(solution.rank_bound)
        proven = solution.rank_bound - solution.certificate.score <= solution.certificate.tolerance
        met[f"k_best {'proven' if proven else 'unproven'}"] += 1
        seen.append(heads)
    assert len(seen) == min(3, len(truth.parts))
    return met


def check_marginals(through: np.ndarray, truth: Truth) -> None:
    """The worth of the best tree through each arc."""
    for m in range(1, len(through)):
        for h in range(len(through)):
            those = {heads: s for heads, s in truth.score.items() if heads[m - 1] == h}
            _agrees(through[h, m], those, truth)


def _agrees(
    value: float, scores: dict[tuple[int, ...], float], truth: Truth, also: float = 0.0
) -> None:
    """Demand that a value is the best of some scores, but for rounding, or unknown."""
    if not scores:
        assert value == -math.inf, value
        return
    if math.isnan(value):
        return
    best = max(scores, key=lambda heads: scores[heads])
    slack = 1e-9 * (1 + truth.scale(best) + also)
    assert abs(value - scores[best]) <= slack, (value, scores[best])
