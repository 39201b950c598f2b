"""State-space relaxations bound every path, whatever is remembered, and with all of it exactly."""

import numpy as np
import pytest

from spacy_decoders.budget import UNLIMITED
from spacy_decoders.decoders.path.kernels.graph import Prices
from spacy_decoders.decoders.path.kernels.proof import most_beyond
from spacy_decoders.decoders.path.kernels.walks import walk_bounds
from spacy_decoders.decoders.path.state_space import ClassMemory, relaxed_walks
from spacy_decoders.decoders.path.state_space_proof import VertexMemory, state_space_bound
from spacy_decoders.decoders.path.work import Work
from tests.decoders.path.problems import small_problems, truth


def some_prices(rng, problem):
    by_class = rng.random(problem.class_count)
    return Prices(by_class[problem.dense_classes], float(by_class.sum()))


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("remembered", ["nothing", "something", "everything"])
def test_bounds_of_both_hold(remembered, backward):
    rng = np.random.default_rng(0)
    for problem, length in small_problems(150, seed=6):
        if length > problem.class_count:
            continue
        best = max((score for score, _ in truth(problem, length)), default=-np.inf)
        prices = some_prices(rng, problem)
        memory = ClassMemory(problem)
        if remembered == "everything":
            memory.remember_all()
        elif remembered == "something":
            for number in rng.permutation(problem.class_count)[:3]:
                memory.remember(int(number), rng.random(problem.size) < 0.5)
        ways = (problem.start, problem.edges, problem.end)
        back = (problem.end, problem.reversed_edges, problem.start)
        first, edges, last = back if backward else ways
        onward = problem.edges if backward else problem.reversed_edges
        exact = remembered == "everything"

        rest = walk_bounds(onward, last, prices.vertex, length - 1)
        options = {"backward": backward, "work": Work(UNLIMITED.start()), "label_limit": 10_000}
        found = relaxed_walks(problem, memory, rest, prices, -np.inf, **options, refund=exact)
        check(found.value, best, exact=exact)

        bits = memory.bits.bit[problem.dense_classes]
        own = np.zeros((problem.size, 2), dtype=np.uint64)
        own[bits >= 0, 0] = np.uint64(1) << bits[bits >= 0].astype(np.uint64)
        seen = VertexMemory(own, np.stack([memory.bits.low, memory.bits.high], axis=1))
        beyond = most_beyond(onward, last, prices.vertex, length)
        given = (first, edges, last, seen, beyond, prices, -np.inf, UNLIMITED.start())
        check(state_space_bound(*given).most, best, exact=exact)


def check(bound, best, *, exact):
    assert bound >= best - 1e-9
    if exact:
        assert bound == pytest.approx(best, abs=1e-9)


def test_cycles_of_a_walk_are_forbidden():
    for problem, _ in small_problems(100, seed=7):
        walk = np.array([0, problem.size - 1, 0], dtype=np.int32)
        memory = ClassMemory(problem)
        assert memory.forbid_cycles(walk, everywhere=0)
        again = int(problem.dense_classes[0])
        assert memory.bits.bit[again] >= 0
        remembers = memory.bits.low >> np.uint64(memory.bits.bit[again]) & np.uint64(1)
        assert remembers[walk].all()
        assert not ClassMemory(problem).forbid_cycles(walk[:1], everywhere=0)
