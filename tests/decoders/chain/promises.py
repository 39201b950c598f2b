"""What chain decoders promise, and random problems to break it on: see `tests/fuzz.py`."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from spacy_decoders.decoders import chain as core
from spacy_decoders.errors import InfeasibleError
from spacy_decoders.verify import verify
from tests.decoders.claims import check_claim

from .judge import NEVER, ONE, Chain, Judge, Labelling

__all__ = ["DECODERS", "check", "problems"]

DECODERS: dict[str, core.ChainDecoder] = {
    "Viterbi": core.Viterbi(),
    "PrunedViterbi": core.PrunedViterbi(),
    "ForwardDominance": core.ForwardDominance(),
    "ColumnGeneration both": core.ColumnGeneration(),
    "ColumnGeneration left": core.ColumnGeneration(reduced_cost="left"),
    "ColumnGeneration split": core.ColumnGeneration(reduced_cost="split"),
    "Beam 1": core.Beam(1),
    "Beam 3": core.Beam(3),
}

#: Half a unit in the last place of float64 and of float32.
UNIT64, UNIT32 = 2.0**-53, 2.0**-24

# --- problems ----------------------------------------------------------------

MASKS = [-1e4, -1e5, -1e7, -1e9, -1e12, -1e15, -1e20, -1e30]

#: What the scores of one array are drawn from.
POOLS = {
    "zero": st.just(0.0),
    "whole": st.integers(-2, 2).map(float),
    "plain": st.floats(-10, 10, width=32),
    "repeated": st.sampled_from([0.0, 0.1, 0.3, -0.7, 1e-3]),
    "any size": st.builds(
        lambda factor, exponent: factor * 10.0**exponent,
        st.sampled_from([-1.0, 1.0, 3.0]),
        st.integers(-20, 20),
    ),
    "denormal": st.integers(-9, 9).map(lambda times: times * 2.0**-149),
    "large": st.floats(65536, 1048576, width=32),
}
#: What is sprinkled among them.
SPRINKLES = {
    "nothing": None,
    "masks": st.sampled_from(MASKS),
    "one mask": st.just(-1e9),
    "forbidden": st.just(NEVER),
    "both": st.sampled_from([*MASKS, *[NEVER] * 4]),
}
#: The same for arrays too large to draw number by number.
STYLES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "zero": lambda rng, shape: np.zeros(shape),
    "whole": lambda rng, shape: rng.integers(-2, 3, shape).astype(float),
    "plain": lambda rng, shape: rng.normal(size=shape),
    "peaked": lambda rng, shape: 10 * rng.normal(size=shape),
    "repeated": lambda rng, shape: rng.normal(size=shape).round(1),
    "any size": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-9, 9, shape),
}
#: Numbers of labels about what the kernels' vectors and words hold.
SIZES = [5, 8, 9, 16, 17, 63, 64, 65, 127, 128, 129]


@st.composite
def scores(draw: st.DrawFn, *shape: int) -> np.ndarray:
    """Draw an array: most of it from one pool."""
    values = POOLS[draw(st.sampled_from(list(POOLS)))]
    sprinkle = SPRINKLES[draw(st.sampled_from(list(SPRINKLES)))]
    if sprinkle is not None:
        values = st.one_of(values, values, sprinkle)
    count = math.prod(shape)
    drawn = draw(st.lists(values, min_size=count, max_size=count))
    return np.array(drawn, dtype=np.float32).reshape(shape)


@st.composite
def many_scores(draw: st.DrawFn, *shape: int) -> np.ndarray:
    """Draw an array by its style, the shares of masks and ``-inf``, and a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = STYLES[draw(st.sampled_from(list(STYLES)))](rng, shape).astype(np.float32)
    shares = st.sampled_from([0.0, 0.0, 0.02, 0.3, 0.9])
    values[rng.random(shape) < draw(shares)] = draw(st.sampled_from(MASKS))
    values[rng.random(shape) < draw(shares)] = NEVER
    return values


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    """Draw a chain: mostly one of at most 1,024 labellings, else one of many labels, or long."""
    few = st.integers(1, 4)
    size = draw(st.one_of(few, few, st.sampled_from(SIZES)))
    n = draw(st.integers(1, 6 if size < 4 else 5))
    if size in (3, 9, 17) and draw(st.booleans()):
        n = draw(st.integers(7, 40))
    array = scores if size <= 4 and n <= 6 else many_scores
    start, end = (draw(st.one_of(st.none(), array(size), array(size))) for _ in range(2))
    return Chain(draw(array(size, size)), start, end, draw(array(n, size)))


