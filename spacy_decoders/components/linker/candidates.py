"""Finding the candidates of mentions: by alias, by words, or by a function of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.kb import Candidate, KnowledgeBase
from spacy.tokens import Span

from ...arrays import Floats32, Integers32, checked_indices, checked_scores
from ...errors import ProblemError
from ...knowledge.texts import Known
from .knowledge_base import ConceptKnowledgeBase

if TYPE_CHECKING:
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.concept_base import ConceptBase

__all__ = [
    "AliasCandidates", "CandidateFinder", "CandidateSource", "FoundCandidates", "TextCandidates",
    "gather",
]  # fmt: skip


#: The factor of the priors of candidates found by words where the mention is a known alias.
_BY_WORDS = 0.02


@dataclass(frozen=True)
class FoundCandidates:
    """The concepts that a mention may mean, best first, with their priors.

    A prior below 0 forbids a concept: it is listed among the candidates but never chosen. A
    mention whose candidates are all forbidden is linked to nothing.
    """

    #: Their numbers in the concept base. **Shape:** ``(candidates,)``
    concepts: Integers32
    #: The share of each among the uses of the mention. **Shape:** ``(candidates,)``
    priors: Floats32
    #: The share of the uses of each that are capitalised as the mention is; NaN, the default,
    #: where unknown. **Shape:** ``(candidates,)``
    written: Any = None
    #: The share of the occurrences of the mention's text that are links; None where unknown.
    linked: float | None = None
    #: How often each is mentioned; NaN, the default, for its degree in the graph. **Shape:**
    #: ``(candidates,)``
    popularity: Any = None

    def __post_init__(self) -> None:
        unknown = np.full(len(self.concepts), np.nan, np.float32)
        given = {"written": self.written, "popularity": self.popularity}
        self.__dict__.update({name: unknown for name, of in given.items() if of is None})


#: A function that finds the candidates of several mentions in a knowledge base.
CandidateFinder = Callable[..., Iterable[Any]]


@dataclass(frozen=True)
class AliasCandidates:
    """Candidates that have the mention as an alias, whatever its case.

    For other kinds of knowledge bases, those of their ``get_candidates_batch``.
    """

    def __call__(self, kb: KnowledgeBase, mentions: Sequence[Span]) -> list[Any]:
        if not isinstance(kb, ConceptKnowledgeBase):
            return list(kb.get_candidates_batch(mentions))
        found = []
        texts = [mention.text for mention in mentions]
        known = kb.base.aliases.find(texts)
        for mention, text, meanings in zip(mentions, texts, known, strict=True):
            if meanings is None:
                found.append(_NONE)
                continue
            first, ways = mention[0], [text]
            if text[:1].isupper() and (first.i == 0 or first.is_sent_start):
                ways.append(
                    text[:1].lower() + text[1:]
                )  # capitalised as the first word of a sentence
            if text.isupper():  # as in headlines
                ways.append(text.capitalize())
            written = meanings.written(*ways)
            found.append(
                FoundCandidates(meanings.concepts, meanings.priors, written, meanings.link)
            )
        return found


_NONE = FoundCandidates(np.empty(0, np.int32), np.empty(0, np.float32))


@dataclass(frozen=True)
class TextCandidates:
    """Candidates by alias and, if there are fewer than `limit`, by the words of the mention.

    The priors of those found by words fall with their rank, and are below those of all aliases.

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
        text = kb.base.text if isinstance(kb, ConceptKnowledgeBase) else None
        if text is None:
            raise ProblemError(
                "candidates: this knowledge base has no full-text index; build it with texts, "
                "or take spacy-decoders.AliasCandidates.v1."
            )
        found = []
        for mention, known in zip(mentions, AliasCandidates()(kb, mentions), strict=True):
            concepts, _ = text.find(mention.text, self.limit)
            new = concepts[~np.isin(concepts, known.concepts)]
            least = float(known.priors.min(initial=1.0))
            # a known alias rarely means a concept that only shares a word with it
            least *= _BY_WORDS if len(known.concepts) else 1.0
            ranked = least / (2.0 + np.arange(len(new)))
            both = np.concatenate([known.concepts, new]).astype(np.int32)
            priors = np.concatenate([known.priors, ranked]).astype(np.float32)
            written = np.concatenate([known.written, np.full(len(new), np.nan, np.float32)])
            best = slice(self.limit)
            found.append(FoundCandidates(both[best], priors[best], written[best], known.linked))
        return found


