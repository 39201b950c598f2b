"""From a scored text to its headlines: build the graph, decode, render."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...errors import ProblemError
from ...models.headline.corpus_counts import HeadlineKnowledge
from ...models.headline.phrases import Phrases, Traits
from ...models.headline.words import Vertices, Words
from .headlines import (
    Headline,
    PhraseText,
    headline_of_phrases,
    headline_of_sentences,
    headline_of_words,
)
from .phrase_edges import PhraseEdges
from .reading import word_keys
from .sentences import USUAL_WORDS, ShortSentences
from .writer import HeadlineWriter

if TYPE_CHECKING:
    from ...decoders.path import PathSolution
    from ...models.headline.word_graph import WordGraph

__all__ = [
    "GraphSettings",
    "ScoredPhrases",
    "ScoredUnit",
    "headlines_of_phrases",
    "headlines_of_sentences",
    "headlines_of_short_sentences",
    "headlines_of_words",
]

#: Sentences of a summary whose length is automatic.
SUMMARY_LENGTHS = (1, 3)


@dataclass(frozen=True)
class GraphSettings:
    """The weights of the graph: options of the component, with `auxiliaries` resolved."""

    ordering: float
    contiguity: float
    ends: float
    max_vertices: int
    auxiliaries: tuple[str, ...]
    required: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ScoredUnit:
    """A document or span, read, with the log-odds of each of its content words."""

    unit: Doc | Span
    words: Words
    vertices: Vertices
    odds: NDArray[np.float64]
    phrases: ScoredPhrases | None = None


@dataclass(frozen=True, eq=False)
class ScoredPhrases:
    """The phrases of a text, and their scores. **Shape of the scores:** ``(n,)``"""

    traits: Traits
    edges: PhraseEdges
    phrases: Phrases
    scores: NDArray[np.float64]


def headlines_of_phrases(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
) -> list[Headline]:
    """Select and join phrases; the best headlines of all lengths, best first."""
    from ...models.headline.forms import prefer_fuller_phrases, prefer_longest_forms
    from ...models.headline.phrase_graph import Joins, phrase_graph, useful_phrases

    found = scored.phrases
    if found is None:
        raise ProblemError(
            "mode: 'phrases' needs scores of phrases, which this model lacks; use the "
            "architecture spacy-decoders.PhraseSelection.v1, or mode 'words'."
        )
    phrases, traits, words = found.phrases, found.traits, scored.words
    heads = found.edges.constituents(phrases.starts, phrases.ends)
    candidates = found.edges.candidates(phrases, heads)
    if not len(candidates):
        return []
    if not np.isfinite(found.scores).all():
        raise ProblemError(_NOT_FINITE)
    first = phrases.first[candidates]
    kinds = phrases.occurrences.stemmed[first]
    letters = found.edges.letters[phrases.ends[first]] - found.edges.letters[phrases.starts[first]]
    scores = prefer_longest_forms(found.scores[candidates], kinds, letters)
    if traits.parsed:
        fuller = found.edges.fuller(phrases, heads, candidates)
        counts = phrases.occurrences.counts[candidates]
        number = np.full(len(phrases), -1)
        number[candidates] = np.arange(len(candidates))
        scores = prefer_fuller_phrases(scores, counts, number[phrases.occurrences.phrase], fuller)
    scores -= scores.max()
    text = PhraseText(scored.unit, words, phrases, " " if found.edges.blanks else "")
    units = np.concatenate([[0], np.cumsum(traits.unit)])
    sizes = units[phrases.ends[first]] - units[phrases.starts[first]]
    usual = (1, max(knowledge.lengths[1], 2 * knowledge.longest // 3))
    lengths = writer.lengths(usual, len(np.unique(words.stems[traits.unit])))
    fitting = (sizes >= lengths[0]) & (sizes <= lengths[-1])
    if writer.max_chars is not None:
        fitting &= np.array([len(text.of(p)) <= writer.max_chars for p in candidates.tolist()])
    joins = Joins(word_keys(settings.auxiliaries), knowledge.join, settings.contiguity)
    most = lengths[-1] - 1
    useful = useful_phrases(scores, fitting, kinds, writer.n_best, joins.best, most)
    useful &= sizes <= lengths[-1]
    kept, pruned = np.flatnonzero(useful), phrases.pruned
    if sizes[kept].sum() > settings.max_vertices:
        ranked = kept[np.argsort(-scores[kept], kind="stable")]
        most = int(np.searchsorted(np.cumsum(sizes[ranked]), settings.max_vertices, side="right"))
        kept, pruned = np.sort(ranked[: max(1, most)]), True
    graph = phrase_graph(
        words, traits, phrases, candidates[kept], scores[kept], knowledge.titles, joins
    )

    def render(solution: PathSolution) -> Headline:
        path = solution.vertices.tolist()
        via = [graph.via[step] for step in itertools.pairwise(path)]
        certificate = solution.certificate
        if pruned:
            certificate = replace(certificate, scope="pruned")
        between = [settings.auxiliaries[x] if x >= 0 else "" for x in via]
        chain = [int(graph.phrase[vertex]) for vertex in path]
        return headline_of_phrases(text, chain, graph.token[path].tolist(), between, certificate)

    if len(kept) == 1:  # joined to nothing, so that it has one length
        lengths = sizes[kept].tolist()
    return writer.write_any_length(graph.problem, lengths, render)


_NOT_FINITE = (
    "model: the selection scores of words are not finite, so its weights are not either; "
    "train again, with a lower learning rate."
)


def headlines_of_words(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
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
    auxiliaries = word_keys(settings.auxiliaries)

    def graph(kept: NDArray[np.int64]) -> WordGraph:
        return word_graph(
            words,
            vertices.restrict(kept),
            selection[kept],
            model,
            auxiliaries,
            ordering=settings.ordering,
            contiguity=settings.contiguity,
            edge_ordering=settings.ends,
        )

    kept, built = _affordable(selection, graph, knowledge, settings, writer)
    pruned = kept.pruned

    def render(solution: PathSolution) -> Headline:
        path = solution.vertices
        via = built.via[path[:-1], path[1:]].tolist()
        between = [settings.auxiliaries[x] if x >= 0 else "" for x in via]
        certificate = solution.certificate
        if pruned:
            certificate = replace(certificate, scope="pruned")
        chosen = kept.vertices[path].tolist()
        return headline_of_words(scored.unit, chosen, words, vertices, between, certificate)

    return writer.write(built.problem, knowledge.lengths, render)


def headlines_of_short_sentences(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
) -> list[Headline]:
    """Shorten the sentences of a parsed text; the best, best first."""
    of = scored.vertices.of_token
    chances = np.zeros(len(of))
    inside = of >= 0
    chances[inside] = 1.0 / (1.0 + np.exp(-scored.odds[of[inside]]))
    if not np.isfinite(chances).all():
        raise ProblemError(_NOT_FINITE)
    least, most = USUAL_WORDS
    if isinstance(writer.length, int):
        least = most = writer.length
    elif writer.length != "auto":
        least, most = writer.length[0], writer.length[-1]
    required = tuple(word.lower() for word in settings.required)
    short = ShortSentences(
        scored.unit,
        chances,
        least,
        most,
        writer.max_chars,
        required,
        stretched=writer.length == "auto",
    )
    return short.write(writer.n_best)


def headlines_of_sentences(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
) -> list[Headline]:
    """Select and order sentences, at most one of each class of similar ones."""
    from ...models.headline.sentence_graph import sentence_graph, sentence_scores

    words = scored.words
    if not len(scored.vertices):
        return []
    scores = sentence_scores(words, knowledge.corpus)
    kept = np.arange(len(scores))
    pruned = len(scores) > settings.max_vertices
    if pruned:
        kept = np.sort(np.argsort(-scores, kind="stable")[: settings.max_vertices])
    problem = sentence_graph(words, knowledge.corpus, ordering=settings.ordering, kept=kept)

    def render(solution: PathSolution) -> Headline:
        certificate = solution.certificate
        if pruned:
            certificate = replace(certificate, scope="pruned")
        path = kept[solution.vertices].tolist()
        return headline_of_sentences(scored.unit, path, words.sentences, certificate)

    return writer.write(problem, SUMMARY_LENGTHS, render)


@dataclass(frozen=True, eq=False)
class KeptWords:
    """The words of a graph, and whether the pruning of others was heuristic."""

    vertices: NDArray[np.int64]
    pruned: bool


def _affordable(
    selection: NDArray[np.float64],
    graph: Callable[[NDArray[np.int64]], WordGraph],
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
) -> tuple[KeptWords, WordGraph]:
    """Build a graph of at most `max_vertices` words.

    From longer texts, first the words are removed that no headline as good as a quickly found one
    can contain; if too many remain, the least likely are removed too.
    """
    if len(selection) <= settings.max_vertices:
        everything = np.arange(len(selection))
        return KeptWords(everything, False), graph(everything)
    from ...decoders.path import Beam
    from ...models.headline.word_graph import useful_words

    ranked = np.argsort(-selection, kind="stable")
    likely = np.sort(ranked[: settings.max_vertices])
    sample = graph(likely)
    if writer.n_best > 1 or writer.max_chars is not None:
        # the bound is valid for the best headline only, not for the next ones
        return KeptWords(likely, True), sample
    lengths = writer.lengths(knowledge.lengths, sample.problem.class_count)
    useful = np.zeros(len(selection), dtype=bool)
    known: Any = Beam(10, lookahead=True).decode_lengths(sample.problem, lengths)
    for length, solution in zip(lengths, known, strict=True):
        score = solution.certificate.score
        if score is None:
            return KeptWords(likely, True), sample
        bonus = max(0.0, settings.contiguity)
        useful[useful_words(selection, bonus, length, score)] = True
    if useful.sum() > settings.max_vertices:
        return KeptWords(likely, True), sample
    kept = np.flatnonzero(useful)
    return KeptWords(kept, False), graph(kept)
