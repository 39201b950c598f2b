"""Decoding the sentences of documents with a chain decoder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ...arrays import Floats, Floats32, Integers32
from ...certificate import Certificate
from ...errors import InfeasibleError, UndecidedError
from .entity_scheme import TokenEntity

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolution
    from ...decoders.protocols import ChainDecoding

__all__ = ["Tagging", "TaggingProbabilities", "decode_units", "unit_lengths"]

#: The label of a token in a unit without a legal labelling.
NO_LABEL = -1


class TaggingProbabilities(NamedTuple):
    """The probabilities of the labels of one document."""

    #: **Shape (n,)**: that of each token's label, or of the first part of a joint label that is
    #: not an entity's; 0 where no labelling is legal.
    tokens: Floats
    #: That of the whole labelling of each sentence.
    units: list[float]
    #: Decoded entities, and others that are probable enough, in the order of the text.
    entities: list[TokenEntity]
    others: list[TokenEntity]

    def likely(self, least: float) -> list[TokenEntity]:
        """All entities with at least this probability, in the order of the text."""
        found = [one for one in (*self.others, *self.entities) if one.probability >= least]
        return sorted(found, key=TokenEntity.rank)


@dataclass
class Tagging:
    """The decoded labels of one document, with margins, alternatives and so on if asked for."""

    #: **Shape (n, L)**: the emissions that were decoded, ``-inf`` where labels are not allowed.
    emissions: Floats32
    #: **Shape (n,)**: the label of each token; -1 where its unit has no legal labelling.
    labels: Integers32
    #: The number of tokens of each decoded unit.
    units: list[int]
    #: One for each unit.
    certificates: list[Certificate]
    #: For each token.
    margins: list[float] | None = None
    #: The k best labellings of each unit, best first, in plain types.
    ranked: list[dict[str, Any]] = field(default_factory=list)
    #: The contradictory demands on each unit without a labelling; see
    #: :func:`~spacy_decoders.components.constraints.labels.conflicts_in`.
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    #: The probabilities of the labels.
    probabilities: TaggingProbabilities | None = None
    #: Tokens of which a constraint demands a label or an entity.
    demanded: Collection[int] = ()

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The tokens ``start:stop`` of each unit."""
        return list(pairwise(accumulate(self.units, initial=0)))

    def margins_by(self, model: ChainModel) -> list[float]:
        """Return how much the best labelling with another label at each token loses.

        Infinite if no other label is legal, and 0 if none at all is.
        """
        from ...decoders.chain import max_marginal_margins

        # a unit without a legal labelling has no label at any token
        decoded = self.labels != NO_LABEL
        units = np.repeat(np.arange(len(self.units)), self.units)
        lengths = np.bincount(units[decoded], minlength=len(self.units))
        margins = np.zeros(len(self.labels), dtype=np.float32)
        if decoded.any():
            margins[decoded] = max_marginal_margins(model, self.emissions[decoded], lengths)
        return margins.tolist()

    def ranked_by(self, model: ChainModel, k: int, names: Sequence[str]) -> list[dict[str, Any]]:
        """Return up to k best labellings of each unit, with the labels' names."""
        from ...decoders.chain import k_best

        return [
            {
                "start": begin,
                "end": stop,
                "labels": [names[label] for label in solution.labels.tolist()],
                "score": solution.certificate.score,
                "certificate": solution.certificate.as_dict(),
            }
            for begin, stop in self.spans
            if self.labels[begin] != NO_LABEL
            for solution in k_best(model, self.emissions[begin:stop], k)
        ]


def unit_lengths(doc: Doc) -> list[int]:
    """The number of tokens of each sentence, or of the document if it has no boundaries."""
    if not len(doc):
        return []
    starts = (doc.to_array(SENT_START) == 1).nonzero()[0].tolist()
    if not starts or starts[0]:
        starts.insert(0, 0)
    return list(map(sub, [*starts[1:], len(doc)], starts))


def decode_units(
    decoder: ChainDecoding,
    model: ChainModel,
    emissions: Sequence[Floats32],
    units: Sequence[list[int]],
) -> list[Tagging]:
    """Decode the units of several documents in one call.

    `emissions`, **shape (n, L)**, and `units`, the lengths of its units, are those of each
    document.
    """
    from ...decoders.chain import ChainSolutions

    lengths = [length for doc_units in units for length in doc_units]
    labels = np.zeros(0, dtype=np.int32)
    certificates: Iterator[Certificate] = iter(())
    if lengths:
        rows = np.concatenate(emissions)
        try:
            solved = decoder.decode_batch(model, rows, lengths)
        except (InfeasibleError, UndecidedError):
            solved = list(_one_by_one(decoder, model, rows, lengths))
        if isinstance(solved, ChainSolutions):  # no object for each unit was made
            labels, certificates = solved.labels, iter(solved.certificates)
        else:
            labels = np.concatenate([found.labels for found in solved])
            certificates = iter([found.certificate for found in solved])
    spans = pairwise(accumulate(map(len, emissions), initial=0))
    return [
        Tagging(own, labels[begin:stop], doc_units, list(islice(certificates, len(doc_units))))
        for own, (begin, stop), doc_units in zip(emissions, spans, units, strict=True)
    ]


def _one_by_one(
    decoder: ChainDecoding, model: ChainModel, rows: Floats32, lengths: Iterable[int]
) -> Iterator[ChainSolution]:
    """Decode unit by unit, so that one without a legal labelling does not affect the others."""
    from ...decoders.chain import ChainSolution

    begin = 0
    for length in lengths:
        try:
            yield decoder.decode(model, rows[begin : begin + length])
        except (InfeasibleError, UndecidedError) as error:
            proven = isinstance(error, InfeasibleError)
            failed = Certificate.infeasible if proven else Certificate.undecided
            nothing = np.full(length, NO_LABEL, dtype=np.int32)
            yield ChainSolution(nothing, failed(type(decoder).__name__))
        begin += length
