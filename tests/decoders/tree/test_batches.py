"""Batches of sentences: the same trees and certificates as one by one, whatever is corrupted."""

import pickle

import numpy as np
import pytest

from spacy_decoders.decoders.tree import (
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    FixedArc,
    Roots,
    TreeProblem,
    TreeSolution,
    score_tree,
)
from spacy_decoders.decoders.tree import batches as tree_batches
from spacy_decoders.decoders.tree.kernels import batches, favourites, surviving
from spacy_decoders.errors import DecodersError, InfeasibleError, ProblemError
from tests.decoders.tree.samples import scores, trees

DECODERS = [Eisner(), ChuLiuEdmonds()]


def feasible(rng, count, projective):
    """Random arcs of sentences that have a tree."""
    kept = []
    while len(kept) < count:
        n = int(rng.integers(0, 6))
        arcs = scores(rng, n + 1, n + 1)
        problem = TreeProblem(arcs, projective=projective)
        if any(score_tree(problem, tree) > -np.inf for tree in trees(n, projective, True)):
            kept.append(arcs)
    return kept


@pytest.mark.parametrize("decoder", DECODERS)
def test_as_one_by_one(decoder):
    rng = np.random.default_rng(0)
    projective = isinstance(decoder, Eisner)
    arcs = feasible(rng, 200, projective)
    problems = [TreeProblem(one, projective=projective) for one in arcs]
    single = [decoder.decode(problem) for problem in problems]
    for batch in (decoder.decode_batch(arcs), decoder.decode_batch(problems)):
        assert len(batch) == len(arcs) and isinstance(batch, list)
        for problem, one, other in zip(problems, single, batch, strict=True):
            assert other.certificate.is_optimal
            assert other.certificate.score == pytest.approx(one.certificate.score)
            assert other.certificate.bound >= one.certificate.score - 1e-6
            assert score_tree(problem, other.heads) == pytest.approx(one.certificate.score)
            assert not other.heads.flags.writeable
            assert other.starts is None and other.labels is None and other.rank_bound is None


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_has_more_than_arcs_is_decoded_one_by_one(decoder):
    projective = isinstance(decoder, Eisner)
    arcs = np.random.default_rng(1).normal(size=(5, 5))
    problems = [
        TreeProblem(arcs, projective=projective),
        TreeProblem(arcs, projective=projective, boundaries=np.zeros(4)),
        TreeProblem(arcs, projective=projective, rules=[FixedArc(0, 3)]),
    ]
    batch = decoder.decode_batch(problems)
    assert [one.certificate for one in batch] == [decoder.decode(p).certificate for p in problems]
    assert batch[1].starts is not None and batch[2].heads[2] == 0
    assert len(BranchAndBound().decode_batch(problems[:1])) == 1


def test_wrong_sentences_are_named():
    good = np.zeros((3, 3))
    assert len(Eisner().decode_batch([])) == 0
    with pytest.raises(ProblemError, match="sentence 1"):
        Eisner().decode_batch([good, np.zeros((2, 3))])
    with pytest.raises(ProblemError, match="sentence 1"):
        Eisner().decode_batch([good, np.full((3, 3), np.nan)])
    for large in (1e308, -1e308, np.inf, 1.01e100):
        for decoder in DECODERS:
            with pytest.raises(ProblemError, match=r"arcs of sentence 1.*index \(0, 2\)"):
                decoder.decode_batch([good, np.array([[0, 1, large], [0, 0, 1], [0, 1, 0]])])
    with pytest.raises(ProblemError, match="TreeProblem"):
        BranchAndBound().decode_batch([good])
    with pytest.raises(ProblemError, match="projective"):
        Eisner().decode_batch([TreeProblem(good, projective=False)])
    none = np.full((3, 3), -np.inf)
    for decoder in DECODERS:
        with pytest.raises(InfeasibleError, match="sentence 1: token 1 has no candidate head"):
            decoder.decode_batch([good, none])


def test_a_batch_is_a_list_that_can_be_pickled():
    batch = Eisner().decode_batch([np.zeros((3, 3))] * 2)
    again = pickle.loads(pickle.dumps(batch))
    assert [one.heads.tolist() for one in again] == [one.heads.tolist() for one in batch]


# --- compiled code at fault --------------------------------------------------------------------


def tampered(monkeypatch, module, name, change):
    real = getattr(module, name)

    def call(*given):
        found = real(*given)
        change(*given)
        return found

    monkeypatch.setattr(module, name, call)


def each_below_the_one_before(sizes, which, offsets, heads):
    """A legal tree for each of these sentences, and hardly ever the best."""
    for place in which:
        heads[offsets[place] : offsets[place + 1]] = np.arange(sizes[place] - 1)


def worse_favourites(flat, begins, sizes, offsets, heads):
    each_below_the_one_before(sizes, range(len(sizes)), offsets, heads)


def worse_by_chart(flat, begins, sizes, which, offsets, heads, *rest):
    each_below_the_one_before(sizes, which, offsets, heads)


def lower_charts(flat, begins, sizes, which, offsets, heads, duals, columns, kept, room):
    each_below_the_one_before(sizes, which, offsets, heads)
    with np.errstate(invalid="ignore"):  # what no span uses was never written
        room -= 5.0


def fewer_survivors(flat, begins, sizes, which, offsets, heads, duals, columns, kept, room):
    each_below_the_one_before(sizes, which, offsets, heads)
    kept[:] = False
    room[:] = -np.inf
    at = 0
    for size in sizes[which]:  # single tokens are spans, and nothing else is
        room[4 * at :].reshape(-1)[: 4 * size * size].reshape(4, size, size)[
            2:, range(size), range(size)
        ] = 0.0
        at += size * size


