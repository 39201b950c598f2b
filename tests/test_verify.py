"""`verify` against false claims of every kind, on chains small enough to see through."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from spacy_decoders.adapt.trees import ArcParser
from spacy_decoders.certificate import Certificate, largest_tolerance
from spacy_decoders.decoders import tree
from spacy_decoders.decoders.chain import ChainModel, ChainSolution, Viterbi
from spacy_decoders.decoders.path import ExactPath, PathProblem
from spacy_decoders.decoders.path.subtree import SubtreeProblem, TreeKnapsack
from spacy_decoders.decoders.representatives import ExactRepresentatives, RepresentativesProblem
from spacy_decoders.errors import ProblemError
from spacy_decoders.verify import Findings, judge, verify

MODEL = ChainModel([[1, 0], [0, 1]])
#: 0 1 is worth 4.5, 0 0 is worth 4, 1 1 is worth 2.5 and 1 0 nothing.
PROBLEM = MODEL, [[3, 0], [0, 1.5]]
#: of the best labelling: 4.5, and as much in absolute terms
SOUND = Certificate("X", "optimal", 4.5, 4.5, 0.0, 1e-9, 1.0)


def claim(labels=(0, 1), **changes) -> ChainSolution:
    """A solution of PROBLEM whose certificate is changed in some fields."""
    if changes.get("status", "optimal") != "optimal":
        changes = {"confidence": None, **changes}
    return ChainSolution(np.array(labels, np.int32), replace(SOUND, **changes))


def test_what_is_true_is_confirmed():
    found = verify(PROBLEM, claim())
    assert found and found.outcome == "confirmed"
    assert found.score == 4.5 and found.bound == pytest.approx(4.5)
    assert verify(PROBLEM, Viterbi().decode(*PROBLEM))
    assert verify(PROBLEM, claim((0, 0), status="bounded", score=4.0, gap=0.5))


OPEN = {"bound": None, "gap": None}
WIDE = {"status": "bounded", "bound": 5.0, "gap": 0.5}


@pytest.mark.parametrize(
    ("labels", "changes", "reason"),
    [
        ([0], {}, "structure"),
        ([0, 2], {}, "structure"),
        ([0, 1], {"score": 4.6, "bound": 4.6}, "score"),
        ([0, 1], {"status": "bounded", **OPEN}, "status"),
        ([0, 1], {"gap": 0.25}, "gap"),
        (
            [0, 0],
            {"status": "bounded", "score": 4.0, "bound": 4.25, "gap": 0.25},
            "bound: 4.25, but a structure has 4.5",
        ),
        ([0, 1], {"bound": 5.0, "gap": 0.5}, "optimal: it needs gap <= tolerance"),
        ([0, 1], {"tolerance": 1.01 * largest_tolerance(4.5)}, "optimal: it needs gap"),
        ([0, 0], {"score": 4.0, "bound": 4.0}, "optimal: another structure has 4.5"),
        ([0, 1], {**WIDE, "tolerance": 1e9}, "tolerance"),
        ([0, 1], {"confidence": 0.2}, "confidence"),
        (
            [0, 0],
            {"status": "probable", "score": 4.0, **OPEN, "confidence": 1.0},
            "probable: another",
        ),
    ],
)
def test_false_claims_are_refuted(labels, changes, reason):
    found = verify(PROBLEM, claim(labels, **changes))
    assert not found and found.outcome == "refuted"
    assert found.reason.startswith(reason)


def test_a_tolerance_and_a_confidence_may_be_as_large_as_the_scale_allows():
    assert verify(PROBLEM, claim(tolerance=largest_tolerance(4.5)))
    assert verify(PROBLEM, claim(status="probable", **OPEN, confidence=1.0))


def test_a_forbidden_score():
    model = ChainModel([[1, -np.inf], [0, 1]])
    found = verify((model, PROBLEM[1]), claim())
    assert found.outcome == "refuted" and "forbidden" in found.reason


def test_the_scale_is_that_of_the_structure_and_not_of_a_mask():
    masked = MODEL, [[3, 0], [-1e9, 1.5]]
    assert verify(masked, claim())
    assert verify(masked, claim(tolerance=1.0)).outcome == "refuted"


def test_time_that_is_too_short_decides_nothing():
    found = verify(PROBLEM, claim(), seconds=1e-9)
    assert found.outcome == "undecided" and found.bound is None and found.score == 4.5
    assert verify(PROBLEM, claim(score=4.6), seconds=1e-9).outcome == "refuted"


def test_a_bound_that_is_too_weak_decides_nothing():
    found = judge(SOUND, Findings(None, 4.5, 4.5, best=4.5, bound=4.75))
    assert found.outcome == "undecided" and "4.75" in found.reason


def test_trees_of_labels_are_checked_with_their_parents():
    emissions, parents = [[0, 0], [2, 0], [0, 0.5]], [-1, 0, 0]
    solution = Viterbi().decode_tree(MODEL, emissions, parents)
    assert verify((MODEL, emissions, parents), solution)
    wrong = replace(solution, labels=[1, 1, 1])
    assert not verify((MODEL, emissions, parents), wrong)
    with pytest.raises(ProblemError, match="parents: some nodes do not reach a root"):
        verify((MODEL, emissions, [1, 0, -1]), solution)


def test_what_is_no_solution_or_no_problem_is_refused():
    with pytest.raises(ProblemError, match="solution: expected one of"):
        verify(PROBLEM, [0, 1])
    with pytest.raises(ProblemError, match="solution: expected one of"):
        verify(PROBLEM, SimpleNamespace(certificate=SOUND))
    with pytest.raises(ProblemError, match="problem: expected the pair"):
        verify(MODEL, claim())
    with pytest.raises(ProblemError, match=r"emissions: expected shape \(any, 2\)"):
        verify((MODEL, [[1, 2, 3]]), claim())
    for seconds in (0, -1.0, math.nan):
        with pytest.raises(ProblemError, match="seconds"):
            verify(PROBLEM, claim(), seconds=seconds)


# --- each kind of solution, with one part changed at a time ------------------------------------


def _chain(rng):
    model = ChainModel(rng.normal(size=(3, 3)))
    problem = model, rng.normal(size=(4, 3))
    return problem, Viterbi().decode(*problem)


def _joint_tree(rng):
    problem = tree.TreeProblem(
        rng.normal(size=(4, 4)),
        labels=rng.normal(size=(4, 4, 2)),
        boundaries=rng.normal(size=3),
        rules=[tree.AtMost([0]), tree.Leaves([1])],
    )
    return problem, tree.Eisner().decode(problem)


def _tree_of_parts(rng):
    cube = (5, 5, 5)
    factors = tree.Factors.valency(2, 4, [-1.0, 0.5, 0.0])
    scores = rng.normal(size=(5, 5)), rng.normal(size=cube), rng.normal(size=cube), factors
    problem = tree.TreeProblem(*scores, projective=False)
    return problem, tree.BranchAndBound().decode(problem)


def _second_order_tree(rng):
    arcs, grandparents = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 5))
    problem = tree.TreeProblem(arcs, grandparents, rng.normal(size=(5, 5, 5)))
    return problem, tree.SecondOrder().decode(problem)


def _ranked_tree(rng):
    problem = tree.TreeProblem(rng.normal(size=(5, 5)))
    return problem, tree.k_best(problem, 3)[rng.integers(3)]


def _labelled_tree(rng):
    given = rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 3))
    parser = ArcParser()
    return parser.problem(*given), parser.decode(*given)


def _path(rng):
    problem = PathProblem(
        rng.normal(size=5), rng.normal(size=(5, 5)), rng.normal(size=5), [0, 1, 2, 3, 3]
    )
    return (problem, 3), ExactPath().decode(problem, 3)


def _subtree(rng):
    parents = [-1, *(int(rng.integers(node)) for node in range(1, 7))]
    problem = SubtreeProblem(rng.normal(size=7), parents, rng.integers(1, 3, 7))
    return (problem, 6, 2), TreeKnapsack().decode(problem, 6, 2)


def _representatives(rng):
    distances = rng.integers(1, 9, (8, 8))
    problem = RepresentativesProblem(
        np.triu(distances, 1) + np.triu(distances, 1).T,
        [[0, 1, 2], [3, 4], [5, 6, 7]],
        local=[rng.random(3), rng.random(2), rng.random(3)],
    )
    return problem, ExactRepresentatives().decode(problem)


#: What makes a problem and its solution, and the parts of the structure.
KINDS = {
    "chain": (_chain, ["labels"]),
    "tree with labels, boundaries and rules": (_joint_tree, ["heads", "labels", "starts"]),
    "tree of grandparents, siblings and factors": (_tree_of_parts, ["heads"]),
    "tree of SecondOrder": (_second_order_tree, ["heads"]),
    "ranked tree": (_ranked_tree, ["heads", "rank_bound"]),
    "tree of an adapted parser": (_labelled_tree, ["heads", "labels"]),
    "path": (_path, ["vertices"]),
    "subtree": (_subtree, ["nodes"]),
    "representatives": (_representatives, ["choices", "vertices", "margins", "exact_margins"]),
}


def changed_numbers(certificate, kind):
    """Certificates of which one number, or several that agree, are changed."""
    wrong = {
        "status": ("optimal", "probable", "bounded", "heuristic", "infeasible", "proven"),
        "score": (None, math.inf, -math.inf, math.nan, *moved(certificate.score)),
        "bound": (None, math.inf, -math.inf, math.nan, *moved(certificate.bound)),
        "gap": (None, math.inf, math.nan, *moved(certificate.gap)),
        "tolerance": (None, math.inf, math.nan, -1.0, 1.0),
        "confidence": (None, math.inf, math.nan, -1.0, 0.5, 2.0),
        "iterations": (None, math.nan, -1),
        "scope": ("none", "pruned")[: 1 + ("tree" in kind.split())],
    }
    for name, values in wrong.items():
        yield from (
            replace(certificate, **{name: value})
            for value in values
            if value is not getattr(certificate, name)
        )
    for bound in (math.inf, -math.inf):
        for status, confidence in (("bounded", None), ("optimal", 1.0), ("probable", 0.5)):
            for gap in (0.0, 1.0, math.inf):
                claims = {"status": status, "confidence": confidence}
                yield replace(certificate, bound=bound, gap=gap, **claims)
    for by in (-1.0, 1.0):  # a score and a bound that agree
        yield replace(certificate, score=certificate.score + by, bound=certificate.score + by)


def moved(value):
    return (value - 1.0, value + 1.0, value + 1e-3)


def changed_arrays(values):
    """Arrays of which one entry is changed, is missing, or is there twice."""
    for place in range(len(values)):
        for other in {True, False} if values.dtype == bool else range(-1, 10):
            changed = values.copy()
            changed[place] = other
            if changed[place] != values[place]:
                yield changed
        yield np.delete(values, place)
        yield np.insert(values, place, values[place])


def claimed(problem, solution, certificate):
    """The same structure, said to be worth what it is, and to be the best."""
    found = verify(problem, replace(solution, certificate=certificate))
    if found.score is None:
        return found
    exact = {"score": found.score, "bound": found.score, "gap": 0.0, "status": "optimal"}
    best = replace(certificate, **exact, confidence=1.0)
    return verify(problem, replace(solution, certificate=best))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_confirmed_after_any_part_of_it_is_changed(kind):
    made, parts = KINDS[kind]
    for seed in range(2):
        problem, solution = made(np.random.default_rng(seed))
        certificate = solution.certificate
        assert verify(problem, solution).outcome == "confirmed"
        for other in changed_numbers(certificate, kind):
            changed = replace(solution, certificate=other)
            assert verify(problem, changed).outcome == "refuted", (other, certificate)
        for part in parts:
            given = getattr(solution, part)
            if part == "rank_bound":
                others = [math.nan, math.inf, -math.inf, certificate.score - 1e-3]
            elif part == "exact_margins":  # only a margin that is said to be exact can be wrong
                others = [np.ones(len(given) + 1, bool)]
            else:
                others = changed_arrays(np.array(given))
            for values in others:
                changed = replace(solution, **{part: values})
                found = verify(problem, changed)
                assert found.outcome == "refuted", (part, values, given)
                if part not in ("margins", "exact_margins", "rank_bound"):
                    found = claimed(problem, changed, certificate)
                    assert found.outcome == "refuted", (part, values, found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_of_another_kind_is_refused(kind):
    _, solution = KINDS[kind][0](np.random.default_rng(0))
    with pytest.raises(ProblemError, match="problem: expected"):
        verify("a text", solution)
