"""From texts to their headlines: score words and phrases, find the best, judge them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...certificate import Certificate, tolerance_of
from ...errors import ProblemError
from ...models.headline.features import phrase_features, token_features
from ...models.headline.judge import chance_of, judge_facts
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.phrases import MOST_CANDIDATES, Phrases
from ...models.headline.selection import HeadlineModel, word_odds
from ...models.headline.stems import Stemmer
from ...models.headline.words import TextTokens, Vertices
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised
from .phrase_edges import whole_phrases
from .reading import Texts
from .sentence_trees import token_values
from .sentences import headlines_of_sentences
from .single_words import headlines_of_words, lengths_of

__all__ = ["DECODE", "DECODERS", "known_of", "judged", "scored_units"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The most words with a meaning of a usual phrase.
USUAL_UNITS = 10
#: How likely a token that is no content word is taken to be in the title.
OTHERS = 0.02


def scored_units(
    texts: Texts,
    stemmer: Stemmer,
    model: HeadlineModel,
    knowledge: HeadlineKnowledge,
    *,
    phrases: bool,
) -> list[ScoredUnit]:
    """Read texts and score their words; their phrases, too, if wanted."""
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
    cuts = np.searchsorted(starts, [begin for begin, _ in texts.bounds]).tolist()
    of_text = tokens.text[vertices.first]
    units = []
    for number, (unit, (begin, end)) in enumerate(zip(texts.units, texts.bounds, strict=True)):
        own = slice(*[*cuts, len(starts)][number : number + 2])
        units.append(
            ScoredUnit(
                unit,
                tokens.part(begin, end),
                odds[of_text == number],
                chances[begin:end],
                values[begin:end],
                texts.read[begin:end],
                starts[own] - begin,
                ends[own] - begin,
                counts[own],
                scores[own],
            )
        )
    return units


def candidates_of(texts: Texts, tokens: TextTokens) -> tuple[Phrases, Integers]:
    """The phrases of texts, and the places of those that could be headlines."""
    phrases = Phrases.of(tokens)
    whole = whole_phrases(texts, phrases.starts, phrases.ends)
    return phrases, phrases.candidates(tokens, whole)


def chances_of(vertices: Vertices, odds: Floats) -> Floats:
    """How likely each token is in the title, given the log-odds of the content words."""
    return np.append(1.0 / (1.0 + np.exp(-odds)), OTHERS)[vertices.of_token]  # last for token -1


def headlines_of_phrases(
    scored: ScoredUnit, knowledge: HeadlineKnowledge, options: HeadlineOptions
) -> list[Headline]:
    """Choose the best phrases of all lengths, best first.

    The score is the logarithm of a phrase's probability among all that could be a headline; the
    bound that of the best of them, whether or not it was chosen.
    """
    unit, tokens, starts, ends = scored.unit, scored.tokens, scored.starts, scored.ends
    if not len(starts):
        return []
    scores = scored.scores - np.logaddexp.reduce(scored.scores)
    units = np.append(0, np.cumsum(tokens.unit))
    sizes = units[ends] - units[starts]
    usual = (1, max(knowledge.lengths[1], USUAL_UNITS))
    lengths = lengths_of(options, usual, len(np.unique(tokens.stems[tokens.unit])))
    fitting = sizes <= lengths[-1]
    if options.max_chars is not None:
        for place in np.flatnonzero(fitting).tolist():
            text = capitalised(unit[int(starts[place]) : int(ends[place])].text)
            fitting[place] = len(text) <= options.max_chars
    if not fitting.any():
        return []
    # a text without a phrase as long gets the longest
    fitting &= sizes >= min(lengths[0], sizes[fitting].max())
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


def headlines_of_both(
    scored: ScoredUnit, knowledge: HeadlineKnowledge, options: HeadlineOptions
) -> list[Headline]:
    """The best phrases and, where there is a parse, the best short sentences."""
    headlines = headlines_of_phrases(scored, knowledge, options)
    doc = scored.doc
    if doc.has_annotation("DEP"):
        headlines += [
            sentence
            for sentence in headlines_of_sentences(scored, knowledge, options)
            if not any(doc[i].like_url or doc[i].like_email for i in sentence.tokens)
        ]
    return headlines


def known_of(scored: ScoredUnit, headline: Headline) -> Floats:
    """What the judge knows of a phrase or short sentence."""
    places = np.array(headline.tokens, dtype=np.int64) - scored.origin
    score = headline.certificate.score or 0.0
    return judge_facts(scored.tokens, places, score, scored.chances, headline.occurrences)


def judged(
    scored: ScoredUnit, headlines: list[Headline], weights: NDArray[np.float32], *, ranked: bool
) -> list[Headline]:
    """Give each headline its probability of being good; the most probable first, if `ranked`."""
    probable = [
        replace(headline, prob=chance_of(weights, headline.kind, known_of(scored, headline)))
        for headline in headlines
    ]
    return sorted(probable, key=lambda headline: -(headline.prob or 0.0)) if ranked else probable


#: How headlines are found in each mode.
DECODE = {
    "best": headlines_of_both,
    "phrases": headlines_of_phrases,
    "sentence": headlines_of_sentences,
    "words": headlines_of_words,
}
#: What finds them; in mode "words" that is an option.
DECODERS = {"best": "BestPhrase", "phrases": "BestPhrase", "sentence": "TreeKnapsack"}
