"""From labellings to certificates: scores and bounds computed apart, then compared."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...certificate import Certificate
from .kernels import dense, dual, narrow
from .kernels.layout import LANES
from .problem import ChainModel, Sentences
from .solutions import ChainSolution, ChainSolutions

__all__ = [
    "CHUNK",
    "TOLERANCE",
    "Evidence",
    "certify",
    "certify_one",
    "compare",
    "decode_exactly",
    "joined",
    "proof_of",
    "proven",
]

#: The tolerance of `optimal`, relative to 1 + the labelling's scale. The rounding error of float64
#: over a sentence of 10,000 tokens is a hundredth of that.
TOLERANCE = 1e-9

#: The average share of all labels that may survive before a lattice of those within some slack
#: costs more than messages between all labels. A proof, which has no slack, is never given up:
#: even where hundreds survive it takes a fifth of the time of those messages.
SHARE = 0.5
NEVER = 2.0

#: Bytes of emissions that are decoded together, so that the proof finds them in the cache.
CHUNK = 1 << 19

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
Indices = NDArray[np.int64]


class Evidence(NamedTuple):
    """Scores, scales (sums of absolute terms) and bounds: each **shape (sentences,)**."""

    scores: Floats
    scales: Floats
    bounds: Floats


def certify(
    decoder: str,
    model: ChainModel,
    sentences: Sentences,
    labels: Labels,
    *,
    repair: bool = True,
    locally: bool = False,
    iterations: Indices | None = None,
) -> ChainSolutions:
    """Score labellings, bound the best ones by an independent proof, and compare.

    Parameters
    ----------
    decoder
        The registered name.
    labels
        **Shape (total,)**, int32: labels from any kernel, legal or not; changed where repaired.
    repair
        Whether a labelling that does not reach its bound is decoded again, in float64 and over all
        labels: for exact decoders.
    locally
        Whether to bound what remains unproven by local evidence alone, at almost no cost: for
        budgets in seconds.
    iterations
        **Shape (sentences,)**: of the method; None for one each.

    Raises
    ------
    InfeasibleError
        If a sentence has no legal labelling.
    """
    proof = proof_of(model, sentences, labels)
    return compare(
        decoder,
        model,
        sentences,
        labels,
        proof,
        repair=repair,
        locally=locally,
        iterations=iterations,
    )


def certify_one(
    decoder: str, model: ChainModel, sentence: Sentences, labels: Labels
) -> ChainSolution:
    """Certify one labelling as :func:`certify` does, in less time than a batch of one takes."""
    proof = proof_of(model, sentence, labels)
    return proven(decoder, labels, proof) or compare(decoder, model, sentence, labels, proof)[0]


def proven(decoder: str, labels: Labels, proof: Evidence) -> ChainSolution | None:
    """Return one labelling with its certificate if the proof shows that it is optimal."""
    score, scale, bound = (float(column[0]) for column in proof)
    tolerance = TOLERANCE * (1.0 + scale)
    if not bound - score <= tolerance:
        return None
    certificate = Certificate.from_bound(
        decoder, score, bound, tolerance=tolerance, scale=scale, iterations=1
    )
    return ChainSolution(read_only(labels), certificate)


def proof_of(model: ChainModel, sentences: Sentences, labels: Labels) -> Evidence:
    """Return the scores of some labellings, and upper bounds on the best ones."""
    scores, scales = sentences.scores_of(model, labels).T
    emissions = sentences.emissions.reshape(-1)
    if model.size <= LANES:
        padded = model.padded
        bounds = narrow.bounds(
            padded.transitions, padded.transposed, emissions, sentences.offsets, model.size
        )
    else:
        bounds = dual.bounds(model.links, emissions, sentences.offsets, model.size, labels, NEVER)
    return Evidence(scores, scales, bounds)


def joined(parts: list[Evidence]) -> Evidence:
    """Join the proofs of several parts of a batch."""
    return (
        parts[0] if len(parts) == 1 else Evidence(*map(np.concatenate, zip(*parts, strict=True)))
    )


def compare(
    decoder: str,
    model: ChainModel,
    sentences: Sentences,
    labels: Labels,
    proof: Evidence,
    *,
    repair: bool = True,
    locally: bool = False,
    iterations: Indices | None = None,
) -> ChainSolutions:
    """Certify labellings by their proof, as :func:`certify` does."""
    scores, scales, bounds = proof
    tolerances = TOLERANCE * (1.0 + scales)
    # written so that NaN, and -inf as of a forbidden labelling, are repaired too
    unproven = np.flatnonzero(~((bounds - scores <= tolerances) & (tolerances < np.inf)))
    if len(unproven):
        if repair:
            decode_exactly(model, sentences, unproven, labels)
            scores, scales = sentences.scores_of(model, labels).T
            tolerances = TOLERANCE * (1.0 + scales)
        if locally:
            bound_locally(model, sentences, unproven, bounds)
        else:
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
        iterations,
        scales=scales,
    )


def bound_over_all(
    model: ChainModel, sentences: Sentences, chosen: Indices, bounds: Floats
) -> None:
    """Bound the best labelling of some sentences by messages between all labels."""
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


def bound_locally(
    model: ChainModel, sentences: Sentences, chosen: Indices, bounds: Floats
) -> None:
    """Tighten the bounds of some sentences by the sum of the maxima of their scores."""
    links = float(model.transitions.max())
    ends = [float(model.start_scores.max()), float(model.end_scores.max())]
    for s in chosen.tolist():
        begin, stop = int(sentences.offsets[s]), int(sentences.offsets[s + 1])
        best = sentences.emissions[begin:stop].max(axis=1).tolist()
        terms = [*best, *ends, links * (stop - begin - 1)]
        bound = math.fsum(terms) + 1e-15 * math.fsum(map(abs, terms))
        bounds[s] = np.fmin(bounds[s], bound)


def decode_exactly(
    model: ChainModel, sentences: Sentences, chosen: Indices, labels: Labels
) -> None:
    """Decode some sentences in float64 over all labels, into `labels`.

    Raises
    ------
    InfeasibleError
        If one of them has no legal labelling.
    """
    padded = model.padded
    sentence, token = dense.decode(
        padded.transitions,
        padded.end,
        sentences.emissions.reshape(-1),
        sentences.offsets,
        model.size,
        chosen,
        labels,
    )
    if sentence >= 0:
        raise sentences.infeasible(int(sentence), int(token))
