"""What the chain benchmarks share: parts of a set, decoders timed in turns, and their judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time
from typing import Any

from timing import interleaved  # isort: skip - before numpy

import numpy as np
from chain_peers import crfsuite_tagger, plain_viterbi, single_viterbi
from chain_scores import Scores

from spacy_decoders.certificate import largest_tolerance
from spacy_decoders.decoders.chain import ChainDecoder, ChainModel, ChainSolution

__all__ = [
    "COLUMNS",
    "LOCKSTEP",
    "SINGLE",
    "Bench",
    "Part",
    "add_peers",
    "add_single",
    "exactness",
]

#: Dense decoding with vectors, without and with four sentences in lockstep.
SINGLE, LOCKSTEP = "dense SIMD, one sentence", "dense SIMD, lockstep"

#: Multiplications that a dense decoder may spend on a set: fewer sentences are left to it.
DENSE_WORK = {False: 6e8, True: 1.5e8}
#: Of the tables whose rows are a decoder and its :func:`exactness`.
COLUMNS = ["decoder", "% exact", "% certified", "largest loss", "iterations"]


@dataclass
class Part:
    """The first sentences of a set."""

    model: ChainModel
    emissions: np.ndarray
    lengths: list[int]

    @classmethod
    def of(cls, scores: Scores, tokens: float) -> Part:
        lengths = scores.lengths[np.cumsum(scores.lengths) <= max(tokens, scores.lengths[0])]
        return cls(scores.model, scores.emissions[: lengths.sum()], lengths.tolist())

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (
            self.model.transitions,
            self.model.start_scores,
            self.model.end_scores,
            self.emissions,
            np.array(self.lengths, dtype=np.int64),
        )

    def sentences(self) -> list[np.ndarray]:
        return np.split(self.emissions, np.cumsum(self.lengths)[:-1])

    def decoded(self, decoder: ChainDecoder) -> list[ChainSolution]:
        """Decode all sentences, certificates made: a batch makes them when they are asked for."""
        return list(decoder.decode_batch(self.model, self.emissions, self.lengths))


class Bench:
    """One set of scores: its decoders timed in turns, in nanoseconds a token."""

    def __init__(self, scores: Scores, *, quick: bool) -> None:
        size = scores.model.size
        self.all = Part.of(scores, 4000 if quick else 12_000)
        self.few = Part.of(scores, min(4000.0, DENSE_WORK[quick] / size**2))
        self.size, self.quick = size, quick
        self.tasks: dict[str, tuple[Callable[[], Any], int]] = {}

    def add(self, name: str, task: Callable[[], Any], tokens: int) -> None:
        self.tasks[name] = (task, tokens)

    def add_decoder(self, name: str, decoder: ChainDecoder, *, few: bool = False) -> None:
        part = self.few if few else self.all
        self.add(name, lambda: part.decoded(decoder), len(part.emissions))

    def run(self) -> dict[str, float]:
        medians = interleaved(
            {name: task for name, (task, _) in self.tasks.items()},
            3 if self.quick else 7,
            seconds=2.0 if self.quick else 4.0,
            least=0.01,
            clock=thread_time,
        )
        return {name: 1e9 * medians[name] / tokens for name, (_, tokens) in self.tasks.items()}


def add_peers(bench: Bench) -> None:
    """Add numpy's argmax, plain Viterbi, CRFsuite, and dense decoding without lockstep."""
    part, few = bench.all, bench.few
    bench.add("numpy argmax", lambda: part.emissions.argmax(axis=1), len(part.emissions))
    bench.add("plain Viterbi", lambda: plain_viterbi(*few.arrays), len(few.emissions))
    if (crfsuite := crfsuite_tagger(bench.size, few.lengths)) is not None:
        bench.add("CRFsuite", crfsuite, crfsuite.tokens)
    add_single(bench)


def add_single(bench: Bench) -> None:
    """Add dense decoding without lockstep."""
    few = bench.few
    single = single_viterbi(few.model, few.emissions, few.lengths)
    bench.add(SINGLE, single, len(few.emissions))


def exactness(
    part: Part, decoder: ChainDecoder, best: np.ndarray
) -> tuple[float, float, float, float]:
    """Return the shares exact and certified, the largest loss, and the mean of the iterations.

    Exact means: worth the optimum in 64 bits, but for what a certificate may tolerate at most.
    """
    certificates = [solution.certificate for solution in part.decoded(decoder)]
    loss = best - [certificate.score for certificate in certificates]
    exact = loss <= [largest_tolerance(abs(score)) for score in best.tolist()]
    for certificate, right, lost in zip(certificates, exact, loss, strict=True):
        if certificate.is_optimal and not right:
            raise AssertionError(f"a wrong certificate: {certificate}, lost {lost}")
    proven = [certificate.is_optimal for certificate in certificates]
    iterations = float(np.mean([certificate.iterations for certificate in certificates]))
    share, certified = (100 * float(np.mean(which)) for which in (exact, proven))
    return share, certified, max(0.0, float(loss.max())), iterations
