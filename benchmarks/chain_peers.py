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
    "two_best",
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


@njit(cache=True)
def two_best(transitions, start, end, emissions, lengths, prune):
    """Return the two best scores of each sentence, by the textbook with two scores for each
    label; with `prune`, over the labels that the bounds of equation 14 leave over.

    A label can be in one of the best two only if at most one label is surely worth more.
    """
    size = len(start)
    most_in, least_in = np.full(size, -np.inf), np.full(size, np.inf)
    most_out, least_out = np.full(size, -np.inf), np.full(size, np.inf)
    for x in range(size):
        for y in range(size):
            most_out[x] = max(most_out[x], transitions[x, y])
            least_out[x] = min(least_out[x], transitions[x, y])
            most_in[y] = max(most_in[y], transitions[x, y])
            least_in[y] = min(least_in[y], transitions[x, y])
    found = np.full((len(lengths), 2), -np.inf)
    kept = np.zeros((2, size), np.int64)
    score = np.zeros((2, size, 2), np.float32)
    begin = 0
    for s in range(len(lengths)):
        n = lengths[s]
        count = 0
        for i in range(n):
            now, before, old = i % 2, (i + 1) % 2, count
            floor, under = -np.inf, -np.inf
            if prune:
                for y in range(size):
                    sure = emissions[begin + i, y] + (start[y] if i == 0 else least_in[y])
                    sure += end[y] if i == n - 1 else least_out[y]
                    if sure > floor:
                        floor, under = sure, floor
                    elif sure > under:
                        under = sure
            count = 0
            for y in range(size):
                hope = emissions[begin + i, y] + (start[y] if i == 0 else most_in[y])
                hope += end[y] if i == n - 1 else most_out[y]
                if hope < under:
                    continue
                first, second = np.float32(-np.inf), np.float32(-np.inf)
                if i == 0:
                    first = start[y]
                for k in range(old):
                    step = transitions[kept[before, k], y]
                    for rank in range(2):
                        worth = score[before, k, rank] + step
                        if worth > first:
                            first, second = worth, first
                        elif worth > second:
                            second = worth
                kept[now, count] = y
                score[now, count, 0] = first + emissions[begin + i, y]
                score[now, count, 1] = second + emissions[begin + i, y]
                count += 1
        for k in range(count):
            for rank in range(2):
                worth = score[(n - 1) % 2, k, rank] + end[kept[(n - 1) % 2, k]]
                if worth > found[s, 0]:
                    found[s, 0], found[s, 1] = worth, found[s, 0]
                elif worth > found[s, 1]:
                    found[s, 1] = worth
        begin += n
    return found


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
