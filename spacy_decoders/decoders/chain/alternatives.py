"""What else a chain might say: the k best labellings, and by how much each label wins."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_whole, read_only
from ...budget import UNLIMITED, Budget, Clock
from ...errors import DecodersError
from .decoder import LEAST, lacks_time, solve_in_slices
from .forward_dominance import ForwardDominance
from .kernels import lattice
from .problem import ChainModel, Sentences
from .proof import SHARE, certified
from .solutions import ChainSolution

__all__ = ["best_paths", "k_best", "max_marginal_margins"]

#: Seconds for each pair of labels of neighbouring tokens that are ranked, on a slow machine.
PAIR = 4e-9


def k_best(
    model: ChainModel, emissions: ArrayLike, k: int, *, budget: Budget = UNLIMITED
) -> list[ChainSolution]:
    """Return the `k` best labellings, best first, all distinct; fewer if there are fewer.

    Exact in float64: of two labellings that differ by less than a billionth of 1 plus the sum of
    the absolute scores of either's parts, any may come first. Every certificate compares with the
    best labelling of all: the first is optimal, and the gap of the others is the difference
    between their scores and its score.

    Parameters
    ----------
    emissions
        **Shape (n, L)**.
    k
        At least 1.
    budget
        When to stop: with the best labelling alone, or where that takes too long with the best
        one so far and a bound, as of :meth:`.ChainDecoder.decode`.

    Raises
    ------
    ProblemError
        If a shape is wrong, a score is NaN or ``+inf``, or `k` is no whole number from 1 on.
    InfeasibleError
        If no labelling is legal.

    Notes
    -----
    Changing one token has a loss; the k-th best labelling loses no more than the (k - 1)-th
    smallest of these losses. Forward dominance with that slack keeps all labels of the k best
    labellings. Among those, every labelling but the best deviates from a better one at a single
    token, preceded by the best prefix: so the work is linear in `k` (Lawler 1972; in float64).

    Examples
    --------
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> for solution in k_best(model, [[3, 0], [0, 1.5]], 3):
    ...     print(solution.labels, solution.certificate.score, solution.certificate.status)
    [0 1] 4.5 optimal
    [0 0] 4.0 bounded
    [1 1] 2.5 bounded
    """
    clock, k = budget.start(), checked_whole("k", k, low=1)
    sentence = Sentences.of(model, emissions)
    if lacks_time(model, sentence, budget):
        return [solve_in_slices("ForwardDominance", model, sentence, clock)]
    return best_paths(model, sentence, k, clock)


def best_paths(
    model: ChainModel, sentence: Sentences, k: int, clock: Clock | None = None
) -> list[ChainSolution]:
    """Return the k best labellings of one validated sentence, or the best if time is lacking."""
    clock = clock or UNLIMITED.start()
    best = ForwardDominance().solve(model, sentence)
    if not math.isfinite(best.scores[0]):
        raise DecodersError("k best labellings: the first that was found is none.")
    n = len(sentence.emissions)
    if not n:
        return [best[0]]
    most = max(LEAST / 2, clock.seconds_left) / PAIR
    paths = lattice.k_best(
        model.links,
        model.padded.transposed,
        sentence.emissions.reshape(-1),
        0,
        n,
        model.size,
        best.labels,
        best.scores[0],
        best.scales[0],
        min(k, model.size ** min(n, 40)),
        SHARE,
        most,
    )
    if not len(paths) and most < math.inf:
        return [best[0]]
    distinct = len({path.tobytes() for path in paths})
    if distinct < k and distinct < legal_up_to(model, sentence, k):
        raise DecodersError(f"k best labellings: only {distinct} were found of more.")
    scored = [sentence.scores_of(model, path)[0].tolist() for path in paths]
    return [
        certified("ForwardDominance", path, score, scale, float(best.bounds[0]))
        for path, (score, scale) in zip(paths, scored, strict=True)
    ]


def legal_up_to(model: ChainModel, sentence: Sentences, k: int) -> float:
    """Return how many labellings are legal, at most `k`."""
    steps = (model.transitions > -np.inf).astype(np.float64)
    counts = (model.start_scores > -np.inf).astype(np.float64)
    for i, row in enumerate(sentence.emissions):
        counts = np.minimum(counts @ steps if i else counts, k) * (row > -np.inf)
    return min(float(counts @ (model.end_scores > -np.inf)), k)


def max_marginal_margins(
    model: ChainModel, emissions: ArrayLike, lengths: ArrayLike | None = None
) -> NDArray[np.float32]:
    """Return how much worse the best labelling with another label at each token is.

    Parameters
    ----------
    emissions
        **Shape (n, L)**, or of several sentences laid end to end.
    lengths
        **Shape (sentences,)**: tokens of each sentence; None for one sentence.

    Returns
    -------
    **Shape (n,)**, float32, not negative: 0 where another labelling is as good, ``inf`` where no
    legal labelling has another label at that token, NaN where the best labelling is not proven.
    Computed in float64: exact to ``1e-9 * (1 + scale)``, for the sum of the absolute scores of
    the best labelling's parts, and then rounded to float32.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN or ``+inf``.
    InfeasibleError
        If a sentence has no legal labelling.

    Examples
    --------
    >>> max_marginal_margins(ChainModel([[1, 0], [0, 1]]), [[3, 0], [0, 1.5]])
    array([2. , 0.5], dtype=float32)
    """
    sentences = Sentences.of(model, emissions, lengths)
    best = ForwardDominance().solve(model, sentences)
    given = model.links, model.padded.transposed, sentences.emissions.reshape(-1)
    margins = lattice.margins(*given, sentences.offsets, model.size, best.labels)
    proven = np.abs(best.bounds - best.scores) < best.tolerances  # false of NaN and inf, too
    if not proven.all():
        margins[~np.repeat(proven, np.diff(sentences.offsets))] = np.nan
    return read_only(margins.astype(np.float32))
