"""Collective linking of any retriever's scored candidates, over a user's graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import NonNegativeFloat

from ..arrays import Floats, checked_list
from ..budget import UNLIMITED, Budget
from ..certificate import Certificate
from ..components.option_checks import check_of
from ..errors import InfeasibleError, ProblemError

if TYPE_CHECKING:
    from ..decoders.representatives import RepresentativesProblem
    from ..graph import ConceptGraph

__all__ = ["CollectiveLinker", "LinkedMentions"]

#: A probability below this counts as this.
LEAST = 1e-12

Candidates = Sequence[tuple[Hashable, float]]


@dataclass(frozen=True, eq=False)
class LinkedMentions:
    """The concept of each mention."""

    #: None for mentions without candidates.
    concepts: tuple[Hashable | None, ...]
    #: How much more linking the mention to another concept costs; ``inf`` if there is no other
    #: candidate, None if there is none.
    margins: tuple[float | None, ...]
    #: That of all links together.
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class CollectiveLinker:
    """Chooses a concept for each mention of a text so that all are near each other in a graph.

    A choice costs the sum of the costs of its candidates, plus `weight` times, for each mention,
    half the mean distance from its concept to those of the others.

    Parameters
    ----------
    graph
        A ``ConceptGraph``, whose vertices are the concepts; a networkx graph; or pairs of linked
        concepts. In the latter two, concepts may be anything hashable.
    weight
        The weight of distances relative to candidates' costs; not negative.

    Raises
    ------
    ProblemError
        If `graph` or `weight` is none of these.

    Notes
    -----
    Concepts without a path between them, or missing from the graph, have a distance of one more
    than the largest.

    Examples
    --------
    >>> links = [("Mercury (planet)", "Venus"), ("Mercury (element)", "Lead"), ("Venus", "Mars")]
    >>> linker = CollectiveLinker(links)
    >>> found = linker.link(
    ...     [[("Mercury (element)", 0.6), ("Mercury (planet)", 0.4)], [("Mars", 1.0)]]
    ... )
    >>> found.concepts, found.certificate.status
    (('Mercury (planet)', 'Mars'), 'optimal')
    """

    graph: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_of(NonNegativeFloat)("weight", self.weight)
        _ = self._graph  # what is no graph is refused now

    def link(
        self, mentions: Sequence[Candidates], *, budget: Budget = UNLIMITED
    ) -> LinkedMentions:
        """Link the mentions of one text.

        Parameters
        ----------
        mentions
            For each its candidates: concepts and their probabilities; a candidate costs the
            negative logarithm. Of a repeated concept the largest counts.

        Raises
        ------
        ProblemError
            If a candidate is not a pair, or a probability not a number from 0 to 1.
        InfeasibleError
            If all candidates of a mention have the probability 0.
        """
        from ..decoders.representatives import ExactRepresentatives

        each = checked_list("mentions", mentions, "candidates for each")
        given = [_scores(place, candidates) for place, candidates in enumerate(each)]
        linked = [number for number, candidates in enumerate(given) if candidates]
        problem = self._problem([given[number] for number in linked])
        solution = ExactRepresentatives().decode(problem, budget=budget)
        concepts: list[Hashable | None] = [None] * len(given)
        margins: list[float | None] = [None] * len(given)
        for place, number in enumerate(linked):
            concepts[number] = list(given[number])[int(solution.choices[place])]
            margins[number] = float(solution.margins[place])
        return LinkedMentions(tuple(concepts), tuple(margins), solution.certificate)

    def _problem(self, mentions: list[dict[Hashable, float]]) -> RepresentativesProblem:
        from ..decoders.representatives import RepresentativesProblem

        numbers: dict[Hashable, int] = {}
        sets, local = [], []
        for best in mentions:
            rows = [numbers.setdefault(concept, len(numbers)) for concept in best]
            sets.append(np.array(rows, dtype=np.int32))
            scores = np.array(list(best.values()))
            local.append(np.where(scores > 0.0, -np.log(np.maximum(scores, LEAST)), np.inf))
        return RepresentativesProblem(
            self._distances(list(numbers)), sets, local, weight=self.weight
        )

    def _distances(self, concepts: list[Hashable]) -> Floats:
        """**Shape (c, c)**: the distances between all candidates of a text."""
        graph, numbers = self._graph
        found = [_vertex(concept, numbers) for concept in concepts]
        known = [row for row, v in enumerate(found) if v is not None and graph.contains([v])[0]]
        steps = np.full((len(concepts), len(concepts)), -1.0)
        if known:
            ids = np.array([found[row] for row in known], dtype=np.int64)
            steps[np.ix_(known, known)] = graph.distances(ids)
        np.fill_diagonal(steps, 0.0)
        steps[steps < 0.0] = steps.max(initial=0.0) + 1.0
        return steps

    @cached_property
    def _graph(self) -> tuple[ConceptGraph, Mapping[Any, int] | None]:
        """The graph, and the number of each concept; None if concepts are vertices."""
        from ..graph import ConceptGraph

        if isinstance(self.graph, ConceptGraph):
            return self.graph, None
        pairs = self.graph.edges() if hasattr(self.graph, "edges") else self.graph
        numbers: dict[Any, int] = {}
        try:
            # tensors of torch have equal numbers that are not equal as keys
            pairs = list(pairs.tolist() if hasattr(pairs, "tolist") else pairs)
            if any(isinstance(pair, str) for pair in pairs):
                raise TypeError("a text is no pair")
            edges = [[numbers.setdefault(end, len(numbers)) for end in (a, b)] for a, b in pairs]
        except (TypeError, ValueError) as error:
            raise ProblemError(
                "graph: expected a ConceptGraph, a networkx graph or pairs of linked concepts; "
                f"got {type(self.graph).__name__} ({error})."
            ) from error
        for node in getattr(self.graph, "nodes", ()):
            numbers.setdefault(node, len(numbers))
        graph = ConceptGraph.from_edges(
            np.array(edges, dtype=np.int64).reshape(-1, 2), vertices=np.arange(len(numbers))
        )
        return graph, numbers


def _scores(place: int, candidates: Candidates) -> dict[Hashable, float]:
    """Each concept once, with its best score: a repeat would make the margin 0."""
    best: dict[Hashable, float] = {}
    try:
        for concept, given in candidates:
            score = float(given)
            best[concept] = score if not best.get(concept, score) > score else best[concept]
    except (TypeError, ValueError) as error:
        raise ProblemError(
            "mentions: expected pairs of a concept and a number as its score for each mention; "
            f"got {candidates!r} for mentions[{place}]."
        ) from error
    for concept, score in best.items():
        if not 0.0 <= score <= 1.0:
            raise ProblemError(
                f"mentions: expected probabilities from 0 to 1, got {score} for {concept!r} in "
                f"mentions[{place}]; apply a softmax to other scores first."
            )
    if best and not any(best.values()):
        raise InfeasibleError(
            f"mentions: all candidates of mentions[{place}] have the probability 0; give one of "
            "them more, or the mention no candidates."
        )
    return best


def _vertex(concept: Any, numbers: Mapping[Any, int] | None) -> int | None:
    """The vertex of a concept, if it has one."""
    if numbers is not None:
        return numbers.get(concept)
    is_number = isinstance(concept, (int, np.integer)) and not isinstance(concept, bool)
    return int(concept) if is_number else None