def worse_by_contraction(flat, begins, sizes, which, offsets, heads, duals):
    each_below_the_one_before(sizes, which, offsets, heads)


def lower_duals(flat, begins, sizes, which, offsets, heads, duals):
    each_below_the_one_before(sizes, which, offsets, heads)
    values = duals[2]
    values -= 5.0


@pytest.mark.parametrize(
    ("decoder", "module", "name", "change"),
    [
        (Eisner(), favourites, "favourite_heads", worse_favourites),
        (Eisner(), batches, "contractions", worse_by_contraction),
        (Eisner(), surviving, "surviving_charts", worse_by_chart),
        (Eisner(), surviving, "surviving_charts", lower_charts),
        (Eisner(), surviving, "surviving_charts", fewer_survivors),
        (ChuLiuEdmonds(), favourites, "favourite_heads", worse_favourites),
        (ChuLiuEdmonds(), batches, "contractions", worse_by_contraction),
        (ChuLiuEdmonds(), batches, "contractions", lower_duals),
    ],
)
def test_nothing_wrong_is_called_optimal(monkeypatch, decoder, module, name, change):
    rng = np.random.default_rng(3)
    arcs = [3 * rng.normal(size=(6, 6)) for _ in range(40)]
    best = [one.certificate.score for one in decoder.decode_batch(arcs)]
    tampered(monkeypatch, module, name, change)
    if module is surviving:  # so that what it returns is judged, not decoded again
        monkeypatch.setattr(tree_batches, "by_all_arcs", lambda *given: None)
    try:
        batch = list(decoder.decode_batch(arcs))
    except DecodersError:
        return
    wrong = 0
    for score, one in zip(best, batch, strict=True):
        if one.certificate.score < score - 1e-6:
            assert not one.certificate.is_optimal
            wrong += 1
    # what has no proof after the first two is decoded again
    assert wrong or change in (worse_favourites, worse_by_contraction, lower_duals)


@pytest.mark.parametrize("change", [worse_by_chart, lower_charts, fewer_survivors])
def test_what_survivors_do_not_prove_is_decoded_again(monkeypatch, change):
    rng = np.random.default_rng(3)
    arcs = [3 * rng.normal(size=(6, 6)) for _ in range(40)]
    best = [one.certificate.score for one in Eisner().decode_batch(arcs)]
    tampered(monkeypatch, surviving, "surviving_charts", change)
    for score, one in zip(best, Eisner().decode_batch(arcs), strict=True):
        assert one.certificate.is_optimal and one.certificate.score == pytest.approx(score)


@pytest.mark.parametrize(
    "masks", [[1e9], [1e12], [1e16], [1e20], [1e9, 1e12, 1e20], [1e6, np.inf]]
)
def test_low_masks_as_one_by_one(masks):
    rng = np.random.default_rng(6)
    given, single = [], []
    while len(given) < 800:
        size = int(rng.integers(3, 7))
        arcs = rng.integers(-99, 99, size=(size, size)) / 10
        masked = rng.random(arcs.shape) < 0.7
        arcs = np.where(masked, -rng.choice(masks, size=arcs.shape), arcs)
        try:
            single.append(Eisner().decode(TreeProblem(arcs)).certificate)
        except InfeasibleError:  # only with arcs of -inf
            continue
        given.append(arcs)
    for one, other in zip(single, Eisner().decode_batch(given).certificates, strict=True):
        assert other.status == one.status == "optimal"
        assert other.score == pytest.approx(one.score, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_real_scores_as_one_by_one(decoder, scale):
    """Longer sentences, whose best heads are trees or nearly so; some arcs masked, some tied."""
    rng = np.random.default_rng(5)
    projective = isinstance(decoder, Eisner)
    given = []
    for _ in range(60):
        size = int(rng.integers(8, 40))
        arcs = np.round(rng.normal(size=(size, size)) * 2, 1)
        arcs += 4 * (np.abs(np.subtract.outer(np.arange(size), np.arange(size))) < 4)
        arcs[0] -= 3
        arcs[rng.random(size=(size, size)) < 0.02] = -1e9
        given.append(arcs * scale)
    for arcs, one in zip(given, decoder.decode_batch(given), strict=True):
        single = decoder.decode(TreeProblem(arcs, projective=projective)).certificate
        assert one.certificate.is_optimal and single.is_optimal
        assert one.certificate.score == pytest.approx(single.score, abs=1e-6 * scale)


@pytest.mark.parametrize("decoder", DECODERS)
def test_solutions_are_made_when_they_are_asked_for(decoder):
    first, second = decoder.decode_batch([np.eye(3, k=1), np.zeros((2, 2))])
    assert first.starts is None and second.certificate.is_optimal
    assert pickle.loads(pickle.dumps(first)).heads.tolist() == first.heads.tolist() == [0, 1]
    assert type(first) is type(second) is TreeSolution
    with pytest.raises(AttributeError, match="head"):
        _ = decoder.decode_batch([np.zeros((2, 2))])[0].head


@pytest.mark.parametrize(("decoder", "projective"), [(Eisner(), True), (ChuLiuEdmonds(), False)])
def test_arrays_beside_problems_with_rules(decoder, projective):
    arcs = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 1.0], [0.0, 2.0, 0.0]])
    ruled = TreeProblem(arcs, projective=projective, rules=[Roots([1])])
    first, second = decoder.decode_batch([arcs, ruled])
    assert (first.heads.tolist(), second.heads.tolist()) == ([2, 0], [0, 1])
