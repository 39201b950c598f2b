"""From mentions to candidates: by alias, by words, or from any knowledge base of spaCy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.kb import KnowledgeBase
from spacy.tokens import Span

from ...errors import ProblemError
from .knowledge_base import ConceptKnowledgeBase

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable

__all__ = ["AliasCandidates", "CandidateFinder", "FoundCandidates", "TextCandidates"]


@dataclass(frozen=True)
class FoundCandidates:
    """Concepts that a mention may mean, best first, and how often it means each.

    A prior below 0 forbids a concept: it is shown among the candidates, and never chosen. A
    mention with none but forbidden ones is linked to nothing.
    """

    concepts: NDArray[np.int32]
    priors: NDArray[np.float32]

    def first(self, limit: int) -> FoundCandidates:
        return FoundCandidates(self.concepts[:limit], self.priors[:limit])

    @property
    def possible(self) -> bool:
        """Whether any concept may be chosen."""
        return bool((self.priors >= 0).any())


#: Finds the candidates of several mentions in a concept base.
CandidateFinder = Callable[[ConceptKnowledgeBase, Sequence[Span]], list[FoundCandidates]]


@dataclass(frozen=True)
class AliasCandidates:
    """Candidates of which the mention is a known alias, whatever its case."""

    def __call__(
        self, kb: ConceptKnowledgeBase, mentions: Sequence[Span]
    ) -> list[FoundCandidates]:
        aliases = kb.base.aliases
        rows = aliases.find([mention.text for mention in mentions])
        return [FoundCandidates(*aliases.row(int(row))) for row in rows]


@dataclass(frozen=True)
class TextCandidates:
    """Candidates by alias and, where there are fewer than `limit`, by the mention's words.

    What is found by words alone has a prior that falls with its rank, below those of all
    aliases.

    Parameters
    ----------
    limit
        The most candidates of a mention.

    Notes
    -----
    The full-text retrieval of Blanco, Boldi and Marino (2014, section 4).
    """

    limit: int = 30

    def __call__(
        self, kb: ConceptKnowledgeBase, mentions: Sequence[Span]
    ) -> list[FoundCandidates]:
        text = kb.base.text
        if text is None:
            raise ProblemError(
                "candidates: this knowledge base has no full-text index; build it with texts, "
                "or take spacy-decoders.AliasCandidates.v1."
            )
        found = []
        by_alias = AliasCandidates()(kb, mentions)
        for mention, known in zip(mentions, by_alias, strict=True):
            concepts, _ = text.find(mention.text, self.limit)
            new = concepts[~np.isin(concepts, known.concepts)]
            least = float(known.priors.min(initial=1.0))
            ranked = least / (2.0 + np.arange(len(new)))
            both = FoundCandidates(
                np.concatenate([known.concepts, new]).astype(np.int32),
                np.concatenate([known.priors, ranked]).astype(np.float32),
            )
            found.append(both.first(self.limit))
        return found


def gather(
    kb: KnowledgeBase,
    finder: CandidateFinder,
    mentions: Sequence[Span],
    keys: Sequence[str],
    limit: int,
) -> CandidateTable:
    """Lay out the candidates of the mentions that have any, under the mentions' keys."""
    if isinstance(kb, ConceptKnowledgeBase):
        return _from_concept_base(kb, finder(kb, mentions), keys, limit)
    return _from_any_base(kb, mentions, keys, limit)


def _from_concept_base(
    kb: ConceptKnowledgeBase, found: list[FoundCandidates], keys: Sequence[str], limit: int
) -> CandidateTable:
    from ...knowledge.candidates import CandidateTable

    kept = [(key, one.first(limit)) for key, one in zip(keys, found, strict=True)]
    kept = [(key, one) for key, one in kept if one.possible]
    sizes = [len(one.concepts) for _, one in kept]
    concepts = np.concatenate([*(one.concepts for _, one in kept), np.empty(0, np.int32)])
    numbers = concepts.astype(np.int64)
    has_vectors = bool(kb.vocab.vectors_length)
    vectors = [kb.concept_vector(int(number)) for number in numbers] if has_vectors else []
    return CandidateTable(
        mentions=[key for key, _ in kept],
        offsets=np.cumsum([0, *sizes]).astype(np.int64),
        ids=[kb.base.id(int(number)) for number in numbers],
        titles=[kb.base.titles[int(number)] for number in numbers],
        priors=np.concatenate([*(one.priors for _, one in kept), np.empty(0)]).astype(np.float64),
        popularity=kb.base.graph.degree[numbers].astype(np.float64),
        vectors=np.array(vectors, np.float32).reshape(len(numbers), kb.vocab.vectors_length),
        concepts=numbers,
        base=kb.base,
    )


def _from_any_base(
    kb: KnowledgeBase, mentions: Sequence[Span], keys: Sequence[str], limit: int
) -> CandidateTable:
    from ...knowledge.candidates import CandidateTable

    found = []
    for key, candidates in zip(keys, kb.get_candidates_batch(mentions), strict=True):
        ranked = sorted(candidates, key=lambda one: (-one.prior_prob, one.entity))[:limit]
        if ranked:
            found.append((key, ranked))
    flat = [one for _, ranked in found for one in ranked]
    ids = [one.entity_ for one in flat]
    vectors = [list(one.entity_vector) for one in flat]
    return CandidateTable(
        mentions=[key for key, _ in found],
        offsets=np.cumsum([0, *(len(ranked) for _, ranked in found)]).astype(np.int64),
        ids=ids,
        titles=ids,
        priors=np.array([one.prior_prob for one in flat], np.float64),
        popularity=np.array([max(0.0, one.entity_freq) for one in flat], np.float64),
        vectors=np.array(vectors, np.float32).reshape(len(flat), kb.entity_vector_length),
        concepts=np.empty(0, np.int64),
    )
