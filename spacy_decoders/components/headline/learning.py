"""Training the headline generator on titled texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...models.headline.corpus_counts import HeadlineKnowledge
from ...models.headline.laid_out import ReadText
from ...models.headline.phrase_features import phrase_features
from ...models.headline.phrase_scorer import phrase_scorer_of
from ...models.headline.phrases import Phrases
from ...models.headline.risk import fit_phrases
from ...models.headline.stems import Stemmer
from ...models.headline.word_features import word_features
from ...models.headline.word_selection import feature_columns, fit_logistic
from ...models.headline.words import Vertices, Words
from .headlines import title_words
from .phrase_edges import phrase_edges
from .reading import Texts, read_words, word_keys
from .rouge import rouge_of_spans

__all__ = ["TitledText", "learn", "word_table"]

#: Parts of the training texts: the counts behind a text's features are those of the other parts.
PARTS = 4


@dataclass(frozen=True, eq=False)
class TitledText:
    """A text with its title."""

    #: The text.
    doc: Doc
    words: Words
    #: The lower-cased words of its title, and whether each is content.
    title: list[tuple[str, bool]]
    #: The key of each word of the title: of its stem, if it is content.
    stems: NDArray[np.uint64]

    @classmethod
    def of(cls, doc: Doc, title: str, stemmer: Stemmer, stop_words: Any) -> TitledText:
        """Read a text and its title."""
        words = title_words(title, stop_words)
        stemmed = stemmer.stems([word for word, content in words if content])
        rest = iter(stemmed)
        keys = word_keys([next(rest) if content else word for word, content in words])
        return cls(doc, read_words(doc, stemmer), words, keys)

    @property
    def content(self) -> NDArray[np.uint64]:
        """The keys of the title's content words."""
        return self.stems[[content for _, content in self.title]]


def word_table(
    words: Words,
    vertices: Vertices,
    knowledge: HeadlineKnowledge,
    model: Any,
    title: NDArray[np.bool_] | None = None,
) -> Any:
    """The features of a text's words that the model uses."""
    table = word_features(words, vertices, knowledge.corpus, title=title)
    return table[:, feature_columns(model)].astype(np.float32)


def learn(
    model: Any,
    texts: Sequence[TitledText],
    language: str,
    *,
    more: Sequence[TitledText] = (),
    seed: int = 0,
) -> HeadlineKnowledge:
    """Count texts and titles, and fit the model to them and to `more` that are not counted.

    The features of a text depend on counts of other texts. In training they are counted in the
    other parts of the corpus, not in the text's own: sections of one book, which stand together,
    share words in their titles that other books do not have.
    """
    knowledge = _count(texts, language)
    _fit_words(model, texts, knowledge)
    scorer = phrase_scorer_of(model)
    titled = [text for text in texts if len(text.title)]
    if scorer is None or not titled:
        return knowledge
    examples, rewards = [], []
    size = -(-len(titled) // PARTS)
    parts = [(more, knowledge)]
    for low in range(0, len(titled), size):
        others = titled[:low] + titled[low + size :]
        counts = _count(others, language, bigrams=False) if others else knowledge
        parts.append((titled[low : low + size], counts))
    for part, counts in parts:
        for text in part:
            example, reward = example_phrases(model, text, counts)
            if len(reward):
                examples.append(example)
                rewards.append(reward)
    fit_phrases(scorer, examples, rewards, seed=seed)
    return knowledge


def example_phrases(
    model: Any, text: TitledText, knowledge: HeadlineKnowledge, *, counted: bool = False
) -> tuple[Any, Any]:
    """The features of the phrases for headlines, and how close each is to the title.

    A text that the knowledge has `counted` is left out of the counts behind its own features.
    """
    auxiliaries = word_keys(knowledge.auxiliaries)
    texts = Texts.of([text.doc])
    traits = texts.traits(text.words.content, auxiliaries, knowledge.titles.openers)[0]
    vertices = Vertices.of(text.words)
    phrases = Phrases.of(text.words, traits)
    candidates = phrase_edges(texts)[0].candidates(phrases)
    odds = _odds(model, text.words, vertices, knowledge)
    own = text.stems if counted else None
    read = ReadText(text.words, traits, vertices, phrases, candidates, odds, own)
    (table,) = phrase_features([read], knowledge.corpus, knowledge.titles)
    first = phrases.first[candidates]
    # by stems, so that "graph" is not as far from "Graphs" as any other word is
    reward = rouge_of_spans(
        text.stems, text.words.stems, traits.word, phrases.starts[first], phrases.ends[first]
    )
    return table.astype(np.float32), reward.mean(axis=1).astype(np.float32)


def _odds(
    model: Any, words: Words, vertices: Vertices, knowledge: HeadlineKnowledge
) -> NDArray[np.float64]:
    return np.asarray(
        model.predict([word_table(words, vertices, knowledge, model)])[0], dtype=np.float64
    )


def _count(
    texts: Sequence[TitledText], language: str, *, bigrams: bool = True
) -> HeadlineKnowledge:
    return HeadlineKnowledge.count(
        [text.words for text in texts],
        [text.title for text in texts],
        [text.content for text in texts],
        language,
        [text.stems for text in texts],
        bigrams=bigrams,
    )


def _fit_words(model: Any, texts: Sequence[TitledText], knowledge: HeadlineKnowledge) -> None:
    """Fit the log-odds of words, which are features of phrases."""
    tables, labels = [], []
    for text in texts:
        vertices = Vertices.of(text.words)
        content = text.content
        if len(content) and len(vertices):
            chosen = np.isin(vertices.stems, content)
            tables.append(word_table(text.words, vertices, knowledge, model, chosen))
            labels.append(chosen)
    if tables and any(chosen.any() for chosen in labels):
        features = np.concatenate(tables).astype(np.float64)
        weights = fit_logistic(features, np.concatenate(labels))
        model.set_param("weights", model.ops.asarray1f(weights.tolist()))
