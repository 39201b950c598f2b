"""Scoring the words and phrases of documents, and headlines that are phrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span

from ...arrays import Booleans, Floats, Integers
from ...certificate import Certificate, tolerance_of
from ...errors import ProblemError
from ...models.headline.features import Phrases, phrase_features, token_features
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.selection import HeadlineModel, word_odds
from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens, Vertices
from ..factories.headline_generator import HeadlineOptions
from .meaning import SentenceTrees, anywhere, inherited, salutations
from .reading import QUOTE_MARKS, Texts, after

__all__ = [
    "Headline", "ScoredTexts", "ScoredUnit", "capitalised", "headlines_of_phrases",
    "limits_of", "scored_units", "whole_phrases",
]  # fmt: skip


#: The most content words of a phrase where the length is automatic.
USUAL_UNITS = 10
#: The assumed probability that a token that is no content word is in the title.
OTHERS = 0.02
#: The cost of a word in a sentence: it must be likelier than this to be in the title.
COST = 0.06
#: The score of an address in a sentence: it names nobody that a reader knows.
ADDRESS = -1.0


@dataclass
class Headline:
    """One headline."""

    #: The text of the headline.
    text: str
    #: Indices in the document of its tokens, in the order of the headline.
    tokens: list[int]
    #: The auxiliary word between each two of them, "" for none; only for single words.
    auxiliaries: list[str]
    #: Whether it is proven to be the best of its kind.
    certificate: Certificate
    #: "phrases", "sentence" or "words".
    kind: str = "words"
    #: How often it occurs in the text.
    occurrences: int = 1
    #: The probability that it is good; None for single words.
    prob: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain types, suitable for ``Doc._`` and DocBin."""
        names = ("text", "prob", "kind", "tokens", "auxiliaries")
        certificate = {"score": self.certificate.score, "certificate": self.certificate.as_dict()}
        return {name: getattr(self, name) for name in names} | certificate


def capitalised(text: str) -> str:
    """A headline on one line, its first word capitalised unless it has a capital somewhere."""
    text = " ".join(text.split())
    if not text.split(" ")[0].islower():
        return text
    place = int(text[0] in QUOTE_MARKS)
    return text[:place] + text[place].title() + text[place + 1 :]


def limits_of(options: HeadlineOptions, usual: tuple[int, int]) -> tuple[int, int]:
    """The fewest and the most words: the `usual` ones if the length is automatic."""
    if options.length == "auto":
        return usual
    ends = [options.length] if isinstance(options.length, int) else options.length
    return ends[0], ends[-1]


class ScoredPhrases(NamedTuple):
    """Phrases of texts. **Shape of all, features apart:** ``(n,)``"""

    starts: Integers
    ends: Integers
    #: How often each occurs in its text, and its number of content words and numbers.
    counts: Integers
    sizes: Integers
    scores: Floats
    #: **Shape:** ``(n, len(PHRASE_FEATURES))``
    features: Floats


@dataclass(frozen=True, eq=False)
class ScoredTexts:
    """Several documents or spans, read and scored together."""

    texts: Texts
    tokens: TextTokens
    model: HeadlineModel
    knowledge: HeadlineKnowledge
    #: The features of each token. **Shape:** ``(tokens, len(FEATURES))``
    features: Floats
    #: The content words, and the log-odds of each. **Shape:** ``(vertices,)``
    vertices: Vertices
    odds: Floats
    #: The probability that each token is in the title. **Shape:** ``(tokens,)``
    chances: Floats

    @classmethod
    def of(
        cls, texts: Texts, tokens: TextTokens, model: HeadlineModel, knowledge: HeadlineKnowledge
    ) -> ScoredTexts:
        """Score the words of texts by a model and the counts of its training corpus."""
        vertices, features = Vertices.of(tokens), token_features(tokens, knowledge)
        odds = word_odds(model, vertices, features)
        # the last for tokens that are no content words
        chances = np.append(1.0 / (1.0 + np.exp(-odds)), OTHERS)[vertices.of_token]
        return cls(texts, tokens, model, knowledge, features, vertices, odds, chances)

    @cached_property
    def phrases(self) -> ScoredPhrases:
        """The phrases that can be headlines, in the order of the text."""
        tokens, found = self.tokens, Phrases.of(self.tokens)
        chosen = found.candidates(whole_phrases(self.texts, found.starts, found.ends))
        starts, ends = found.starts[chosen], found.ends[chosen]
        units = np.append(0, np.cumsum(tokens.unit))
        counts, sizes = found.counts[found.numbers[chosen]], units[ends] - units[starts]
        table = phrase_features(tokens, found, chosen, self.features, self.chances, self.knowledge)
        weights: Any = self.model.get_param("phrases")
        return ScoredPhrases(starts, ends, counts, sizes, table @ weights.astype("d"), table)

    @cached_property
    def values(self) -> Floats:
        """The score of each token in a shortened sentence. **Shape:** ``(tokens,)``"""
        texts = self.texts
        aside = texts.kinds["IS_STOP"] | texts.kinds["aside"]
        values = np.where(aside, 0.0, self.chances) - COST
        return np.where(texts.read, np.where(texts.addresses, ADDRESS, values), 0.0)

    @cached_property
    def sentences(self) -> SentenceTrees:
        """The sentences as trees."""
        return SentenceTrees.of(self.texts, self.values)


