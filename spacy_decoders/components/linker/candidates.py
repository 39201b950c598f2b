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
            both = np.concatenate([known.concepts, new]).astype(np.int32)
            priors = np.concatenate([known.priors, ranked]).astype(np.float32)
            found.append(FoundCandidates(both[: self.limit], priors[: self.limit]))
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

    mentions, concepts, priors, offsets = [], [], [], [0]
    for key, one in zip(keys, found, strict=True):
        best = one.priors[:limit]
        if (best >= 0).any():
            mentions.append(key)
            concepts.append(one.concepts[:limit])
            priors.append(best)
            offsets.append(offsets[-1] + len(best))
    numbers = np.concatenate([*concepts, np.empty(0, np.int32)]).astype(np.int64)
    vectors = map(kb.concept_vector, numbers.tolist() if kb.vocab.vectors_length else [])
    return CandidateTable(
        mentions=mentions,
        offsets=np.array(offsets, np.int64),
        ids=kb.base.ids.table.take(numbers),
        titles=kb.base.titles.take(numbers),
        priors=np.concatenate([*priors, np.empty(0)]).astype(np.float64),
        popularity=kb.base.graph.degree[numbers].astype(np.float64),
        vectors=np.array([*vectors], np.float32).reshape(len(numbers), kb.vocab.vectors_length),
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