class CandidateSource:
    """Finds the candidates of mentions in a knowledge base of any kind, by numbers.

    The concepts of a concept base have its own numbers, those of spaCy's other knowledge bases are
    numbered as they are met.
    """

    def __init__(self, kb: KnowledgeBase, finder: CandidateFinder) -> None:
        self.kb = kb
        self.finder = finder
        #: By its identifier, each concept of another knowledge base.
        self.met: dict[str, Candidate] = {}

    def find(self, mentions: Sequence[Span]) -> list[FoundCandidates]:
        """The candidates of each mention; what the finder returns is checked."""
        found = list(self.finder(self.kb, mentions)) if mentions else []
        if len(found) != len(mentions):
            raise ProblemError(
                f"candidates: expected those of {len(mentions)} mentions, one item each, as "
                f"spacy.CandidateBatchGenerator.v1 gives; got {len(found)}."
            )
        own = isinstance(self.finder, AliasCandidates | TextCandidates)
        if own and isinstance(self.kb, ConceptKnowledgeBase):
            return found
        return [
            _checked(one, self.kb) if isinstance(one, FoundCandidates) else self._numbered(one)
            for one in found
        ]

    def names(self, concepts: Iterable[int]) -> list[set[str | None]]:
        """The identifier of each concept, and its Wikidata item."""
        if isinstance(self.kb, ConceptKnowledgeBase):
            return [{known.id, known.qid} for known in self.kb.base.known(list(concepts))]
        every = list(self.met)
        return [{every[number]} for number in concepts]

    def _numbered(self, candidates: Any) -> FoundCandidates:
        """Number spaCy's candidates, the most frequent first."""
        given = list(candidates)
        if not all(hasattr(one, "entity_") and hasattr(one, "prior_prob") for one in given):
            raise ProblemError(
                "candidates: expected FoundCandidates, or a list of spaCy's Candidate, for each "
                f"mention; got {candidates!r}."
            )
        given.sort(key=lambda one: (-one.prior_prob, one.entity))
        ids = [one.entity_ for one in given]
        priors = np.array([one.prior_prob for one in given], np.float32)
        if isinstance(self.kb, ConceptKnowledgeBase):
            numbers = self.kb.base.ids.find(ids)
            if (numbers < 0).any():
                unknown = ids[int(np.argmin(numbers))]
                raise ProblemError(f"candidates: the knowledge base has no {unknown!r}.")
            return FoundCandidates(numbers.astype(np.int32), priors)
        for name, one in zip(ids, given, strict=True):
            self.met.setdefault(name, one)
        places = {name: number for number, name in enumerate(self.met)}
        uses = np.array([max(0.0, one.entity_freq) for one in given], np.float64)
        concepts = np.array([places[name] for name in ids], np.int32)
        return FoundCandidates(concepts, priors, popularity=uses)


def _checked(found: FoundCandidates, kb: KnowledgeBase) -> FoundCandidates:
    """Return candidates as arrays of one length, in which only unknown shares are NaN."""
    if not isinstance(kb, ConceptKnowledgeBase):
        raise ProblemError(
            "candidates: FoundCandidates refer to the numbers of concepts, which a "
            f"{type(kb).__name__} does not have; return spaCy's candidates."
        )
    concepts = checked_indices(
        "candidates: concepts", found.concepts, (None,), low=0, high=len(kb.base.ids)
    )
    columns: dict[str, Any] = {"concepts": concepts}
    for name in ("priors", "written", "popularity"):
        values = np.asarray(getattr(found, name))
        # unknown ones are NaN
        known = values if name == "priors" else np.where(np.isnan(values), 0.0, values)
        checked_scores(f"candidates: {name}", known, concepts.shape, forbidden=False)
        columns[name] = values
    return replace(found, **columns)


def gather(
    source: CandidateSource,
    found: Iterable[FoundCandidates],
    names: Sequence[str],
    forms: Sequence[Any],
    texts: Sequence[str],
    limit: int,
) -> CandidateTable:
    """Return the table of candidates, at most `limit` for each mention.

    `found` are those of each mention, from the source; `names`, `forms` and `texts` are the
    normalised text, the form and the text of each.
    """
    from ...knowledge.candidates import CandidateTable, numbered

    kb, met = source.kb, source.met
    # begins with no candidates, so that there is something to concatenate
    best = [_NONE, *found]
    kinds = {"concepts": np.int64, "priors": float, "written": np.float32, "popularity": float}
    numbers, priors, written, uses = (
        np.concatenate([getattr(one, name)[:limit] for one in best]).astype(kind)
        for name, kind in kinds.items()
    )
    sizes = np.array([min(limit, len(one.concepts)) for one in best])
    offsets = np.cumsum(sizes)
    base: ConceptBase | None = None
    vectors, covered = np.empty((len(numbers), 0), np.float32), np.ones(len(names))
    if isinstance(kb, ConceptKnowledgeBase):
        base, known = kb.base, kb.base.known(numbers.tolist())
        degrees = base.graph.degree[numbers]
        uses = np.where(np.isnan(uses), degrees, uses)
        if names:
            covered = np.add.reduceat((degrees > 0).astype(float), offsets[:-1]) / sizes[1:]
        if kb.vocab.vectors_length and known:
            # concepts repeat within a batch
            each = {one: kb.concept_vector(one) for one in dict.fromkeys(known)}
            vectors = np.array([each[one] for one in known], np.float32)
    else:
        every = [Known.of(number, name) for number, name in enumerate(met)]
        known = [every[number] for number in numbers.tolist()]
        entities = [list(one.entity_vector) for one in met.values()]
        length = kb.entity_vector_length
        vectors = np.array(entities, np.float32).reshape(len(every), length)[numbers]
        numbers = numbers[:0]
    table = CandidateTable(
        mentions=names,
        offsets=offsets,
        known=known,
        priors=priors,
        popularity=uses,
        written=written,
        linked=np.array([one.linked for one in best[1:]], np.float32),
        forms=numbered(forms),
        spellings=numbered(texts),
        covered=covered,
        vectors=vectors,
        concepts=numbers,
        base=base,
    )
    if not {None, ""}.isdisjoint(table.ids):
        raise ProblemError("candidates: a concept among them was removed; find them anew.")
    return table
