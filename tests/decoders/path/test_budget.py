"""That every path decoder keeps its budget: run with ``-m timing`` on a machine at rest."""

from time import perf_counter

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders.path import Beam, ColorCoding, ExactPath, IntegerProgram, PathProblem

DECODERS = {
    "ExactPath": ExactPath(),
    "Beam": Beam(80),
    "wide Beam": Beam(100_000, lookahead=True),
    "ColorCoding": ColorCoding(colors=14),
    "flow": IntegerProgram(formulation="flow"),
    "time-expanded": IntegerProgram(formulation="time_expanded"),
    "flow, HiGHS": IntegerProgram("HIGHS", "flow"),
}


@pytest.mark.timing
@pytest.mark.parametrize("seconds", [0.1, 1.0])
@pytest.mark.parametrize("classes", [12, 400])
@pytest.mark.parametrize("name", DECODERS)
def test_the_budget_is_kept(name, classes, seconds):
    drawn = np.random.default_rng(0).random((400, 400))
    nothing = np.zeros(400)
    problem = PathProblem(nothing, drawn + drawn.T, nothing, np.arange(400) % classes)
    decoder = DECODERS[name]
    decoder.decode(problem, 12, budget=Budget(seconds=0.01))  # compiles
    taken = []
    for _ in range(3):  # the least tells what is the decoder's own, and not another program's
        begin = perf_counter()
        solution = decoder.decode(problem, 12, budget=Budget(seconds=seconds))
        taken.append(perf_counter() - begin)
        assert len(solution.vertices) == 12
    assert min(taken) <= 1.2 * seconds + 0.05
