"""Training the headline generator on titled texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...models.headline.knowledge import HeadlineKnowledge
from ...models.headline.phrase_features import ReadText, phrase_features
from ...models.headline.phrases import Phrases
from ...models.headline.selection import feature_columns, fit_logistic, fit_phrases
from ...models.headline.stems import Stemmer
from ...models.headline.word_features import word_features
from ...models.headline.words import Vertices, Words
from .headlines import title_words
from .phrase_edges import phrase_edges
from .reading import Texts, read_words, word_keys
from .scorer import rouge_of_words

__all__ = ["TitledText", "example_phrases", "learn", "word_table"]

#: Parts of the training texts: the counts behind a text's features are those of the other parts.
PARTS = 4


@dataclass(frozen=True, eq=False)
class TitledText:
    """A text with its title."""

    #: The text.
    doc: Doc
    words: Words
    vertices: Vertices
    #: The lower-cased words of its title, and whether each is content.
    title: list[tuple[str, bool]]
    #: The key of each word of the title: of its stem, if it is content.
    stems: NDArray[np.uint64]

    @classmethod
    def of(cls, doc: Doc, title: str, stemmer: Stemmer, stop_words: Any) -> TitledText:
        """Read a text and its title."""
        titled = title_words(title, stop_words)
        rest = iter(stemmer.stems([word for word, content in titled if content]))
        keys = word_keys([next(rest) if content else word for word, content in titled])
        words = read_words(doc, stemmer)
        return cls(doc, words, Vertices.of(words), titled, keys)

    @property
    def content(self) -> NDArray[np.uint64]:
        """The keys of the title's content words."""
        return self.stems[[content for _, content in self.title]]


def word_table(
    words: Words, vertices: Vertices, knowledge: HeadlineKnowledge, model: Any
) -> NDArray[np.float32]:
    """The features of a text's words that the model uses."""
    table = word_features(words, vertices, knowledge)
    return table[:, feature_columns(model)].astype(np.float32)


def learn(
    model: Any, texts: Sequence[TitledText], language: str, *, more: Sequence[TitledText] = ()
) -> HeadlineKnowledge:
    """Count texts and titles, and fit the model to them, phrases also to `more`, not counted.

    The features of a text depend on counts of other texts. In training they are counted in the
    other parts of the corpus, not in the text's own: sections of one book, which stand together,
    share words in their titles that other books do not have.
    """
    knowledge = _count(texts, language)
    titled = [text for text in texts if len(text.title)]
    if not titled:
        return knowledge
    size = -(-len(titled) // PARTS)
    examples = []
    for low in range(0, len(titled), size):
        others = titled[:low] + titled[low + size :]
        counts = _count(others, language, bigrams=False) if others else knowledge
        examples += [(text, counts) for text in titled[low : low + size]]
    _fit_words(model, examples)
    read = [example_phrases(model, *pair) for pair in [*((t, knowledge) for t in more), *examples]]
    known = [(table, rewards) for table, rewards in read if rewards.max(initial=0.0) > 0]
    if known:
        weights = fit_phrases(*map(list, zip(*known, strict=True)))
        model.set_param("phrases", weights.astype(np.float32))
    return knowledge


def example_phrases(
    model: Any, text: TitledText, knowledge: HeadlineKnowledge
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The features of the phrases for headlines, and how close each is to the title."""
    texts = Texts.of([text.doc])
    auxiliaries = word_keys(knowledge.auxiliaries)
    traits = texts.traits(text.words.content, auxiliaries, knowledge.openers)[0]
    phrases = Phrases.of(text.words, traits)
    candidates = phrase_edges(texts).candidates(phrases, 0, traits.parsed)
    odds = model.predict([word_table(text.words, text.vertices, knowledge, model)])[0]
    read = ReadText(text.words, traits, text.vertices, phrases, candidates, odds.astype("d"))
    first, wanted = phrases.first[candidates], text.stems.tolist()
    # by stems, so that "graph" is not as far from "Graphs" as any other word is
    given = [
        text.words.stems[low:high][traits.word[low:high]].tolist()
        for low, high in zip(phrases.starts[first], phrases.ends[first], strict=True)
    ]
    rewards = [np.mean(rouge_of_words(wanted, stems)) for stems in given]
    return phrase_features([read], knowledge)[0], np.array(rewards)


def _count(
    texts: Sequence[TitledText], language: str, *, bigrams: bool = True
) -> HeadlineKnowledge:
    return HeadlineKnowledge.count(
        [text.words for text in texts],
        [text.title for text in texts],
        [text.stems for text in texts],
        language,
        bigrams=bigrams,
    )


def _fit_words(model: Any, examples: Sequence[tuple[TitledText, HeadlineKnowledge]]) -> None:
    """Fit the log-odds of words, which are features of phrases."""
    known = [pair for pair in examples if len(pair[0].content) and len(pair[0].vertices)]
    chosen = [np.isin(text.vertices.stems, text.content) for text, _ in known]
    if any(labels.any() for labels in chosen):
        tables = [word_table(text.words, text.vertices, counts, model) for text, counts in known]
        weights = fit_logistic(np.concatenate(tables).astype("d"), np.concatenate(chosen))
        model.set_param("weights", model.ops.asarray1f(weights.tolist()))
