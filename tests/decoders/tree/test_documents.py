"""Documents decoded block by block, against one decoding of the whole."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from spacy_decoders import verify
from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    AtMost,
    BlockScores,
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    FixedArc,
    FixedStart,
    ForbiddenArc,
    Roots,
    TreeProblem,
    decode_document,
)
from spacy_decoders.decoders.tree.crossing import Entered, best_crossing
from spacy_decoders.errors import InfeasibleError, ProblemError

RULES = (AtMost([0]), Roots(labels=[1, 2]))


class Document:
    """Random scores of a whole document, and of its blocks."""

    def __init__(self, rng, n, *, projective=True, rules=(), sharp=4.0, near=0.0):
        size = n + 1
        far = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        self.arcs = 2 * rng.normal(size=(size, size)) - 3 * far**0.5 - near * far
        self.arcs[0] = 2 * rng.normal(size=size) - 2
        np.fill_diagonal(self.arcs, -np.inf)
        self.arcs[:, 0] = -np.inf
        self.boundaries = sharp * rng.normal(size=n)
        self.labels = rng.normal(size=(size, size, 3)) if rules else None
        self.rules, self.projective = rules, projective

    def whole(self):
        return TreeProblem(
            self.arcs, boundaries=self.boundaries, labels=self.labels, rules=self.rules,
            projective=self.projective,
        )  # fmt: skip

    def block(self, begin, end):
        kept = [0, *range(begin + 1, end + 1)]
        arcs, labels = self.arcs, None
        if self.labels is not None:
            labels = self.labels[np.ix_(kept, kept)]
            arcs = arcs + self.labels.max(axis=2)
        before, behind = arcs[1 : begin + 1], arcs[end + 1 :]
        problem = TreeProblem(
            self.arcs[np.ix_(kept, kept)], boundaries=self.boundaries[begin:end], labels=labels,
            rules=self.rules, projective=self.projective,
        )  # fmt: skip
        sides = [
            side[:, begin + 1 : end + 1].max(axis=0, initial=-np.inf) for side in (before, behind)
        ]
        return BlockScores(problem, *sides)


@pytest.mark.parametrize("rules", [(), RULES])
@pytest.mark.parametrize("decoder", [Eisner(), ChuLiuEdmonds(), BranchAndBound()])
def test_blocks_are_as_good_as_the_whole(decoder, rules):
    rng = np.random.default_rng(3)
    met = set()
    for _ in range(25):
        n = int(rng.integers(1, 10))
        projective = not isinstance(decoder, ChuLiuEdmonds)
        document = Document(rng, n, projective=projective, rules=rules)
        whole = decoder.decode(document.whole()).certificate
        longest = int(rng.choice([1, 4, 100]))
        found = decode_document(
            document.block, document.boundaries, decoder, least=1, longest=longest
        )
        certificate = found.certificate
        assert certificate.score <= whole.score + 1e-9
        assert certificate.bound >= whole.score - 1e-9
        if longest == 100 or certificate.is_optimal:
            assert certificate.is_optimal
            assert certificate.score == pytest.approx(whole.score, abs=1e-8)
        assert verify(document.whole(), found).outcome != "refuted"
        met.add(certificate.status)
    assert met == {"optimal", "bounded"}


def test_time_is_linear():
    document = Document(np.random.default_rng(0), 600, sharp=9.0, near=3.0)
    calls = []

    def block(begin, end):
        calls.append(end - begin)
        return document.block(begin, end)

    found = decode_document(block, document.boundaries, Eisner(), least=5)
    assert found.certificate.is_optimal
    assert max(calls) < 60 and sum(calls) < 1500


def test_fixed_beginnings_are_kept():
    rng = np.random.default_rng(5)
    for _ in range(20):
        document = Document(rng, 8)
        fixed = rng.random(8) < 0.3
        found = decode_document(
            document.block, document.boundaries, Eisner(), fixed=fixed, least=1
        )
        assert found.starts[fixed].all()
        # no arc may pass over a fixed beginning
        allowed = np.ones((9, 9), bool)
        for s in np.flatnonzero(fixed) + 1:
            allowed[1:s, s:] = allowed[s:, 1:s] = False
        best = Eisner().decode(document.whole().restricted(allowed)).certificate.score
        assert found.certificate.is_optimal
        assert found.certificate.score == pytest.approx(best)


class WithFixedStarts(Document):
    """Blocks get the rules on sentence starts at their own tokens."""

    def __init__(self, rng, n, starts):
        super().__init__(rng, n)
        self.starts = starts

    def rules_of(self, begin, end):
        here = [rule for rule in self.starts if begin < rule.token <= end]
        return [FixedStart(rule.token - begin, rule.begins) for rule in here]

    def whole(self):
        return replace(super().whole(), rules=self.rules_of(0, len(self.boundaries)))

    def block(self, begin, end):
        found = super().block(begin, end)
        return found._replace(problem=replace(found.problem, rules=self.rules_of(begin, end)))


def test_rules_on_starts_hold_at_cuts():
    rng = np.random.default_rng(11)
    met = 0
    for _ in range(40):
        tokens = rng.permutation(np.arange(2, 9))[:3]
        starts = [FixedStart(int(token), bool(rng.integers(2))) for token in tokens]
        document = WithFixedStarts(rng, 8, starts)
        fixed = np.zeros(8, bool)
        fixed[[rule.token - 1 for rule in starts if rule.begins]] = True
        found = decode_document(
            document.block, document.boundaries, Eisner(), fixed=fixed, least=1
        )
        whole = Eisner().decode(document.whole()).certificate
        assert [found.starts[rule.token - 1] for rule in starts] == [r.begins for r in starts]
        assert found.certificate.is_optimal
        assert found.certificate.score == pytest.approx(whole.score)
        met += any(not r.begins and document.boundaries[r.token - 1] > 0 for r in starts)
    assert met > 10
    document = WithFixedStarts(rng, 8, [FixedStart(3, False)])
    fixed = np.arange(8) == 2
    with pytest.raises(InfeasibleError, match="fixed"):
        decode_document(document.block, document.boundaries, Eisner(), fixed=fixed, least=1)


def test_a_block_without_a_tree_is_merged():
    document = Document(np.random.default_rng(1), 6)
    document.boundaries[:] = [0, -5, 5, -5, 5, -5]
    document.arcs[:, 4] = -np.inf
    document.arcs[6, 4] = 1.0  # its only head stands in another block
    found = decode_document(document.block, document.boundaries, Eisner(), least=1)
    assert found.certificate.is_optimal
    assert found.heads[3] == 6
    document.arcs[6, 4] = -np.inf
    with pytest.raises(InfeasibleError):
        decode_document(document.block, document.boundaries, Eisner(), least=1)


def test_an_empty_document_and_wrong_blocks():
    document = Document(np.random.default_rng(1), 6)
    assert decode_document(lambda *_: None, [], Eisner()).heads.size == 0
    with pytest.raises(ProblemError, match="scores_of"):
        decode_document(lambda *_: document.block(0, 2), document.boundaries, Eisner())


def test_the_end_of_the_budget_leaves_a_gap():
    rng = np.random.default_rng(2)
    for _ in range(20):
        document = Document(rng, 12, sharp=1.0)
        found = decode_document(
            document.block, document.boundaries, Eisner(), least=1, budget=Budget(iterations=1)
        )
        best = Eisner().decode(document.whole()).certificate.score
        assert found.certificate.bound >= best - 1e-9


def test_a_crossed_cut_is_not_paid_and_a_block_beside_it_is_entered():
    paid, free, never = np.array([2.5, 2.5]), np.zeros(2, bool), -np.inf
    entered = [Entered(never, 2.0, never), Entered(1.0, 1.5, 7.0), Entered(3.0, never, never)]
    bound, crossed = best_crossing([0.0, 0.0, 0.0], entered, paid, free)
    assert bound == 12.0 and crossed.tolist() == [True, True]
    bound, crossed = best_crossing([0.0, 0.0, 0.0], entered, paid, np.array([True, False]))
    assert bound == 2.5 + 1.5 + 3.0 and crossed.tolist() == [False, True]
    # a boundary that costs something is crossed only where a block is entered, at a loss here
    lower = [Entered(-9.0, -9.0, -9.0)] * 3
    bound, crossed = best_crossing([0.0, 0.0, 0.0], lower, -paid, free)
    assert bound == -5.0 and not crossed.any()
    bound, crossed = best_crossing([1.0], [Entered(9.0, 9.0, 9.0)], np.zeros(0), np.zeros(0, bool))
    assert bound == 1.0 and crossed.size == 0


def enumerated(problem):
    """Return the score of the best trees and sentences, by trying all heads."""
    best = -np.inf
    for heads in product(range(problem.n + 1), repeat=problem.n):
        arcs = sum(problem.arcs[h, m] for m, h in enumerate(heads, start=1))
        # the boundaries between tokens that no arc passes over
        score = arcs + sum(
            problem.boundaries[s - 1]
            for s in range(2, problem.n + 1)
            if not any(h and min(h, m) < s <= max(h, m) for m, h in enumerate(heads, start=1))
        )
        if score > best and is_structure(problem, heads):
            best = score
    return best


def is_structure(problem, heads):
    """Return whether heads are a tree in each sentence, satisfy the rules, and do not cross."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, start=1)]
    if problem.projective and any(a < c < b < d for a, b in arcs for c, d in arcs):
        return False
    for m in range(1, problem.n + 1):
        seen = set()
        while m and m not in seen:
            seen.add(m)
            m = heads[m - 1]
        if m:
            return False
    within = [(low, high) for h, (low, high) in zip(heads, arcs, strict=True) if h]
    begins = [
        s for s in range(1, problem.n + 1) if not any(low < s <= high for low, high in within)
    ]
    for begin, end in zip(begins, [*begins[1:], problem.n + 1], strict=True):
        if sum(h == 0 for h in heads[begin - 1 : end - 1]) != 1:
            return False
    return not any(rule.is_broken([-1, *heads], [-1] * len(heads)) for rule in problem.rules)


