"""The list of solutions whose items are made when first asked for."""

from __future__ import annotations

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from threading import Barrier

import numpy as np
import pytest

from spacy_decoders.certificate import Certificate
from spacy_decoders.decoders.chain import ChainModel, ChainSolution, ChainSolutions, Viterbi


def batch(sentences: int = 3, **scales: np.ndarray) -> ChainSolutions:
    """Sentences of two tokens: the first is not optimal."""
    scores = np.arange(sentences, dtype=np.float64)
    bounds, tolerances = scores.copy(), np.full(sentences, 1e-9)
    bounds[0] += 1.0
    labels = np.arange(2 * sentences, dtype=np.int32)
    offsets = np.arange(0, 2 * sentences + 1, 2)
    iterations = np.ones(sentences, dtype=np.int64)
    return ChainSolutions("X", labels, offsets, scores, bounds, tolerances, iterations, **scales)


def test_items_are_what_the_columns_say():
    first, second, third = batch()
    assert type(second) is ChainSolution and type(second.certificate) is Certificate
    assert first.labels.tolist() == [0, 1] and third.labels.tolist() == [4, 5]
    assert first.certificate == Certificate.from_bound("X", 0.0, 1.0, tolerance=1e-9, iterations=1)
    assert second.certificate == Certificate.from_bound(
        "X", 1.0, 1.0, tolerance=1e-9, iterations=1
    )


def test_four_threads_see_the_whole_list():
    sentences, threads = 500, 4
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(threads) as pool:
            for _ in range(50):
                solutions, barrier = batch(sentences), Barrier(threads)

                def read(solutions=solutions, barrier=barrier):
                    barrier.wait()
                    return list(solutions)

                seen = [task.result() for task in [pool.submit(read) for _ in range(threads)]]
                assert [len(items) for items in seen] == [sentences] * threads
                # the same objects for all
                assert all(
                    mine is other
                    for items in seen[1:]
                    for mine, other in zip(seen[0], items, strict=True)
                )
    finally:
        sys.setswitchinterval(switching)


def test_a_failure_while_items_are_made_leaves_the_list_as_it_was(monkeypatch):
    solutions = batch()
    with monkeypatch.context() as patched:
        patched.setattr(Certificate, "from_bounds", lambda *_: [][0])
        with pytest.raises(IndexError):
            list(solutions)
    assert len(list(solutions)) == len(solutions) == 3


def test_scales_limit_the_tolerance():
    large = np.array([0.0, 1e6, 0.0])
    solutions = batch(scales=large)
    solutions.tolerances[:] = 1e-3
    solutions.bounds[:] = solutions.scores + 5e-4
    found = [(s.certificate.status, s.certificate.tolerance) for s in solutions]
    assert found == [("bounded", 1e-6), ("optimal", 1e-3), ("bounded", 1e-6)]


def test_without_scales_the_score_is_the_scale():
    solutions = batch()
    solutions.tolerances[:] = 1.0
    assert [s.certificate.tolerance for s in solutions] == [1e-6, 2e-6, 3e-6]


def test_items_are_frozen_and_travel():
    solutions = Viterbi().decode_batch(ChainModel([[1, 0], [0, 1]]), np.eye(2), [1, 1])
    for made in (
        pickle.loads(pickle.dumps(solutions)),
        copy.deepcopy(solutions),
        list(map(copy.copy, solutions)),
        [replace(solution) for solution in solutions],
    ):
        for one, other in zip(made, solutions, strict=True):
            assert np.array_equal(one.labels, other.labels)
            assert one.certificate == other.certificate
            assert hash(one.certificate) == hash(other.certificate)
    with pytest.raises(FrozenInstanceError):
        solutions[0].labels = None
    with pytest.raises(FrozenInstanceError):
        solutions[0].certificate.score = 1.0
