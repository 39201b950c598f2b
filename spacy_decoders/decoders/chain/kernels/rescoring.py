"""Scores of labellings, summed in float64."""

import numpy as np

from ....jit import jit

__all__ = ["path_scores"]


@jit()
def path_scores(transitions, start, end, emissions, offsets, labels):
    """Return (score, sum of absolute terms) of the labelling of each sentence, in float64.

    A score is NaN if a label is out of range.

    **Shape**: transitions (L, L), start and end (L,) and emissions (total, L), float32 or float64,
    possibly padded; offsets int64 (sentences + 1,); labels int32 (total,); returns float64
    (sentences, 2).
    """
    totals = np.zeros((len(offsets) - 1, 2))
    for s in range(len(offsets) - 1):
        begin, stop = offsets[s], offsets[s + 1]
        score = size = 0.0
        for i in range(begin, stop):
            y = labels[i]
            if not 0 <= y < len(end):
                score = np.nan
                break
            link = start[y] if i == begin else transitions[labels[i - 1], y]
            score += np.float64(link) + np.float64(emissions[i, y])
            size += abs(np.float64(link)) + abs(np.float64(emissions[i, y]))
        if stop > begin and score == score:
            last = np.float64(end[labels[stop - 1]])
            score += last
            size += abs(last)
        totals[s, 0] = score
        totals[s, 1] = size
    return totals