@dataclass(eq=False)
class ScoredUnit:
    """A document or span of a batch."""

    batch: ScoredTexts
    unit: Doc | Span
    #: Its tokens in the batch are ``begin:end``.
    begin: int
    end: int
    #: Whether no budget ended before a headline was found that may exist.
    is_decided: bool = True

    @property
    def has_words(self) -> bool:
        """Whether it has a token that is read aloud."""
        return bool(self.batch.texts.read[self.begin : self.end].any())

    def own(self, places: Integers) -> slice:
        """The slice of ascending positions that are within it."""
        return slice(*places.searchsorted((self.begin, self.end)).tolist())

    def positions_of(self, headline: Headline) -> list[int]:
        """The positions in the batch of a headline's tokens."""
        moved = self.begin - (0 if isinstance(self.unit, Doc) else self.unit.start)
        return [token + moved for token in headline.tokens]


def scored_units(
    units: Sequence[Doc | Span], stemmer: Stemmer, model: HeadlineModel
) -> list[ScoredUnit]:
    """Read documents or spans as one batch, and score their words.

    Raises `ProblemError` if a weight of the model is not finite.
    """
    weights: Any = map(model.get_param, model.param_names)
    if not all(np.isfinite(of).all() for of in weights):
        raise ProblemError(
            "model: it has weights that are not finite, and so would be the scores; train again, "
            "with other texts."
        )
    texts = Texts.of(units)
    batch = ScoredTexts.of(texts, texts.tokens(stemmer), model, model.attrs["knowledge"])
    pairs = zip(units, texts.bounds, strict=True)
    return [ScoredUnit(batch, unit, *bounds) for unit, bounds in pairs]


def whole_phrases(texts: Texts, starts: Integers, ends: Integers) -> Booleans:
    """Which spans can stand alone: in parsed texts, noun phrases.

    In other texts all can, except addresses, names of accounts and codes.

    **Shape of starts, ends and result:** ``(spans,)``
    """
    from ...models.headline.kernels.phrases import choose  # compiled at the first call

    to, kinds, parsed = texts.heads, texts.kinds, texts.parsed
    own = np.arange(len(to))
    before, denying = to > own, kinds["negative"] | kinds["negation"]
    governed, hidden = _governed(texts, denying)
    # no addresses; in parsed texts no finite verbs, and no "Paris or in Rome" either
    banned = kinds["finite"] | kinds["AUX"] | kinds["aside"]
    banned |= kinds["case"] & kinds["conj"][to]
    banned = texts.addresses | (parsed & (banned | salutations(texts)))
    # no phrase begins within a name, after the article of "a few", or between a negation and what
    # it negates
    name, part = kinds["PROPN"], kinds["part"]
    bad = kinds["INTJ"] | (kinds["joining"] & before) | (kinds["negation"] & after(kinds["det"]))
    bad |= name & after(name) & ((to == own - 1) | after(to == own + 1))
    denied = (denying & before).nonzero()[0]
    steps = np.bincount(denied, minlength=len(to)) - np.bincount(to[denied], minlength=len(to))
    bad |= after(steps.cumsum() > 0)
    # nor ends within a name
    last = kinds["last"].copy()
    last[:-1] &= ~(part & ~before)[1:]
    named = kinds["noun"] & ~hidden & ~(part & before)
    marks = kinds["quote"] & ~texts.read
    verbs = np.ascontiguousarray(kinds["VERB"])  # also of no words, lest it compile anew
    given = to, parsed, banned, bad, last, named, marks, governed, verbs
    return choose(starts, ends, *given)


def _governed(texts: Texts, denying: Booleans) -> tuple[Booleans, Booleans]:
    """Which tokens are within what is negated or asked, and where verbs are taken for nouns."""
    kinds, sentence = texts.kinds, texts.sentences
    asked = anywhere(kinds["question"], sentence)
    found = np.zeros(len(sentence), dtype=bool)
    found[texts.heads[denying]] = True
    # taggers take verbs after "did" for nouns
    return inherited(found, texts.heads), asked & anywhere(kinds["did"], sentence)


def headlines_of_phrases(scored: ScoredUnit, options: HeadlineOptions) -> list[Headline]:
    """Return the best phrases, best first.

    The score is the log-probability of a phrase among all that can be headlines. The bound is the
    maximum of these within the limits, computed apart from the choice.
    """
    phrases, texts = scored.batch.phrases, scored.batch.texts
    rows = scored.own(phrases.starts)
    # lists, since most texts have a dozen phrases
    starts, ends, counts, sizes, raw = (of[rows].tolist() for of in phrases[:-1])

    def span(place: int) -> Span:
        first, last = starts[place], ends[place]
        if (first - 1, last) in texts.quotations:
            # quotation marks around a name alone are dropped
            quoted = int(not texts.kinds["PROPN"][first:last].all())
            first, last = first - quoted, last + quoted
        return scored.unit[first - scored.begin : last - scored.begin]

    usual = 1, max(scored.batch.knowledge.lengths[1], USUAL_UNITS)
    least, most = limits_of(options, usual)
    ranked = sorted(range(len(raw)), key=raw.__getitem__, reverse=True)
    ranked = [place for place in ranked if sizes[place] <= most]
    if (limit := options.max_chars) is not None:
        ranked = [place for place in ranked if len(capitalised(span(place).text)) <= limit]
    # if no phrase is long enough, the longest ones are used
    least = min(least, max(map(sizes.__getitem__, ranked), default=0))
    ranked = [place for place in ranked if sizes[place] >= least]
    if not ranked:
        return []
    total, scale = float(np.logaddexp.reduce(raw)), max(map(abs, raw)) + 1.0
    bound, tolerance = max(map(raw.__getitem__, ranked)) - total, tolerance_of(scale)
    headlines = []
    for place in ranked[: options.n_best]:
        certificate = Certificate.from_bound(
            "BestPhrase", raw[place] - total, bound, tolerance=tolerance, scale=scale
        )
        found = span(place)
        tokens = [token.i for token in found if not token.is_space]
        text, count = capitalised(found.text), counts[place]
        headlines.append(Headline(text, tokens, [], certificate, "phrases", count))
    return headlines
