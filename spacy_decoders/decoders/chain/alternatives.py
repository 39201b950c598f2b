"""The k best labellings of a chain, and the max-marginal margin of each label."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats32, checked_type, checked_whole, read_only, refuse_beyond_memory
from ...budget import UNLIMITED, Budget, Clock
from ...errors import DecodersError
from .decoder import OVERTIME, lacks_time, solve_in_slices
from .forward_dominance import ForwardDominance
from .kernels import lattice
from .kernels.layout import UP64
from .problem import ChainModel, Sentences
from .proof import certified
from .solutions import ChainSolution

__all__ = ["best_paths", "k_best", "max_marginal_margins"]

#: Seconds on a slow machine: to rank a pair of labels of adjacent tokens, for each labelling that
#: may have to be moved when another one is ranked, and to certify one.
PAIR, MOVE, LABELLING = 4e-9, 5e-9, 5e-5

#: The largest error of a margin, relative to 1 plus the scale of the best labelling.
EXACT = 1e-9


def k_best(
    model: ChainModel, emissions: ArrayLike, k: int, *, budget: Budget = UNLIMITED
) -> list[ChainSolution]:
    """Return the `k` best labellings, best first, all distinct; fewer if there are fewer.

    Exact in float64: two labellings whose scores differ by less than a billionth of 1 plus the sum
    of the absolute scores of either's parts may be in either order. Every certificate has the
    bound on the best labelling: the first is optimal, and the gap of the others is how far they
    fall short of it.

    Parameters
    ----------
    emissions
        **Shape (n, L)**.
    k
        At least 1.
    budget
        When to stop: then only the best labelling is returned, or, if even that takes too long,
        the result of :meth:`.ChainDecoder.decode`.

    Raises
    ------
    ProblemError
        If a shape is wrong, a score is NaN or ``+inf``, or `k` is not a positive whole number.
    InfeasibleError
        If no labelling is legal.

    Notes
    -----
    Changing the label of one token loses some score; the k-th best labelling loses no more than
    the (k - 1)-th smallest of these losses. Forward dominance with that slack keeps all labels of
    the k best labellings. Among these labels, every labelling but the best deviates from a better
    one at a single token, preceded by the best prefix, so the work is linear in `k` (Lawler 1972).

    Examples
    --------
    >>> model = ChainModel([[1, 0], [0, 1]])
    >>> for solution in k_best(model, [[3, 0], [0, 1.5]], 3):
    ...     print(solution.labels, solution.certificate.score, solution.certificate.status)
    [0 1] 4.5 optimal
    [0 0] 4.0 bounded
    [1 1] 2.5 bounded
    """
    clock, k = checked_type("budget", budget, Budget).start(), checked_whole("k", k, low=1)
    sentence = Sentences.of(model, emissions)
    if lacks_time(model, sentence, budget):
        return [solve_in_slices("ForwardDominance", model, sentence, clock)]
    return best_paths(model, sentence, k, clock)


def best_paths(
    model: ChainModel, sentence: Sentences, k: int, clock: Clock | None = None
) -> list[ChainSolution]:
    """Return the k best labellings of one validated sentence, or the best for lack of time."""
    clock = clock or UNLIMITED.start()
    best = ForwardDominance().solve(model, sentence)
    if not math.isfinite(best.scores[0]):
        raise DecodersError("k best labellings: the compiled code found no legal labelling.")
    n = len(sentence.emissions)
    if not n:
        return [best[0]]
    k = min(k, model.size ** min(n, 40))
    refuse_beyond_memory("k", f"{k:,} labellings", k * (12 * n + 48), "ask for fewer")
    left = max(OVERTIME / 2, clock.seconds_left) - k * (k * MOVE + LABELLING)
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
        k,
        left / PAIR,
    )
    if not len(paths) and left < math.inf:
        return [best[0]]
    distinct = len({path.tobytes() for path in paths})
    if distinct < k and distinct < legal_up_to(model, sentence, k):
        raise DecodersError(f"k best labellings: found only {distinct}, though there are more.")
    scored = [sentence.scores_of(model, path)[0].tolist() for path in paths]
    return [
        certified("ForwardDominance", path, score, scale, float(best.bounds[0]))
        for path, (score, scale) in zip(paths, scored, strict=True)
    ]


def legal_up_to(model: ChainModel, sentence: Sentences, k: int) -> float:
    """Return the number of legal labellings, at most `k`."""
    steps = (model.transitions > -np.inf).astype(np.float64)
    counts = (model.start > -np.inf).astype(np.float64)
    for i, row in enumerate(sentence.emissions):
        counts = np.minimum(counts @ steps if i else counts, k) * (row > -np.inf)
    return min(float(counts @ (model.end > -np.inf)), k)


def max_marginal_margins(
    model: ChainModel, emissions: ArrayLike, lengths: ArrayLike | None = None
) -> Floats32:
    """Return for each token how much less the best labelling with another label there scores.

    Parameters
    ----------
    emissions
        **Shape (n, L)**, of one sentence or of several, concatenated.
    lengths
        **Shape (sentences,)**: the number of tokens of each sentence; None for one sentence.

    Returns
    -------
    **Shape (n,)**, float32, at least 0: 0 if another label is as good, ``inf`` if
    no legal labelling has another label at that token, NaN if it is not proven: because the best
    labelling is not, or because scores such as 1e30 leave sums too few digits.
    Computed in float64, exact to ``1e-9 * (1 + scale)``, where `scale` is the sum of the absolute
    scores of the best labelling's parts, and then rounded to float32.

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
    proven = np.abs(best.bounds - best.scores) < best.tolerances  # False for NaN and inf
    tokens = np.diff(sentences.offsets)
    rounding = 2.0 * (tokens + 2) * UP64 * sentences.most_gained(model)
    unsure = np.repeat(rounding > EXACT * (1.0 + best.scales), tokens) & (margins < np.inf)
    margins[unsure | ~np.repeat(proven, tokens)] = np.nan
    return read_only(margins.astype(np.float32))