problems = chains()

# --- promises ----------------------------------------------------------------


def check(chain: Chain) -> Counter[str]:
    """Run everything that chains can be asked; raise where a promise is broken."""
    judge, model = Judge(chain), core.ChainModel(*chain[:3])
    met: Counter[str] = Counter()
    if judge.best.score == NEVER:
        refused = [infeasible(ask) for ask in questions(model, chain.emissions)]
        assert all(refused), refused
        assert core.log_partition(model, chain.emissions) == NEVER
        return Counter({"infeasible": 1})
    for name, decoder in DECODERS.items():
        solution = decoder.decode(model, chain.emissions)
        check_solution(judge, judge.best, solution)
        assert verify((model, chain.emissions), solution).outcome != "refuted"
        check_batch(decoder, model, chain.emissions, solution)
        met[f"{name} {solution.certificate.status}"] += 1
    met += check_ranking(judge, model, chain.emissions)
    met += check_rivals(judge, model, chain.emissions)
    check_margins(judge, model, chain.emissions)
    check_expectations(judge, model, chain.emissions)
    return met


def questions(model: core.ChainModel, emissions: np.ndarray) -> list[Callable[[], Any]]:
    """Return all that can be asked of a chain and must find no labelling if there is none."""
    n = len(emissions)
    return [
        *(lambda ask=decoder.decode: ask(model, emissions) for decoder in DECODERS.values()),
        lambda: core.k_best(model, emissions, 2),
        lambda: core.max_marginal_margins(model, emissions),
        lambda: core.zero_one_oracle(model, emissions, [0] * n),
        lambda: core.forward_backward(model, emissions, [n]),
        lambda: core.marginals(model, emissions),
    ]


def infeasible(ask: Callable[[], Any]) -> bool:
    """Whether an answer is refused because no labelling is legal."""
    try:
        ask()
    except InfeasibleError:
        return True
    return False


def check_solution(judge: Judge, best: Labelling, solution: core.ChainSolution) -> Labelling:
    """Check a labelling and its certificate; `best` is the best that it might have been."""
    assert solution.labels.dtype == np.int32 and solution.labels.shape == (judge.n,)
    found, claim = judge.labelling(tuple(solution.labels.tolist())), solution.certificate
    assert found.score > NEVER, f"{found.labels} is forbidden"
    scale, size = found.scale / ONE, len(judge.start)
    assert size > max(found.labels) and min(found.labels) >= 0
    rounding = 2 * (judge.n + 1) * UNIT64 * scale
    own, of_best = Fraction(found.score, ONE), Fraction(best.score, ONE)
    check_claim(claim, own, of_best, scale, rounding=rounding)
    return found


def check_batch(
    decoder: core.ChainDecoder, model: core.ChainModel, emissions: np.ndarray, single: Any
) -> None:
    """Check that a sentence is decoded in a batch as it is alone."""
    n = len(emissions)
    lengths = [n, 0, n, n, n, n]
    batch = decoder.decode_batch(model, np.tile(emissions, (5, 1)), lengths)
    for length, solution in zip(lengths, batch, strict=True):
        if length:
            assert solution.labels.tolist() == single.labels.tolist()
            assert solution.certificate == single.certificate
        else:
            assert not len(solution.labels) and solution.certificate.score == 0.0


def check_ranking(judge: Judge, model: core.ChainModel, emissions: np.ndarray) -> Counter[str]:
    """Check that the best few are distinct, the best, best first, and all if all are asked."""
    met: Counter[str] = Counter()
    for k in (1, 2, 7, 2000) if judge.every is not None else (2,):
        solutions = core.k_best(model, emissions, k)
        ranked = [check_solution(judge, judge.best, solution) for solution in solutions]
        assert len({labelling.labels for labelling in ranked}) == len(ranked)
        for first, second in pairwise(ranked):
            slack = 4 * (judge.n + 1) * UNIT64 * max(first.scale, second.scale) / ONE
            assert second.score - first.score <= exact(slack), (first, second)
        every = judge.every
        if every is None:
            second = judge.best_but(ranked[0].labels)
            every = [judge.best, second][: 1 + (second.score > NEVER)]
        assert len(ranked) == min(k, len(every))
        # where large scores cancel, float64 can't tell a labelling's place among small ones
        rounding = 4 * (judge.n + 1) * UNIT64 / ONE
        least = min(one.tolerance for one in every[:k])
        plain = [
            [one for one in many if rounding * one.scale <= least] for many in (ranked, every)
        ]
        for mine, true in zip(*plain, strict=False):
            assert abs(true.score - mine.score) <= exact(mine.tolerance), (mine, true)
        met.update(f"k_best {solution.certificate.status}" for solution in solutions[:1])
        assert all(
            verify((model, emissions), solution).outcome != "refuted" for solution in solutions[:5]
        )
    return met


