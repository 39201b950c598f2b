"""The greedy decoder, as an example of one that comes from another package.

It takes the best label of each token after that of the token before. What it can prove is
little, and its certificate says so: no labelling is worth more than the best emissions and the
best transitions together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spacy_decoders import Budget, Certificate, InfeasibleError
from spacy_decoders.budget import UNLIMITED
from spacy_decoders.certificate import tolerance_of
from spacy_decoders.decoders.chain import ChainModel, ChainSolution
from spacy_decoders.errors import UndecidedError


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
        scores = (model.start, model.transitions, model.end)
        start, transitions, end = (array.astype(np.float64) for array in scores)
        last = len(emissions) - 1
        labels, parts, before = [], [], start
        for place, own in enumerate(emissions):
            steps = before + end if place == last else before
            labels.append(int((own + steps).argmax()))
            parts += [own[labels[-1]], steps[labels[-1]]]
            before = transitions[labels[-1]]
        score, scale = math.fsum(parts), math.fsum(map(abs, parts))
        bound = emissions.max(axis=1).sum()
        if last >= 0:
            bound += start.max() + end.max()
        if last >= 1:
            bound += last * transitions.max()
        if bound == -math.inf:
            raise InfeasibleError("every label of a token, start, step or end is forbidden.")
        if score == -math.inf:
            raise UndecidedError("the best labels led nowhere; others may be legal.")
        certificate = Certificate.from_bound(
            "Argmax", score, bound, tolerance=tolerance_of(scale), scale=scale
        )
        return ChainSolution(np.array(labels, dtype=np.int32), certificate)


def argmax() -> Argmax:
    """What `@decoders = "argmax-decoder.Argmax.v1"` calls."""
    return Argmax()
