"""Pair costs of linking two mentions to two concepts: several measures with one interface.

Each is a small frozen dataclass that is called with a :class:`CandidateTable` and returns a
symmetric matrix of non-negative costs between all its candidates.
"""

import itertools
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..arrays import Floats, Integers
from ..errors import ProblemError
from ..graph import ConceptGraph, adjacency, shared_neighbour_cosine
from ..graph.relatedness import weighted_overlap
from .candidates import CandidateTable
from .texts import distinct_words

__all__ = ["EntityVectors", "GraphDistance", "PairCosts", "SharedNeighbours"]


#: Weights of the cosine among the document's candidates, and of a direct link, relative to that of
#: the cosine in the graph.
_WITHIN, _LINKED = 1.0 / 3.0, 1.0 / 8.0
#: The exponent of the coverage by which titles are weighted: where the graph has few of the
#: candidates, nothing makes up for an accidental word.
_BY_COVERAGE = 1.75
#: The surprise, in nats, at which the words shared by two titles count in full.
_FULL_RESIDUAL = 10.0


class PairCosts(Protocol):
    """The costs between the candidates of a table: **shape** ``(candidates, candidates)``.

    A measure may have an attribute ``far``, the cost of two concepts that have nothing in common;
    by default that is the largest cost among the candidates.
    """

    def __call__(self, table: CandidateTable) -> Floats: ...


@dataclass(frozen=True)
class SharedNeighbours:
    """Concepts are near if they share neighbours, are linked, or share words of their titles.

    The cost is ``far - similarity - residual * overlap``. The similarity is the cosine of the
    neighbourhoods in the graph (:func:`~spacy_decoders.graph.shared_neighbour_cosine`), plus a
    third of that among the document's candidates, plus an eighth for a direct link. The overlap
    is of title words that are not in the concepts' own mentions, weighted by their rarity:
    "Oakland Raiders" and "Oakland Athletics" for the mentions "Raiders" and "Athletics". It counts
    the less, the fewer of the candidates have links.

    Parameters
    ----------
    residual
        Weight of the overlap of titles; 0 for none.
    most
        The most neighbours that are considered, those of lowest degree; hubs have millions.
    """

    residual: float = 0.5
    most: int = 1000

    @property
    def far(self) -> float:
        """The cost of two concepts that have nothing in common."""
        return 1.0 + _WITHIN + _LINKED + self.residual

    def __call__(self, table: CandidateTable) -> Floats:
        graph, vertices, places = _concepts_of(self, table)
        near = shared_neighbour_cosine(graph, vertices, most=self.most)
        joined = adjacency(graph, vertices)
        if joined.any():
            near += _WITHIN * shared_neighbour_cosine(graph, vertices, joined=joined)
            near += _LINKED * joined
        np.fill_diagonal(near, 1.0 + _WITHIN + _LINKED)
        near = near[places[:, None], places]
        if self.residual:
            overlap = _title_overlap(table)
            overlap *= self.residual * table.coverage**_BY_COVERAGE
            near += overlap
        # in place: these matrices are as large as all candidates squared
        return np.subtract(self.far, near, out=near)


@dataclass(frozen=True)
class GraphDistance:
    """The length of the shortest path, as in the paper; without one, the largest length plus one.

    Two mentions linked to one concept cost as much as the farthest connected pair, so that
    mentions with a shared candidate do not all collapse to it.

    References
    ----------
    Blanco, Boldi, Marino 2014, *Entity-Linking via Graph-Distance Minimization*.
    """

    def __call__(self, table: CandidateTable) -> Floats:
        graph, vertices, places = _concepts_of(self, table)
        distances = graph.distances(vertices).astype(np.float64)
        farthest = max(1.0, float(distances.max(initial=0)))
        distances[distances < 0] = farthest + 1
        np.fill_diagonal(distances, farthest)
        return distances[places[:, None], places]


@dataclass(frozen=True)
class EntityVectors:
    """One minus the cosine of the concepts' vectors: for knowledge bases without a graph."""

    far: ClassVar[float] = 1.0

    def __call__(self, table: CandidateTable) -> Floats:
        if not table.vectors.shape[1]:
            raise ProblemError(
                "pairs: EntityVectors needs a knowledge base with vectors; this one has none."
            )
        lengths = np.linalg.norm(table.vectors, axis=1, keepdims=True)
        unit = table.vectors / np.maximum(lengths, 1e-12)
        costs = 1.0 - (unit @ unit.T).astype(np.float64)
        return np.clip((costs + costs.T) / 2, 0.0, 2.0)


def _title_overlap(table: CandidateTable) -> Floats:
    """The surprise of title words that two candidates share beyond their mentions, from 0 to 1.

    0 between two candidates that are the same concept.
    """
    own = [*map(distinct_words, table.mentions)]
    holders: dict[str, list[int]] = {}
    for place, (title, mention) in enumerate(
        zip(table.titles, table.own_mention.tolist(), strict=True)
    ):
        for word in distinct_words(title):
            if word not in own[mention]:
                holders.setdefault(word, []).append(place)
    # words of a single candidate are not shared
    words = [word for word, places in holders.items() if len(places) > 1]
    groups = [*map(holders.__getitem__, words)]
    assert table.base is not None  # `_concepts_of` has checked this
    surprise = table.base.title_words.surprise(words)
    indptr = np.cumsum([0, *map(len, groups)])
    members = [*itertools.chain.from_iterable(groups)]
    overlap: Floats = weighted_overlap(indptr, members, surprise / _FULL_RESIDUAL, len(table))
    np.minimum(overlap, 1.0, out=overlap)
    overlap[table.keys[:, None] == table.keys] = 0.0
    return overlap


def _concepts_of(
    measure: PairCosts, table: CandidateTable
) -> tuple[ConceptGraph, Integers, Integers]:
    """Return the graph, the distinct concepts, and the place of each candidate's among these."""
    if table.base is None:
        raise ProblemError(
            f"pairs: {type(measure).__name__} needs a knowledge base with a graph; build one with "
            "`python -m spacy decoders kb build`, or take EntityVectors."
        )
    vertices, places = np.unique(table.concepts, return_inverse=True)
    return table.base.graph, vertices, places
