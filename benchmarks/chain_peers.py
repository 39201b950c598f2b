"""What the chain decoders are measured against: plain loops, and other people's programs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numba import njit

__all__ = [
    "crfsuite_tagger",
    "optimal_scores",
    "plain_viterbi",
]


@njit(cache=True)
def plain_viterbi(transitions, start, end, emissions, lengths):
    """Viterbi as the textbook has it: one score at a time, back pointers, no tricks."""
    size = len(start)
    labels = np.zeros(len(emissions), np.int32)
    begin = 0
    for n in lengths:
        score = np.zeros((n, size), np.float32)
        back = np.zeros((n, size), np.int32)
        for y in range(size):
            score[0, y] = start[y] + emissions[begin, y]
        for i in range(1, n):
            for y in range(size):
                best, origin = -np.inf, 0
                for x in range(size):
                    worth = score[i - 1, x] + transitions[x, y]
                    if worth > best:
                        best, origin = worth, x
                score[i, y] = best + emissions[begin + i, y]
                back[i, y] = origin
        if n:
            for y in range(size):
                score[n - 1, y] += end[y]
            y = np.argmax(score[n - 1])
            for i in range(n - 1, -1, -1):
                labels[begin + i] = y
                y = back[i, y]
        begin += n
    return labels


@njit(cache=True)
def optimal_scores(transitions, start, end, emissions, lengths):
    """Return the best score of each sentence, in 64 bits: the judge of exactness."""
    size = len(start)
    columns = transitions.T.copy().astype(np.float64)
    best = np.zeros(len(lengths))
    running = np.zeros(size)
    after = np.zeros(size)
    begin = 0
    for s in range(len(lengths)):
        n = lengths[s]
        for i in range(n):
            for y in range(size):
                if i == 0:
                    after[y] = start[y]
                else:
                    after[y] = (running + columns[y]).max()
                after[y] += emissions[begin + i, y]
            running[:] = after
        best[s] = (running + end).max() if n else 0.0
        begin += n
    return best


def crfsuite_tagger(size: int, lengths: list[int]) -> Callable[[], object] | None:
    """Return CRFsuite's decoding of sentences of these lengths, or None without it.

    CRFsuite cannot be given scores from outside, so it decodes a model of its own with as
    many labels. Its Viterbi is dense: it takes the same time whatever the scores. The
    emissions are set before; only decoding is in the returned function, one sentence at a
    time, and all sentences have the length nearest to their mean.
    """
    if find_spec("pycrfsuite") is None:
        return None
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"max_iterations": 1, "feature.possible_transitions": False})
    labels = [f"label{y}" for y in range(size)]
    # every label once, and every label after itself
    trainer.append([[f"word{y}"] for y in range(size)], labels)
    tagger = pycrfsuite.Tagger()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)
    mean = round(sum(lengths) / len(lengths))
    tagger.set([[f"word{i % size}"] for i in range(mean)])

    def decode() -> None:
        for _ in lengths:
            tagger.tag()

    decode.tokens = mean * len(lengths)  # type: ignore[attr-defined]
    assert len(tagger.labels()) == size
    return decode
