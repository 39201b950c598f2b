"""From mentions to candidates: by alias, by words, by your own function, from any base."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.kb import Candidate, KnowledgeBase
from spacy.tokens import Span

from ...arrays import checked_indices
from ...errors import ProblemError
from .knowledge_base import ConceptKnowledgeBase

if TYPE_CHECKING:
    from ...knowledge.aliases import Meanings
    from ...knowledge.candidates import CandidateTable
    from ...knowledge.texts import Known

__all__ = ["AliasCandidates", "CandidateFinder", "FoundCandidates", "TextCandidates", "found_by"]


#: What a candidate that is found by words counts where others are known by the mention's text.
_BY_WORDS = 0.02


@dataclass(frozen=True)
class FoundCandidates:
    """Concepts that a mention may mean, best first, and how often it means each.

    A prior below 0 forbids a concept: it is shown among the candidates, and never chosen. A
    mention with none but forbidden ones is linked to nothing.
    """

    #: Their numbers in the concept base. **Shape:** ``(candidates,)``
    concepts: NDArray[np.int32]
    #: How often the mention means each. **Shape:** ``(candidates,)``
    priors: NDArray[np.float32]
    #: How often each is written with the mention's capitals, NaN where unknown; None where
    #: it is of all. **Shape:** ``(candidates,)``
    written: NDArray[np.float32] | None = None
    #: How often the mention's text is a link at all; None where unknown.
    linked: float | None = None
    #: How often each is spoken of; None for its links in the graph. **Shape:**
    #: ``(candidates,)``
    popularity: NDArray[np.float64] | None = None

    def first(self, count: int) -> FoundCandidates:
        """Return the best of them."""
        if len(self.concepts) <= count:
            return self
        return FoundCandidates(
            self.concepts[:count],
            self.priors[:count],
            None if self.written is None else self.written[:count],
            self.linked,
            None if self.popularity is None else self.popularity[:count],
        )


#: Finds the candidates of several mentions in a knowledge base.
CandidateFinder = Callable[..., Iterable[Any]]


@dataclass(frozen=True)
class AliasCandidates:
    """Candidates of which the mention is a known alias, whatever its case.

    In a knowledge base of another kind they are what its ``get_candidates_batch`` gives.
    """

    def __call__(self, kb: KnowledgeBase, mentions: Sequence[Span]) -> list[Any]:
        if not isinstance(kb, ConceptKnowledgeBase):
            return list(kb.get_candidates_batch(mentions))
        return [
            _NONE
            if known is None
            else FoundCandidates(
                known.concepts, known.priors, _written(known, mention), known.link
            )
            for known, mention in zip(
                kb.base.aliases.find([mention.text for mention in mentions]), mentions, strict=True
            )
        ]


_NONE = FoundCandidates(
    np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32), None
)


def _written(known: Meanings, mention: Span) -> NDArray[np.float32]:
    """How often each candidate is written as the mention; a sentence begins with a capital."""
    text = mention.text
    written = known.written(text)
    first = mention[0]
    if text[:1].isupper() and (first.i == 0 or first.is_sent_start):
        written = np.fmax(written, known.written(text[:1].lower() + text[1:]))
    if text.isupper():  # a headline writes everything so
        written = np.fmax(written, known.written(text.capitalize()))
    return written


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
            # a name that is known seldom means what only shares a word with it
            least *= _BY_WORDS if len(known.concepts) else 1.0
            ranked = least / (2.0 + np.arange(len(new)))
            both = np.concatenate([known.concepts, new]).astype(np.int32)
            priors = np.concatenate([known.priors, ranked]).astype(np.float32)
            written = np.concatenate([known.written, np.full(len(new), np.nan, np.float32)])
            every = FoundCandidates(both, priors, written, known.linked)
            found.append(every.first(self.limit))
        return found


def gather(
    kb: KnowledgeBase,
    finder: CandidateFinder,
    mentions: Sequence[Span],
    texts: Sequence[str],
    limit: int,
) -> tuple[list[int], CandidateTable]:
    """Return which mentions have candidates, and the table of these.

    Parameters
    ----------
    kb, finder
        Where candidates are found, and what finds them.
    mentions, texts
        The mentions, and their normalised texts.
    limit
        The most candidates of each.
    """
    found = found_by(kb, finder, mentions)
    concepts = _Concepts(kb)
    checks = not isinstance(finder, AliasCandidates | TextCandidates)
    kept: list[int] = []
    laid: list[FoundCandidates] = []
    for place, one in enumerate(found):
        if not isinstance(one, FoundCandidates):
            one = concepts.numbered(_ranked(one))
        elif checks:
            one = _checked(one)
            if concepts.base is None:
                raise ProblemError(
                    "candidates: FoundCandidates have the numbers of concepts, which a "
                    f"{type(kb).__name__} has not; return spaCy's candidates."
                )
        one = one.first(limit)
        if (one.priors >= 0).any():
            kept.append(place)
            laid.append(one)
    return kept, concepts.table(laid, [texts[place] for place in kept])


def found_by(kb: KnowledgeBase, finder: CandidateFinder, mentions: Sequence[Span]) -> list[Any]:
    """Call a finder, which has to give an item for each mention."""
    try:
        found = list(finder(kb, mentions)) if mentions else []
    except (AttributeError, TypeError) as error:
        raise ProblemError(
            "candidates: expected a function of the knowledge base and all mentions of a text, as "
            f"spacy.CandidateBatchGenerator.v1 gives; this one raised {error!r}."
        ) from error
    if len(found) != len(mentions):
        raise ProblemError(
            f"candidates: expected those of {len(mentions)} mentions, one item each; got "
            f"{len(found)}."
        )
    return found


def _checked(found: FoundCandidates) -> FoundCandidates:
    """Return candidates in arrays of one length; only shares that are unknown are NaN."""
    concepts = checked_indices("candidates: concepts", found.concepts, (None,))
    columns: dict[str, Any] = {}
    for name, dtype in (("priors", np.float32), ("written", np.float32), ("popularity", float)):
        given = getattr(found, name)
        if given is None and name != "priors":
            columns[name] = None
            continue
        try:
            values = np.asarray(given, dtype)
        except (TypeError, ValueError):
            raise ProblemError(f"candidates: {name}: expected numbers; got {given!r}.") from None
        if values.shape != concepts.shape:
            raise ProblemError(
                f"candidates: {name}: expected one for each of {len(concepts)} concepts; got "
                f"shape {values.shape}."
            )
        bad = np.isinf(values) if name == "written" else ~np.isfinite(values)
        if bad.any():
            raise ProblemError(f"candidates: {name}: {values[bad][0]} is no finite number.")
        columns[name] = values
    return FoundCandidates(concepts, linked=found.linked, **columns)


def _ranked(candidates: Any) -> list[Candidate]:
    given = list(candidates)
    if not all(hasattr(one, "entity_") and hasattr(one, "prior_prob") for one in given):
        raise ProblemError(
            "candidates: expected FoundCandidates, or a list of spaCy's Candidate, for each "
            f"mention; got {candidates!r}."
        )
    return sorted(given, key=lambda one: (-one.prior_prob, one.entity))


class _Concepts:
    """The concepts of a knowledge base by number; of spaCy's own, those that were met."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.base = kb.base if isinstance(kb, ConceptKnowledgeBase) else None
        self._met: dict[str, int] = {}
        self._vectors: list[list[float]] = []

    def numbered(self, candidates: list[Candidate]) -> FoundCandidates:
        """Turn spaCy's candidates into numbers, by their identifiers."""
        ids = [one.entity_ for one in candidates]
        priors = np.array([one.prior_prob for one in candidates], np.float32)
        if self.base is not None:
            numbers = self.base.ids.find(ids)
            if (numbers < 0).any():
                unknown = ids[int(np.argmin(numbers))]
                raise ProblemError(f"candidates: the knowledge base has no {unknown!r}.")
            return FoundCandidates(numbers.astype(np.int32), priors)
        for one, name in zip(candidates, ids, strict=True):
            if name not in self._met:
                self._met[name] = len(self._met)
                self._vectors.append(list(one.entity_vector))
        met = np.array([self._met[name] for name in ids], np.int32)
        uses = np.array([max(0.0, one.entity_freq) for one in candidates], np.float64)
        return FoundCandidates(met, priors, popularity=uses)

    def table(self, found: list[FoundCandidates], names: list[str]) -> CandidateTable:
        """Lay out candidates end to end."""
        from ...knowledge.candidates import CandidateTable

        base = self.base
        none = np.empty(0, np.int64)
        numbers = np.concatenate([none, *(one.concepts for one in found)]).astype(np.int64)
        offsets = np.cumsum([0, *(len(one.concepts) for one in found)]).astype(np.int64)
        # documents speak of the same concepts again and again
        distinct, places = np.unique(numbers, return_inverse=True)
        ids, titles, vectors, known = self._known(distinct)
        popularity = np.zeros(len(numbers))
        if base is not None:
            popularity += base.graph.degree[numbers]
        written = np.full(len(numbers), np.nan, np.float32)
        for one, start, stop in zip(found, offsets.tolist(), offsets[1:].tolist(), strict=False):
            if one.written is not None:
                written[start:stop] = one.written
            if one.popularity is not None:
                popularity[start:stop] = one.popularity
        spread = places.reshape(-1).tolist()
        return CandidateTable(
            mentions=names,
            offsets=offsets,
            ids=[ids[row] for row in spread],
            titles=[titles[row] for row in spread],
            priors=np.concatenate([none, *(one.priors for one in found)]).astype(np.float64),
            popularity=popularity,
            vectors=vectors[spread],
            concepts=numbers if base is not None else none,
            base=base,
            known=[known[row] for row in spread] if known else (),
            written=written,
            linked=np.array([np.nan if f.linked is None else f.linked for f in found], np.float32),
        )

    def _known(
        self, numbers: NDArray[np.int64]
    ) -> tuple[Sequence[str], Sequence[str], NDArray[np.float32], Sequence[Known]]:
        """The identifiers, titles and vectors of some concepts, and what a concept base knows."""
        base, vocab = self.base, self.kb.vocab
        if not isinstance(self.kb, ConceptKnowledgeBase) or base is None:
            met = list(self._met)
            ids, given = [met[i] for i in numbers], [self._vectors[i] for i in numbers]
            length = self.kb.entity_vector_length
            return ids, ids, np.array(given, np.float32).reshape(len(ids), length), ()
        if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < len(base):
            raise ProblemError(
                f"candidates: concepts are numbered from 0 to {len(base) - 1}; got "
                f"{numbers[0]} to {numbers[-1]}."
            )
        known = base.known(numbers.tolist())
        ids = [one.id or "" for one in known]
        if not all(ids):
            raise ProblemError("candidates: a concept among them was removed; find them anew.")
        vectors = np.zeros((len(numbers), vocab.vectors_length), np.float32)
        for row, concept in enumerate(numbers.tolist() if vocab.vectors_length else ()):
            vectors[row] = self.kb.concept_vector(concept)
        return ids, [one.title for one in known], vectors, known
