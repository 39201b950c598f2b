"""From a scored text to its headlines: build the graph, decode, render."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...certificate import Certificate, tolerance_of
from ...errors import ProblemError
from ...models.headline.judge import chance_of, judge_facts, make_up_of
from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.phrases import Phrases, Traits
from ...models.headline.words import TokenFacts, Vertices, Words
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, PhraseText, headline_of_words
from .phrase_edges import MOST_CANDIDATES
from .reading import word_keys
from .sentence_trees import ScoredTokens
from .sentences import USUAL_WORDS, ShortSentences
from .writer import lengths_of, written_paths

if TYPE_CHECKING:
    from ...decoders.path import PathSolution

__all__ = [
    "ScoredPhrases",
    "ScoredUnit",
    "auxiliaries_of",
    "headlines_of_both",
    "headlines_of_phrases",
    "headlines_of_short_sentences",
    "headlines_of_words",
    "judged",
    "known_of",
]

#: The most words with a meaning of a usual phrase.
USUAL_UNITS = 10


@dataclass(frozen=True, eq=False)
class ScoredUnit:
    """A document or span, read, with the log-odds of each of its content words."""

    unit: Doc | Span
    facts: TokenFacts
    words: Words
    vertices: Vertices
    odds: NDArray[np.float64]
    phrases: ScoredPhrases | None = None


@dataclass(frozen=True, eq=False)
class ScoredPhrases:
    """The phrases of a text, which of them headlines may have, and the scores of these.

    **Shape of candidates and scores:** ``(n,)``
    """

    traits: Traits
    phrases: Phrases
    candidates: NDArray[np.int64]
    scores: NDArray[np.float64]


def auxiliaries_of(options: HeadlineOptions, knowledge: HeadlineKnowledge) -> tuple[str, ...]:
    """The words that may stand between content words: those given, or those of titles."""
    return knowledge.auxiliaries if options.auxiliaries is None else tuple(options.auxiliaries)


def headlines_of_phrases(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    options: HeadlineOptions,
) -> list[Headline]:
    """Choose the best phrases of all lengths, best first.

    The score is the logarithm of a phrase's probability among all that could be a headline; the
    bound that of the best of them, whether or not it was chosen.
    """
    found = scored.phrases
    assert found is not None  # scored in these modes
    phrases, traits, words = found.phrases, found.traits, scored.words
    candidates = found.candidates
    if not len(candidates):
        return []
    if not np.isfinite(found.scores).all():
        raise ProblemError(_NOT_FINITE)
    first = phrases.first[candidates]
    scores = found.scores - np.logaddexp.reduce(found.scores)
    text = PhraseText(scored.unit, words, phrases)
    units = np.concatenate([[0], np.cumsum(traits.unit)])
    sizes = units[phrases.ends[first]] - units[phrases.starts[first]]
    usual = (1, max(knowledge.lengths[1], USUAL_UNITS))
    lengths = lengths_of(options, usual, len(np.unique(words.stems[traits.unit])))
    fitting = np.ones(len(candidates), dtype=bool)
    if options.max_chars is not None:
        fitting = np.array([len(text.of(p)) <= options.max_chars for p in candidates.tolist()])
    fitting &= sizes <= lengths[-1]
    if not fitting.any():
        return []
    # a text without a phrase as long gets the longest
    fitting &= sizes >= min(lengths[0], sizes[fitting].max())
    bound = float(scores[fitting].max())
    kinds = phrases.stemmed[first]
    chosen: list[int] = []
    places = np.flatnonzero(fitting)
    for place in places[np.lexsort((sizes[places], -scores[places]))].tolist():
        if len(chosen) == options.n_best:
            break
        if all(kinds[place] != kinds[other] for other in chosen):
            chosen.append(place)
    scale = float(np.abs(found.scores).max()) + 1.0
    headlines = []
    for place in chosen:
        certificate = Certificate.from_bound(
            "BestPhrase",
            float(scores[place]),
            bound,
            tolerance=tolerance_of(scale),
            scale=scale,
        )
        if len(candidates) == MOST_CANDIDATES:
            certificate = replace(certificate, scope="pruned")
        phrase = int(candidates[place])
        count = int(phrases.counts[phrase])
        inside = [token.i for token in text.occurrence(phrase) if not token.is_space]
        headlines.append(Headline(text.of(phrase), inside, [], certificate, "phrases", count))
    return headlines


def headlines_of_both(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    options: HeadlineOptions,
) -> list[Headline]:
    """The best phrases and, where there is a parse, the best short sentences."""
    headlines = headlines_of_phrases(scored, knowledge, options)
    if _is_parsed(scored.unit):
        doc = scored.unit if isinstance(scored.unit, Doc) else scored.unit.doc
        headlines += [
            sentence
            for sentence in headlines_of_short_sentences(scored, knowledge, options)
            # an address names nobody that a reader knows
            if not any(doc[i].like_url or doc[i].text[0] == "@" for i in sentence.tokens)
        ]
    return headlines


_NOT_FINITE = (
    "model: the selection scores of words are not finite, so its weights are not either; "
    "train again, with a lower learning rate."
)


def headlines_of_words(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    options: HeadlineOptions,
) -> list[Headline]:
    """Select and order words; the best headlines, best first."""
    from ...models.headline.bigrams import BigramModel
    from ...models.headline.word_graph import word_graph

    words, vertices = scored.words, scored.vertices
    if not len(vertices):
        return []
    if not np.isfinite(scored.odds).all():
        raise ProblemError(_NOT_FINITE)
    # the log-probability of being chosen: a word then adds at most the bonus
    selection = -np.logaddexp(0.0, -scored.odds)
    model = knowledge.language_model or BigramModel.count(words.runs())
    names = auxiliaries_of(options, knowledge)

    likely = np.argsort(-selection, kind="stable")[: options.max_vertices]
    kept = np.sort(likely)
    built = word_graph(
        words,
        vertices.restrict(kept),
        selection[kept],
        model,
        word_keys(names),
        ordering=options.ordering,
        contiguity=options.contiguity,
        edge_ordering=options.ends,
    )

    def render(solution: PathSolution) -> Headline:
        path = solution.vertices
        via = built.via[path[:-1], path[1:]].tolist()
        between = [names[x] if x >= 0 else "" for x in via]
        certificate = solution.certificate
        if len(kept) < len(vertices):
            certificate = replace(certificate, scope="pruned")
        chosen = kept[path].tolist()
        return headline_of_words(scored.unit, chosen, words, vertices, between, certificate)

    return written_paths(options, built.problem, knowledge.lengths, render)


def headlines_of_short_sentences(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    options: HeadlineOptions,
) -> list[Headline]:
    """Shorten the sentences of a parsed text; the best, best first."""
    chances = _chances(scored)
    if not np.isfinite(chances).all():
        raise ProblemError(_NOT_FINITE)
    least, most = USUAL_WORDS
    if isinstance(options.length, int):
        least = most = options.length
    elif options.length != "auto":
        least, most = options.length[0], options.length[-1]
    required = tuple(word.lower() for word in options.required or ())
    short = ShortSentences(
        ScoredTokens.of(scored.unit, scored.facts, chances),
        least,
        most,
        options.max_chars,
        required,
        stretched=options.length == "auto",
    )
    return short.write(options.n_best)


def _chances(scored: ScoredUnit) -> NDArray[np.float64]:
    """How likely each token is in the title. **Shape:** ``(tokens,)``"""
    of_vertices = 1.0 / (1.0 + np.exp(-scored.odds))
    return np.append(of_vertices, 0.0)[scored.vertices.of_token]  # the last serves token -1


def known_of(scored: ScoredUnit, headlines: list[Headline]) -> list[NDArray[np.float64]]:
    """What the judge knows of each phrase or short sentence."""
    origin = 0 if isinstance(scored.unit, Doc) else scored.unit.start
    numbers, chances, facts = scored.words.sentences, _chances(scored), scored.facts
    sizes, make_up = np.bincount(numbers, minlength=1), make_up_of(facts)
    found = []
    for headline in headlines:
        places = np.array(headline.tokens, dtype=np.int64) - origin
        number = int(numbers[places[0]])
        score = headline.certificate.score or 0.0
        own = chances[places][~(facts.stop | facts.punct)[places]]
        sentence = (number, int(sizes[number]), len(sizes))
        known = judge_facts(facts, places, score, own, sentence, headline.occurrences, make_up)
        found.append(known)
    return found


def judged(
    scored: ScoredUnit, headlines: list[Headline], weights: NDArray[np.float32], *, ranked: bool
) -> list[Headline]:
    """Give each headline its probability of being good; the most probable first, if `ranked`."""
    facts = known_of(scored, headlines)
    probable = [
        replace(headline, prob=chance_of(weights, headline.kind, known))
        for headline, known in zip(headlines, facts, strict=True)
    ]
    return sorted(probable, key=lambda headline: -(headline.prob or 0.0)) if ranked else probable


def _is_parsed(unit: Doc | Span) -> bool:
    doc = unit if isinstance(unit, Doc) else unit.doc
    return doc.has_annotation("DEP")
