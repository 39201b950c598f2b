"""The greedy decoder, as an example of one that comes from another package.

It takes the best label of each token by itself. What it can prove is little, and its
certificate says so: no labelling is worth more than the best emissions and the best
transitions together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacy_decoders import Budget, Certificate, InfeasibleError
from spacy_decoders.budget import UNLIMITED
from spacy_decoders.decoders.chain import ChainModel, ChainSolution


@dataclass(frozen=True)
class Argmax:
    """A decoder is a small frozen dataclass of options with `decode` and `decode_batch`."""

    def decode(self, model: ChainModel, emissions, *, budget: Budget = UNLIMITED) -> ChainSolution:
        return self.decode_batch(model, emissions, [len(emissions)], budget=budget)[0]

    def decode_batch(
        self, model: ChainModel, emissions, lengths, *, budget: Budget = UNLIMITED
    ) -> list[ChainSolution]:
        ends = np.cumsum(lengths)
        # the scores of a chain are float32, their sums float64
        given = np.asarray(emissions, np.float32).astype(np.float64)
        sentences = np.split(given, ends[:-1])
        return [self._sentence(model, sentence) for sentence in sentences]

    def _sentence(self, model: ChainModel, emissions: np.ndarray) -> ChainSolution:
        labels = emissions.argmax(axis=1).astype(np.int32)
        transitions = np.asarray(model.transitions, np.float64)
        steps = transitions[labels[:-1], labels[1:]].sum()
        score = emissions.max(axis=1).sum() + steps
        bound = emissions.max(axis=1).sum() + max(0, len(labels) - 1) * transitions.max()
        if len(labels):
            score += model.start[labels[0]] + model.end[labels[-1]]
            bound += model.start.max() + model.end.max()
        if not np.isfinite(score):
            raise InfeasibleError("the best labels of the tokens may not follow one another.")
        certificate = Certificate.from_bound("Argmax", score, bound, tolerance=1e-6)
        return ChainSolution(labels, certificate)


def argmax() -> Argmax:
    """What `@decoders = "argmax-decoder.Argmax.v1"` calls."""
    return Argmax()
