"""From documents to scored words and phrases, and headlines that are phrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_STOP, POS, SENT_START
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span

from ...certificate import Certificate, tolerance_of
from ...errors import ProblemError
from ...models.headline.features import phrase_features, token_features
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.phrases import MOST_CANDIDATES, Phrases, inside
from ...models.headline.selection import HeadlineModel, word_odds
from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens, Vertices
from ..factories.headline_generator import HeadlineOptions
from .reading import Texts

__all__ = [
    "ADDRESS", "Headline", "ScoredUnit", "candidates_of", "capitalised", "chances_of",
    "headlines_of_phrases", "limits_of", "scored_units", "token_values", "whole_phrases",
]  # fmt: skip

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The most words with a meaning of a usual phrase.
USUAL_UNITS = 10
#: How likely a token that is no content word is taken to be in the title.
OTHERS = 0.02
#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: What an address adds to a sentence: it names nobody that a reader knows.
ADDRESS = -1.0
#: Tags of what names things, and of what noun phrases end with.
_NOUNS, _LAST = (
    np.array([IDS[tag] for tag in tags], dtype=np.uint64)
    for tags in (("NOUN", "PROPN", "X", ""), ("NOUN", "PROPN", "X", "", "NUM", "SYM"))
)


@dataclass
class Headline:
    """One headline."""

    #: The text of the headline.
    text: str
    #: Indices, in the document, of the tokens it is made of, in its own order.
    tokens: list[int]
    #: The word between each two of them, "" for none; empty but for single words.
    auxiliaries: list[str]
    #: That it is the best of its kind.
    certificate: Certificate
    #: "phrases", "sentence" or "words".
    kind: str = "words"
    #: How often the text has it.
    occurrences: int = 1
    #: The probability that it is good; None for single words.
    prob: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain types, suitable for ``Doc._`` and DocBin."""
        return {
            "text": self.text,
            "score": self.certificate.score,
            "prob": self.prob,
            "kind": self.kind,
            "tokens": self.tokens,
            "auxiliaries": self.auxiliaries,
            "certificate": self.certificate.as_dict(),
        }


