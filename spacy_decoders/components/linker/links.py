"""Mentions of a document before and after they are linked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...certificate import Certificate
from ...models.linker.weights import FEATURES

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["Links", "Mentions", "features_of", "nil_link"]


@dataclass(frozen=True, eq=False)
class Mentions:
    """The mentions of a document, and the candidates of their distinct texts.

    Attributes
    ----------
    spans
        What is to be linked.
    units
        For each span its place among the table's mentions, -1 without candidates.
    table
        The candidates.
    features
        See ``FEATURES``; the last column is filled by the pairs. **Shape:**
        ``(candidates, 4)``
    """

    spans: list[Span]
    units: list[int]
    table: CandidateTable
    features: NDArray[np.float32]


@dataclass(frozen=True)
class Links:
    """What was decided: for each span its link as a plain dict, and the certificates."""

    spans: list[Span]
    links: list[dict[str, Any]]
    certificates: list[Certificate]


def nil_link() -> dict[str, Any]:
    """What is written of a mention without candidates."""
    return {
        "id": "",
        "title": "",
        "score": 0.0,
        "margin": None,
        "exact_margin": False,
        "candidates": [],
    }


def features_of(table: CandidateTable, doc: Doc) -> NDArray[np.float32]:
    """What the weights weigh of each candidate; the costs of pairs are filled in later."""
    features = np.zeros((len(table), len(FEATURES)), np.float32)
    features[:, 0] = np.log(np.maximum(table.priors, 1e-6))
    features[:, 1] = np.log1p(table.popularity)
    vector = np.asarray(doc.vector) if doc.vocab.vectors_length else np.zeros(0)
    if table.vectors.shape[1] and table.vectors.shape[1] == len(vector):
        lengths = np.linalg.norm(table.vectors, axis=1) * np.linalg.norm(vector)
        features[:, 2] = (table.vectors @ vector) / np.maximum(lengths, 1e-12)
    return features
