"""From labellings to certificates: scores and independent bounds, and their comparison."""

from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, Integers, Integers32, read_only
from ...certificate import PROOF_TOLERANCE, Certificate, tolerance_of
from .kernels import dense, dual
from .kernels.layout import LANES
from .problem import ChainModel, Sentences
from .solutions import ChainSolution, ChainSolutions

__all__ = [
    "Evidence",
    "certified",
    "certify",
    "decode_densely",
    "decode_exactly",
    "proof_of",
    "proven",
]


class Evidence(NamedTuple):
    """Scores, scales (sums of absolute terms) and bounds: each **shape (sentences,)**."""

    scores: Floats
    scales: Floats
    bounds: Floats


def certified(
    decoder: str, labels: Integers32, score: float, scale: float, bound: float, iterations: int = 1
) -> ChainSolution:
    """Return one labelling with the certificate that compares its score with a bound."""
    certificate = Certificate.from_bound(
        decoder,
        score,
        bound,
        tolerance=tolerance_of(scale),
        scale=scale,
        iterations=iterations,
    )
    return ChainSolution(read_only(labels), certificate)


def proven(decoder: str, labels: Integers32, proof: Evidence) -> ChainSolution | None:
    """Return one labelling with its certificate if the proof shows that it is optimal."""
    score, scale, bound = (float(column[0]) for column in proof)
    if not abs(bound - score) <= tolerance_of(scale):
        return None
    return certified(decoder, labels, score, scale, bound)


def proof_of(model: ChainModel, sentences: Sentences, labels: Integers32) -> Evidence:
    """Return the scores of labellings, and upper bounds on the best ones, from the right."""
    scores, scales = sentences.scores_of(model, labels).T
    if model.size <= LANES:
        bounds = np.empty(len(sentences))
        bound_over_all(model, sentences, np.arange(len(sentences)), bounds)
    else:
        tables, emissions = model.reversed_links, sentences.emissions.reshape(-1)
        bounds = dual.bounds(tables, emissions, sentences.offsets, model.size, labels)
    return Evidence(scores, scales, bounds)


def certify(
    decoder: str,
    model: ChainModel,
    sentences: Sentences,
    labels: Integers32,
    proof: Evidence | None = None,
    *,
    repair: bool = True,
    iterations: Integers | None = None,
) -> ChainSolutions:
    """Score labellings, bound the best ones by an independent proof, and compare.

    The labels, int32 **(total,)**, are those of any kernel, legal or not. With `repair`, for exact
    decoders, a labelling that does not attain its bound is decoded again, in float64 and over all
    labels. `iterations`, **shape (sentences,)**, are the method's; None for 1 each.

    Raises `InfeasibleError` if a sentence has no legal labelling.
    """
    scores, scales, bounds = proof or proof_of(model, sentences, labels)
    # `tolerance_of` each scale: the rounding error over 10,000 tokens is a hundredth of it
    tolerances = PROOF_TOLERANCE * (1.0 + scales)
    # also true for NaN, and for the -inf of a forbidden labelling
    unproven = (~((bounds - scores <= tolerances) & (tolerances < np.inf))).nonzero()[0]
    if len(unproven):
        if repair:
            decode_exactly(model, sentences, unproven, labels)
            scores, scales = sentences.scores_of(model, labels).T
            tolerances = PROOF_TOLERANCE * (1.0 + scales)
        bound_over_all(model, sentences, unproven, bounds)
    if iterations is None:
        iterations = np.ones(len(sentences), dtype=np.int64)
    return ChainSolutions(
        decoder,
        read_only(labels),
        sentences.offsets,
        scores,
        bounds,
        tolerances,
        scales,
        iterations,
    )


def bound_over_all(
    model: ChainModel, sentences: Sentences, chosen: Integers, bounds: Floats
) -> None:
    """Write bounds on the best labellings of some sentences, by messages between all labels."""
    padded = model.padded
    dense.bounds(
        padded.transitions,
        padded.transposed,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        len(padded.end),
        chosen,
        bounds,
    )


def decode_exactly(
    model: ChainModel, sentences: Sentences, chosen: Integers, labels: Integers32
) -> None:
    """Decode as :func:`decode_densely` does, in float64."""
    decode_densely(model, sentences, chosen, labels, np.float64)


def decode_densely(
    model: ChainModel,
    sentences: Sentences,
    chosen: Integers,
    labels: Integers32,
    precision: type[np.floating[Any]] = np.float32,
) -> None:
    """Decode some sentences over all labels, writing to `labels`.

    Raises `InfeasibleError` if one of them has no legal labelling.
    """
    padded = model.padded
    sentence, token = dense.decode(
        padded.transitions,
        padded.transposed,
        padded.end,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        chosen,
        np.empty(0, dtype=precision),
        labels,
    )
    if sentence >= 0 and precision is np.float64:
        raise sentences.infeasible(int(sentence), int(token))
    if sentence >= 0:  # sums in float32 may have overflowed
        decode_exactly(model, sentences, chosen, labels)