class Scattered:
    """A document in which any arc may be good, however far it reaches."""

    def __init__(self, rng, projective):
        self.n = int(rng.choice([2, 3, 4, 5, 6], p=[0.1, 0.25, 0.35, 0.27, 0.03]))
        self.projective = projective
        self.arcs = rng.integers(-3, 4, size=(self.n + 1, self.n + 1)).astype(float)
        self.arcs[rng.random(self.arcs.shape) < 0.3] = -50.0
        self.boundaries = rng.integers(-3, 4, size=self.n).astype(float)
        self.boundaries[rng.random(self.n) < 0.3] = rng.choice([-50.0, -5.0, 5.0])
        token = int(rng.integers(1, self.n + 1))
        rules = [(), ForbiddenArc(0, token), FixedArc(0, token), FixedStart(token)]
        self.rule = rules[rng.integers(4)]
        self.fixed = np.zeros(self.n, bool)
        self.fixed[token - 1] = isinstance(self.rule, FixedStart)

    def block(self, begin, end):
        kept = [0, *range(begin + 1, end + 1)]
        rules = []
        if self.rule and begin < self.rule.token <= end:
            place = self.rule.token - begin
            start = isinstance(self.rule, FixedStart)
            rules = [FixedStart(place) if start else type(self.rule)(0, place)]
        problem = TreeProblem(
            self.arcs[np.ix_(kept, kept)], boundaries=self.boundaries[begin:end], rules=rules,
            projective=self.projective,
        )  # fmt: skip
        inner = slice(begin + 1, end + 1)
        before, behind = self.arcs[1 : begin + 1, inner], self.arcs[end + 1 :, inner]
        return BlockScores(
            problem, before.max(axis=0, initial=-np.inf), behind.max(axis=0, initial=-np.inf)
        )