def capitalised(text: str) -> str:
    """A headline on one line, the first word with a capital, if it is in lower case."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] if text.split(" ")[0].islower() else text


def limits_of(options: HeadlineOptions, usual: tuple[int, int]) -> tuple[int, int]:
    """The least and the most words, the `usual` ones where the length is automatic."""
    if options.length == "auto":
        return usual
    if isinstance(options.length, int):
        return options.length, options.length
    return options.length[0], options.length[-1]


@dataclass(frozen=True, eq=False)
class ScoredUnit:
    """A document or span, read and scored."""

    unit: Doc | Span
    tokens: TextTokens
    #: The log-odds of each of its content words. **Shape:** ``(vertices,)``
    odds: Floats
    #: How likely each token is in the title. **Shape:** ``(tokens,)``
    chances: Floats
    #: What each token adds to a short sentence. **Shape:** ``(tokens,)``
    values: Floats
    #: Whether it is a word, read aloud. **Shape:** ``(tokens,)``
    words: Booleans
    #: The phrases that could be headlines: where they are, how often the text has them, and their
    #: scores. **Shape of all:** ``(n,)``
    starts: Integers
    ends: Integers
    counts: Integers
    scores: Floats
    #: The place of its first token in the document.
    origin: int

    def places_of(self, headline: Headline) -> Integers:
        """Where it has the tokens of a headline. **Shape:** ``(k,)``"""
        return np.array(headline.tokens, dtype=np.int64) - self.origin


def scored_units(
    units: Sequence[Doc | Span], stemmer: Stemmer, model: HeadlineModel, *, phrases: bool
) -> list[ScoredUnit]:
    """Read documents or spans and score their words; their phrases, too, if wanted."""
    texts, knowledge = Texts.of(units), model.attrs["knowledge"]
    tokens = texts.tokens(stemmer)
    vertices, features = Vertices.of(tokens), token_features(tokens, knowledge)
    odds = word_odds(model, vertices, features)
    chances = chances_of(vertices, odds)
    values = token_values(texts, chances)
    starts = ends = counts = np.zeros(0, dtype=np.int64)
    scores = np.zeros(0)
    if phrases:
        found, chosen = candidates_of(texts, tokens)
        weights: Any = model.get_param("phrases")
        table = phrase_features(tokens, found, chosen, features, chances, knowledge)
        scores = table @ weights.astype("d")
        starts, ends = found.starts[chosen], found.ends[chosen]
        counts = found.counts[found.numbers[chosen]]
    if not (np.isfinite(odds).all() and np.isfinite(scores).all()):
        raise ProblemError(
            "model: the scores of words or phrases are not finite, so its weights are not either; "
            "train again, with other texts."
        )
    begins = [begin for begin, _ in texts.bounds]
    words = np.split(odds, np.searchsorted(vertices.first, begins[1:]))
    rows = np.split(np.arange(len(starts)), np.searchsorted(starts, begins[1:]))
    return [
        ScoredUnit(
            unit,
            tokens.part(begin, end),
            own,
            chances[begin:end],
            values[begin:end],
            texts.read[begin:end],
            starts[row] - begin,
            ends[row] - begin,
            counts[row],
            scores[row],
            0 if isinstance(unit, Doc) else unit.start,
        )
        for unit, (begin, end), own, row in zip(units, texts.bounds, words, rows, strict=False)
    ]


def chances_of(vertices: Vertices, odds: Floats) -> Floats:
    """How likely each token is in the title, given the log-odds of the content words."""
    return np.append(1.0 / (1.0 + np.exp(-odds)), OTHERS)[vertices.of_token]  # last for token -1


def token_values(texts: Texts, chances: Floats) -> Floats:
    """What each token adds to a sentence that keeps it, given how likely it is in the title.

    **Shape of both:** ``(tokens,)``
    """
    aside = (texts.columns[IS_STOP] > 0) | texts.kinds["aside"]
    values = np.where(aside, 0.0, chances) - COST
    return np.where(texts.read, np.where(texts.addresses, ADDRESS, values), 0.0)


def candidates_of(texts: Texts, tokens: TextTokens) -> tuple[Phrases, Integers]:
    """The phrases of texts, and the places of those that could be headlines."""
    phrases = Phrases.of(tokens)
    whole = whole_phrases(texts, phrases.starts, phrases.ends)
    return phrases, phrases.candidates(tokens, whole)


def whole_phrases(texts: Texts, starts: Integers, ends: Integers) -> Booleans:
    """Which spans can stand by themselves: noun phrases, where there are trees.

    Where nothing is parsed all can, but for addresses and names of accounts.

    **Shape of starts, ends and result:** ``(spans,)``
    """
    to, tags, kinds, parsed = texts.heads, texts.columns[POS], texts.kinds, texts.annotated("DEP")
    own = np.arange(len(to))
    before = to > own
    denying = kinds["negative"] | kinds["negation"]
    governed, hidden = _governed(texts, denying)
    # addresses, and finite verbs
    excluded = texts.addresses | (parsed & (kinds["finite"] | (tags == IDS["AUX"])))
    # no phrase begins with what is negated before it, or in the middle of a name
    name = tags == IDS["PROPN"]
    bad = (tags == IDS["INTJ"]) | (kinds["joining"] & before)
    bad[1:] |= name[1:] & name[:-1] & ((to[1:] == own[:-1]) | (to[:-1] == own[1:]))
    bad[to[denying & before]] = True
    named = np.isin(tags, _NOUNS) & ~kinds["aside"] & ~hidden
    # the place of the word after each token that a phrase cannot end without
    needs = np.where(kinds["part"] & before, to, -1)
    later = np.flatnonzero(kinds["part"] & (to < own))
    np.maximum.at(needs, to[later], later)

    excluded = np.append(0, np.cumsum(excluded))
    verbs = np.append(0, np.cumsum(tags == IDS["VERB"]))
    good: Booleans = excluded[ends] == excluded[starts]
    places = np.flatnonzero(good & parsed[starts] & ~bad[starts])
    good &= ~parsed[starts]
    starts, ends = starts[places], ends[places]
    head = _heads(to, needs, starts, ends)
    fits = (head >= 0) & named[head] & np.isin(tags[ends - 1], _LAST)
    good[places] = fits & (~governed[head] | (verbs[ends] == verbs[starts]))
    return good


def _heads(to: Integers, needs: Integers, starts: Integers, ends: Integers) -> Integers:
    """The token of each span that all its others depend on; -1 if it lacks something.

    So it does if two of its words depend on others outside of it, or if a word needs one behind
    its end.
    """
    if not len(starts):
        return starts
    places, rows = inside(starts, ends)
    low, high = np.repeat([starts, ends], ends - starts, axis=1)
    outside = (to[places] < low) | (to[places] >= high) | (to[places] == places)
    heads = np.add.reduceat(np.where(outside, places, 0), rows)
    alone = np.add.reduceat(outside.astype(np.int64), rows) == 1
    return np.where(alone & (np.maximum.reduceat(needs[places], rows) < ends), heads, -1)


def _governed(texts: Texts, denying: Booleans) -> tuple[Booleans, Booleans]:
    """Which tokens are in another's clause, denied or asked; which verbs look like nouns there."""
    above, kinds = texts.heads, texts.kinds
    begins = texts.columns[SENT_START].astype(np.int64) == 1
    sentence = np.cumsum(begins)
    asked = np.unique(sentence[kinds["question"]])
    found = kinds["below"] | np.isin(sentence, asked)
    found[above[denying]] = True
    while (above != above[above]).any():  # of each token the ancestor at twice the distance
        found |= found[above]
        above = above[above]
    found |= found[above]
    # verbs behind "did", or "should" of a condition, are easily taken for nouns
    supposed = sentence[begins & (texts.columns[POS] == IDS["AUX"])]
    did = np.intersect1d(asked, sentence[kinds["did"]])
    return found, np.isin(sentence, [*did, *np.setdiff1d(supposed, asked)])


