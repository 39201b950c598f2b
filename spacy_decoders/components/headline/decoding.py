"""From a scored text to its headlines: build the graph, decode, render."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...errors import ProblemError
from ...models.headline.corpus_counts import HeadlineKnowledge
from ...models.headline.words import Vertices, Words
from .headlines import Headline, headline_of_sentences, headline_of_words
from .reading import word_keys
from .writer import HeadlineWriter

if TYPE_CHECKING:
    from ...decoders.path import PathSolution
    from ...models.headline.word_graph import WordGraph

__all__ = ["GraphSettings", "ScoredUnit", "headlines_of_sentences", "headlines_of_words"]

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


@dataclass(frozen=True, eq=False)
class ScoredUnit:
    """A document or span, read, with the log-odds of each of its content words."""

    unit: Doc | Span
    words: Words
    vertices: Vertices
    odds: NDArray[np.float64]


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
        raise ProblemError(
            "model: the selection scores of words are not finite, so its weights are not either; "
            "train again, with a lower learning rate."
        )
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


def headlines_of_sentences(
    scored: ScoredUnit,
    knowledge: HeadlineKnowledge,
    settings: GraphSettings,
    writer: HeadlineWriter,
) -> list[Headline]:
    """Select and order sentences, at most one of each class of similar ones."""
    from ...models.headline.sentence_graph import sentence_graph

    words = scored.words
    if not len(scored.vertices):
        return []
    problem = sentence_graph(words, knowledge.corpus, ordering=settings.ordering)
    kept = np.arange(problem.size)
    if problem.size > settings.max_vertices:
        best = np.argsort(-problem.start, kind="stable")[: settings.max_vertices]
        kept = np.sort(best)
        problem = problem.restrict(kept)
    pruned = len(kept) <= int(words.sentences[-1])

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