@pytest.mark.parametrize("decoder", [Eisner(), ChuLiuEdmonds(), BranchAndBound()])
def test_bounds_hold_where_arcs_pass_over_whole_blocks(decoder):
    rng = np.random.default_rng(11)
    met = set()
    for _ in range(50):
        document = Scattered(rng, not isinstance(decoder, ChuLiuEdmonds))
        whole = document.block(0, document.n).problem
        best = enumerated(whole)
        for longest in (1, 2, 3):
            try:
                found = decode_document(
                    document.block, document.boundaries, decoder,
                    fixed=document.fixed, least=1, longest=longest,
                )  # fmt: skip
            except InfeasibleError:
                assert best == -np.inf
                continue
            certificate = found.certificate
            assert is_structure(whole, found.heads.tolist())
            assert certificate.score <= best + 1e-9 <= certificate.bound + 2e-9
            assert not certificate.is_optimal or certificate.score == pytest.approx(best)
            met.add(certificate.status)
    assert met == {"optimal", "bounded"}


def test_a_cut_is_crossed_by_an_arc_over_a_whole_block():
    arcs = np.full((4, 4), -50.0)
    arcs[0, 1:] = 0
    arcs[[0, 3, 1], [1, 1, 2]] = 3
    document = Scattered(np.random.default_rng(0), True)
    document.n, document.arcs, document.rule = 3, arcs, ()
    document.boundaries = np.array([0, 3.5, -5.0])
    for decoder in (Eisner(), BranchAndBound()):
        found = decode_document(document.block, document.boundaries, decoder, least=1, longest=1)
        assert found.certificate.status == "bounded"
        assert found.certificate.bound >= 6.0 - 1e-9


def test_a_sentence_can_not_begin_where_none_may():
    document = Document(np.random.default_rng(1), 4)
    document.boundaries[2] = -np.inf
    with pytest.raises(InfeasibleError, match=r"fixed: a sentence has to begin at token 2"):
        decode_document(
            document.block, document.boundaries, Eisner(), fixed=[False, False, True, False]
        )


def test_a_rule_on_the_root_counts_over_all_blocks():
    rng = np.random.default_rng(4)
    met = set()
    for _ in range(30):
        document = Document(rng, 5, rules=(AtMost([0, 1]),))
        whole = document.whole()
        longest = int(rng.choice([1, 2, 100]))
        try:
            best = Eisner().decode(whole).certificate.score
        except InfeasibleError:
            continue
        try:
            found = decode_document(
                document.block, document.boundaries, Eisner(), least=1, longest=longest
            )
        except ProblemError as error:
            assert longest < 100 and "dependants of the root" in str(error)
            met.add("refused")
            continue
        labels = found.labels.tolist()
        assert not whole.rules[0].is_broken([-1, *found.heads.tolist()], [-1, *labels])
        assert found.certificate.score <= best + 1e-9 <= found.certificate.bound + 2e-9
        met.add(found.certificate.status)
    assert {"refused", "optimal"} <= met