def headlines_of_phrases(
    scored: ScoredUnit, knowledge: HeadlineKnowledge, options: HeadlineOptions
) -> list[Headline]:
    """Choose the best phrases of all lengths, best first.

    The score is the logarithm of a phrase's probability among all that could be a headline; the
    bound that of the best of them, whether or not it was chosen.
    """
    unit, starts, ends = scored.unit, scored.starts, scored.ends
    if not len(starts):
        return []
    scores = scored.scores - np.logaddexp.reduce(scored.scores)
    units = np.append(0, np.cumsum(scored.tokens.unit))
    sizes = units[ends] - units[starts]
    least, most = limits_of(options, (1, max(knowledge.lengths[1], USUAL_UNITS)))
    fitting = sizes <= most
    if options.max_chars is not None:
        for place in np.flatnonzero(fitting).tolist():
            text = capitalised(unit[int(starts[place]) : int(ends[place])].text)
            fitting[place] = len(text) <= options.max_chars
    if not fitting.any():
        return []
    # a text without a phrase as long gets the longest
    fitting &= sizes >= min(least, sizes[fitting].max())
    bound, scale = float(scores[fitting].max()), float(np.abs(scored.scores).max()) + 1.0
    places = np.flatnonzero(fitting)
    headlines = []
    for place in places[np.lexsort((sizes[places], -scores[places]))][: options.n_best].tolist():
        certificate = Certificate.from_bound(
            "BestPhrase", float(scores[place]), bound, tolerance=tolerance_of(scale), scale=scale
        )
        if len(starts) == MOST_CANDIDATES:
            certificate = replace(certificate, scope="pruned")
        span = unit[int(starts[place]) : int(ends[place])]
        inside = [token.i for token in span if not token.is_space]
        count = int(scored.counts[place])
        headlines.append(
            Headline(capitalised(span.text), inside, [], certificate, "phrases", count)
        )
    return headlines