def check_rivals(judge: Judge, model: core.ChainModel, emissions: np.ndarray) -> Counter[str]:
    """Check the best labelling that is not the one to avoid."""
    met: Counter[str] = Counter()
    winner = tuple(core.Viterbi().decode(model, emissions).labels.tolist())
    for gold in (winner, (0,) * judge.n):
        best = judge.best_but(gold)
        try:
            solution = core.zero_one_oracle(model, emissions, gold)
        except InfeasibleError:
            assert best.score == NEVER
            met["zero_one_oracle infeasible"] += 1
            continue
        found = check_solution(judge, best, solution)
        assert found.labels != gold
        met[f"zero_one_oracle {solution.certificate.status}"] += 1
    return met


def check_margins(judge: Judge, model: core.ChainModel, emissions: np.ndarray) -> None:
    """Check by how much each token's label wins, to a tolerance of the answer's own scale."""
    for i, margin in enumerate(core.max_marginal_margins(model, emissions).tolist()):
        with_label = judge.with_label[i]
        label = max(range(len(with_label)), key=lambda y: with_label[y].score)
        best, other = with_label[label], judge.best_without(i, label)
        if other.score == NEVER:
            assert margin == math.inf
            continue
        if math.isnan(margin):
            scores = (emissions, model.transitions, model.start, model.end)
            assert max(map(np.max, scores)) > 1e4, "sums have digits enough"
            continue
        true = (best.score - other.score) / ONE
        slack = best.tolerance + other.tolerance
        assert margin >= 0.0 and abs(margin - true) <= slack, (i, margin, true)


def check_expectations(judge: Judge, model: core.ChainModel, emissions: np.ndarray) -> None:
    """Check that marginals are a distribution, and right as far as they claim to be."""
    n, size = emissions.shape
    found = core.forward_backward(model, emissions, [n])
    assert (found.marginals >= 0.0).all()
    close(found.marginals.sum(axis=1, dtype=np.float64), np.ones(n), 1e-5)
    close(found.start, found.marginals[0], 1e-6)
    close(found.end, found.marginals[-1], 1e-6)
    close(found.transitions.sum(axis=0), found.marginals[1:].sum(axis=0), 1e-5)
    close(found.transitions.sum(axis=1), found.marginals[:-1].sum(axis=0), 1e-5)
    if judge.every is None:
        return
    shares = [math.exp((one.score - judge.best.score) / ONE) for one in judge.every]
    total = math.fsum(shares)
    # what is less likely than this has no say
    noticed = [one.scale for one, share in zip(judge.every, shares, strict=True) if share > 1e-9]
    error = n * (1.0 + max(noticed) / ONE) * 2.0**-50
    evidence = judge.best.score / ONE + math.log(total)
    assert abs(found.log_partitions[0] - evidence) <= 1e-7 + error
    assert core.log_partition(model, emissions) == found.log_partitions[0]
    if error > 1e-3:
        return
    wanted, pairs = np.zeros((n, size)), np.zeros((size, size))
    for one, share in zip(judge.every, shares, strict=True):
        wanted[range(n), one.labels] += share / total
        np.add.at(pairs, (one.labels[:-1], one.labels[1:]), share / total)
    close(found.marginals, wanted, 4 * UNIT32 + error)
    close(found.transitions, pairs, 1e-9 + n * error)
    close(core.marginals(model, emissions), found.marginals, 0.0)


def close(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert np.abs(found - wanted).max(initial=0.0) <= tolerance, (found, wanted)


def exact(number: float) -> Fraction:
    """Return a float in the judge's unit."""
    return Fraction(number) * ONE
