"""From mentions to candidates: by alias, by words, by your own function, from any base."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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


#: Finds the candidates of several mentions in a knowledge base, or of one where its second
#: parameter is a Span: then any function that spaCy's entity linker takes.
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
            written = np.concatenate([known.written, np.full(len(new), np.nan)])
            limit = self.limit
            found.append(
                FoundCandidates(
                    both[:limit], priors[:limit], written[:limit].astype(np.float32), known.linked
                )
            )
        return found


class Gathered(NamedTuple):
    """Which mentions have candidates, and the table of these."""

    kept: list[int]
    table: CandidateTable


def gather(
    kb: KnowledgeBase,
    finder: CandidateFinder,
    mentions: Sequence[Span],
    texts: Sequence[str],
    limit: int,
) -> Gathered:
    """Lay out the candidates of the mentions that have any.

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
    checks = not isinstance(finder, AliasCandidates | TextCandidates)
    kept: list[int] = []
    ours: list[FoundCandidates] = []
    others: list[list[Candidate]] = []
    for place, one in enumerate(found):
        if isinstance(kb, ConceptKnowledgeBase) and not isinstance(one, FoundCandidates):
            one = _numbered(kb, _ranked(one))
        if isinstance(one, FoundCandidates):
            if not checks and not len(one.concepts):
                continue
            own = _cut(_checked(one) if checks else one, limit)
            if (own.priors >= 0).any():
                kept.append(place)
                ours.append(own)
        else:
            ranked = _ranked(one)[:limit]
            if ranked:
                kept.append(place)
                others.append(ranked)
    names = [texts[place] for place in kept]
    if isinstance(kb, ConceptKnowledgeBase):
        return Gathered(kept, _of_concepts(kb, ours, names))
    if ours:
        raise ProblemError(
            "candidates: FoundCandidates have the numbers of concepts, which a "
            f"{type(kb).__name__} has not; return spaCy's candidates."
        )
    return Gathered(kept, _of_candidates(kb, others, names))


def found_by(kb: KnowledgeBase, finder: CandidateFinder, mentions: Sequence[Span]) -> list[Any]:
    """Call a finder with one mention or with all, as it wants them."""
    if not mentions:
        return []
    if takes_one_mention(finder):
        return [finder(kb, mention) for mention in mentions]
    found = list(finder(kb, mentions))
    if len(found) != len(mentions):
        raise ProblemError(
            f"candidates: expected those of {len(mentions)} mentions, one item each; got "
            f"{len(found)}."
        )
    return found


def takes_one_mention(finder: CandidateFinder) -> bool:
    """Whether a function finds the candidates of one mention, as spaCy's generators may.

    By the annotation of its second parameter, or by its name: ``mention``, ``span`` or ``ent``.
    """
    if isinstance(finder, AliasCandidates | TextCandidates):
        return False
    try:
        parameters = list(inspect.signature(finder).parameters.values())
    except (TypeError, ValueError):
        return False
    if len(parameters) < 2:
        return False
    given = parameters[1].annotation
    if given is not inspect.Parameter.empty:
        return given is Span or (isinstance(given, str) and given.split(".")[-1] == "Span")
    return parameters[1].name in ("mention", "span", "ent")


def _numbered(kb: ConceptKnowledgeBase, candidates: list[Candidate]) -> FoundCandidates:
    """Turn spaCy's candidates into those of a concept base, by their identifiers."""
    numbers = kb.base.ids.find([one.entity_ for one in candidates])
    if (numbers < 0).any():
        unknown = candidates[int(np.argmin(numbers))].entity_
        raise ProblemError(f"candidates: the knowledge base has no {unknown!r}.")
    priors = np.array([one.prior_prob for one in candidates], np.float32)
    return FoundCandidates(numbers.astype(np.int32), priors)


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


def _cut(found: FoundCandidates, limit: int) -> FoundCandidates:
    if len(found.concepts) <= limit:
        return found
    return FoundCandidates(
        found.concepts[:limit],
        found.priors[:limit],
        None if found.written is None else found.written[:limit],
        found.linked,
        None if found.popularity is None else found.popularity[:limit],
    )


def _ranked(candidates: Any) -> list[Candidate]:
    given = list(candidates)
    if not all(hasattr(one, "entity_") and hasattr(one, "prior_prob") for one in given):
        raise ProblemError(
            "candidates: expected FoundCandidates, or a list of spaCy's Candidate, for each "
            f"mention; got {candidates!r}."
        )
    return sorted(given, key=lambda one: (-one.prior_prob, one.entity))


def _of_concepts(
    kb: ConceptKnowledgeBase, found: list[FoundCandidates], names: list[str]
) -> CandidateTable:
    from ...knowledge.candidates import CandidateTable

    base = kb.base
    none = np.empty(0, np.int64)
    if not found:
        return CandidateTable(
            [], np.zeros(1, np.int64), [], [], np.zeros(0), np.zeros(0),
            np.zeros((0, kb.vocab.vectors_length), np.float32), none, base,
        )  # fmt: skip
    numbers = np.concatenate([none, *(one.concepts for one in found)]).astype(np.int64)
    # documents speak of the same concepts again and again
    distinct, places = np.unique(numbers, return_inverse=True)
    if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < len(base):
        raise ProblemError(
            f"candidates: concepts are numbered from 0 to {len(base) - 1}; got "
            f"{distinct[0]} to {distinct[-1]}."
        )
    ids, titles = base.ids.take(distinct), base.titles.take(distinct)
    if not all(ids):
        raise ProblemError("candidates: a concept among them was removed; find them anew.")
    vectors = np.zeros((len(distinct), kb.vocab.vectors_length), np.float32)
    for row, concept in enumerate(distinct.tolist() if kb.vocab.vectors_length else ()):
        vectors[row] = kb.concept_vector(concept)
    popularity = base.graph.degree[numbers].astype(np.float64)
    written = np.full(len(numbers), np.nan, np.float32)
    offsets = np.cumsum([0, *(len(one.concepts) for one in found)]).astype(np.int64)
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
        vectors=vectors[places.reshape(-1)],
        concepts=numbers,
        base=base,
        written=written,
        linked=np.array([np.nan if f.linked is None else f.linked for f in found], np.float32),
    )


def _of_candidates(
    kb: KnowledgeBase, found: list[list[Candidate]], names: list[str]
) -> CandidateTable:
    from ...knowledge.candidates import CandidateTable

    flat = [one for ranked in found for one in ranked]
    ids = [one.entity_ for one in flat]
    vectors = [list(one.entity_vector) for one in flat]
    return CandidateTable(
        mentions=names,
        offsets=np.cumsum([0, *map(len, found)]).astype(np.int64),
        ids=ids,
        titles=ids,
        priors=np.array([one.prior_prob for one in flat], np.float64),
        popularity=np.array([max(0.0, one.entity_freq) for one in flat], np.float64),
        vectors=np.array(vectors, np.float32).reshape(len(flat), kb.entity_vector_length),
        concepts=np.empty(0, np.int64),
    )
