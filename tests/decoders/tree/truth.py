"""All structures of a small problem with exact scores, and what solutions promise of them."""

import math
from fractions import Fraction
from itertools import product

import numpy as np

from spacy_decoders import verify
from spacy_decoders.decoders.tree import TreeProblem
from tests import oracles
from tests.decoders.claims import check_claim
from tests.decoders.tree.samples import trees


def parts_of(
    problem: TreeProblem, heads: tuple[int, ...], paid: str = "everything"
) -> list[float]:
    """The scores of a tree's parts; `paid` may be "adjacent" or "outermost", see SecondOrder."""
    parts = [problem.arcs[h, m] for m, h in enumerate(heads, start=1)]
    for h in range(problem.n + 1):
        below = [m for m, head in enumerate(heads, start=1) if head == h]
        for x, a in enumerate(below):
            for b in below[x + 1 :]:
                adjacent = (a < h) == (b < h) and not any(a < c < b for c in below)
                if problem.siblings is not None and (paid == "everything" or adjacent):
                    parts.append(problem.siblings[h, a, b])
            last = not any((c < a < h) or (h < a < c) for c in below)
            if problem.grandparents is not None and h and (paid != "outermost" or last):
                parts.append(problem.grandparents[heads[h - 1], h, a])
    factors = problem.factors
    for f in range(0 if factors is None else factors.count):
        arcs = factors.arcs[factors.offsets[f] : factors.offsets[f + 1]].tolist()
        number = sum(heads[m - 1] == h for h, m in arcs)
        if factors.at_least[f] <= number <= factors.at_most[f]:
            parts.append(factors.scores[f])
    return [float(part) for part in parts]


class Truth:
    """Every legal tree, with its parts; what the best is worth, exactly."""

    def __init__(self, problem: TreeProblem, paid: str = "everything") -> None:
        self.parts = {}
        for heads in trees(problem.n, problem.projective, problem.single_root):
            parts = parts_of(problem, heads, paid)
            if -math.inf not in parts:
                self.parts[heads] = parts
        self.score = {heads: math.fsum(parts) for heads, parts in self.parts.items()}
        top = max(self.score.values(), default=-math.inf)
        # what is rounded to nearly the same is told apart exactly
        near = [heads for heads, score in self.score.items() if score >= np.nextafter(top, -1e308)]
        self.best = max((self.exact(heads) for heads in near), default=None)

    @property
    def ranked(self) -> list[float]:
        """What all trees are worth, best first."""
        return sorted(self.score.values(), reverse=True)

    def exact(self, heads: tuple[int, ...]) -> Fraction:
        return exact(self.parts[heads])

    def of(self, solution) -> list[float] | None:
        """The parts of a solution; None if it is illegal."""
        return self.parts.get(tuple(solution.heads.tolist()))

    def scale(self, heads: tuple[int, ...]) -> float:
        return math.fsum(map(abs, self.parts[heads]))


class JointTruth(Truth):
    """The same with sentences, labels and rules: by heads, the parts with the best labels."""

    def __init__(self, problem: TreeProblem, paid: str = "everything") -> None:
        self.parts, self.labelled = {}, {}
        count = 1 if problem.labels is None else problem.labels.shape[2]
        if problem.boundaries is None:
            legal = trees(problem.n, problem.projective, problem.single_root)
            forests = [(heads, []) for heads in legal]
        else:
            forests = list(oracles.all_forests(problem.n, projective=problem.projective))
        for heads, starts in forests:
            parts = parts_of(problem, heads, paid)
            parts += [float(problem.boundaries[s - 1]) for s in starts if s > 1]
            for labels in product(range(count), repeat=problem.n):
                if any(oracles.breaks(rule, heads, labels) for rule in problem.rules):
                    continue
                every = parts + labels_of(problem, heads, labels)
                if -math.inf not in every:
                    self.labelled[heads, labels] = every
                    if math.fsum(every) > math.fsum(self.parts.get(heads, [-math.inf])):
                        self.parts[heads] = every
        self.score = {heads: math.fsum(parts) for heads, parts in self.parts.items()}
        self.best = max(map(exact, self.parts.values()), default=None)

    def of(self, solution) -> list[float] | None:
        heads = tuple(solution.heads.tolist())
        labels = (0,) * len(heads) if solution.labels is None else solution.labels.tolist()
        return self.labelled.get((heads, tuple(labels)))


def truth_of(problem, paid="everything"):
    joint = problem.is_constrained or problem.boundaries is not None
    return (JointTruth if joint else Truth)(problem, paid)


def labels_of(
    problem: TreeProblem, heads: tuple[int, ...], labels: tuple[int, ...]
) -> list[float]:
    """What the labels of a tree are worth."""
    if problem.labels is None:
        return []
    arcs = enumerate(zip(heads, labels, strict=True), start=1)
    return [float(problem.labels[h, m, label]) for m, (h, label) in arcs]


def exact(parts: list[float]) -> Fraction:
    """The sum without rounding."""
    return sum(map(Fraction, parts), Fraction(0))


def judge(truth: Truth, problem: TreeProblem, solution, *, verified: bool = True) -> str:
    """Demand all that a solution promises; return its status."""
    certificate = solution.certificate
    parts = truth.of(solution)
    assert parts is not None, f"illegal tree {solution.heads} {solution.labels}"
    score, scale = exact(parts), math.fsum(map(abs, parts))
    status = check_claim(certificate, score, truth.best, scale, rounding=1e-12 * scale)
    if verified:
        outcome = verify(problem, solution)
        assert outcome.outcome != "refuted", (outcome, certificate)
    return status
