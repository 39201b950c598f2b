"""Decoding the sentences of documents with a chain decoder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ...certificate import Certificate
from ...errors import InfeasibleError

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolution
    from ...decoders.protocols import ChainDecoding

__all__ = ["Entity", "Tagging", "TaggingProbabilities", "decode_units", "unit_lengths"]

#: The label of a token in a unit without a legal labelling.
NO_LABEL = -1


class Entity(NamedTuple):
    """An entity, decoded or only possible, and its probability."""

    #: The first token, and that after the last.
    start: int
    stop: int
    #: Its type.
    label: str
    #: That there is an entity of this type with these borders.
    probability: float

    def as_dict(self) -> dict[str, Any]:
        """The entity in plain types."""
        return {
            "start": self.start,
            "end": self.stop,
            "label": self.label,
            "prob": self.probability,
        }


@dataclass(frozen=True)
class TaggingProbabilities:
    """How probable the labels of one document are."""

    #: **Shape (n,)**: of each token's label; of joint labels, of their first part that is not
    #: an entity's. 0 where no labelling is legal.
    tokens: NDArray[np.float64]
    #: Of the labels of each sentence as a whole.
    units: list[float]
    #: Those that were decoded.
    entities: list[Entity]
    #: All that are probable enough, decoded or not, in the order of the text.
    alternatives: list[Entity]


@dataclass(frozen=True)
class Tagging:
    """The decoded labels of one document."""

    #: **Shape (n,)**: the label of each token; -1 where its unit has no legal labelling.
    labels: NDArray[np.int32]
    #: Tokens of each decoded unit.
    units: list[int]
    #: One for each unit.
    certificates: list[Certificate]
    #: For each token, if asked for.
    margins: list[float] | None = None
    #: For each unit the k best solutions, best first, if asked for.
    alternatives: list[list[ChainSolution]] | None = None
    #: For each unit without a labelling the demands that contradict each other, as
    #: :func:`~spacy_decoders.components.constraints.labels.conflicts_in` describes them.
    conflicts: Sequence[dict[str, Any]] = ()
    #: How probable the labels are, if asked for.
    probabilities: TaggingProbabilities | None = None
    #: Tokens of which a constraint demands a label or an entity.
    demanded: Collection[int] = ()

    def with_margins(self, model: ChainModel, emissions: NDArray[np.float32]) -> Tagging:
        """Add the loss of the best labelling with another label at each token.

        Infinite where no other label is legal, and 0 where none at all is.
        """
        from ...decoders.chain import max_marginal_margins

        # a unit without a legal labelling has no label at any token
        decoded = self.labels != NO_LABEL
        units = np.repeat(np.arange(len(self.units)), self.units)
        lengths = np.bincount(units[decoded], minlength=len(self.units))
        margins = np.zeros(len(self.labels), dtype=np.float32)
        if decoded.any():
            margins[decoded] = max_marginal_margins(model, emissions[decoded], lengths)
        return replace(self, margins=margins.tolist())

    def with_alternatives(
        self, model: ChainModel, emissions: NDArray[np.float32], k: int
    ) -> Tagging:
        """Add up to k best solutions of each unit."""
        from ...decoders.chain import k_best

        alternatives = [
            [] if self.labels[begin] == NO_LABEL else k_best(model, emissions[begin:stop], k)
            for begin, stop in self._bounds()
        ]
        return replace(self, alternatives=alternatives)

    def as_dicts(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The alternatives in plain types: unit by unit, best first, with the labels' names."""
        if self.alternatives is None:
            return []
        return [
            {
                "start": begin,
                "end": stop,
                "labels": [names[label] for label in solution.labels.tolist()],
                "score": solution.certificate.score,
                "certificate": solution.certificate.as_dict(),
            }
            for (begin, stop), ranked in zip(self._bounds(), self.alternatives, strict=True)
            for solution in ranked
        ]

    def undecoded(self) -> list[tuple[int, int]]:
        """First and last token (exclusive) of each unit without a legal labelling."""
        if NO_LABEL not in self.labels:
            return []
        return [
            (begin, stop)
            for begin, stop in self._bounds()
            if begin < stop and self.labels[begin] == NO_LABEL
        ]

    def _bounds(self) -> Iterable[tuple[int, int]]:
        return pairwise([0, *np.cumsum(self.units).tolist()])


def unit_lengths(doc: Doc) -> list[int]:
    """Tokens of each sentence, or of the document if it has no boundaries."""
    if not len(doc):
        return []
    starts = np.flatnonzero(doc.to_array(SENT_START) == 1).tolist()
    if not starts or starts[0]:
        starts.insert(0, 0)
    return [stop - start for start, stop in pairwise([*starts, len(doc)])]


def decode_units(
    decoder: ChainDecoding,
    model: ChainModel,
    emissions: Sequence[NDArray[np.float32]],
    units: list[list[int]],
) -> list[Tagging]:
    """Decode the units of several documents in one call.

    Of each document there are its emissions, **shape (n, L)**, and the tokens of each of its
    units.
    """
    lengths = [length for doc_units in units for length in doc_units]
    if not lengths:
        return [Tagging(np.zeros(0, dtype=np.int32), [], []) for _ in units]
    rows = np.concatenate(emissions) if len(emissions) > 1 else emissions[0]
    try:
        solved = iter(decoder.decode_batch(model, rows, lengths))
    except InfeasibleError:
        solved = _one_by_one(decoder, model, rows, lengths)
    taggings = []
    for doc_units in units:
        solutions = list(islice(solved, len(doc_units)))
        if len(solutions) == 1:
            labels = solutions[0].labels
        else:
            parts = [solution.labels for solution in solutions]
            labels = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
        taggings.append(Tagging(labels, doc_units, [found.certificate for found in solutions]))
    return taggings


def _one_by_one(
    decoder: ChainDecoding, model: ChainModel, rows: NDArray[np.float32], lengths: Iterable[int]
) -> Iterator[ChainSolution]:
    """Decode unit by unit, so that one without a legal labelling does not affect the others."""
    from ...decoders.chain import ChainSolution

    begin = 0
    for length in lengths:
        try:
            yield decoder.decode(model, rows[begin : begin + length])
        except InfeasibleError:
            yield ChainSolution(
                np.full(length, NO_LABEL, dtype=np.int32),
                Certificate.infeasible(type(decoder).__name__),
            )
        begin += length
