"""Training the headline generator on titled texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.training import Example
from spacy.util import get_lang_class

from ...errors import ProblemError
from ...models.headline.features import phrase_features, token_features, vertex_features
from ...models.headline.knowledge import HeadlineKnowledge, TitledText
from ...models.headline.selection import feature_columns, fit_logistic, fit_phrases, word_odds
from ...models.headline.stems import Stemmer
from ...models.headline.words import Vertices
from .decoding import candidates_of, chances_of
from .reading import Texts, word_keys
from .scorer import rouge_of_words, title_words

__all__ = ["learn", "titled_text"]

#: Parts of the training texts: the counts behind a text's features are those of the other parts.
PARTS = 4


def titled_text(example: Example, stemmer: Stemmer) -> TitledText:
    """Read a text and its title, that of the reference document."""
    title = example.reference._.headline
    if not isinstance(title, str):
        raise ProblemError(f"reference: doc._.headline must be a string, got {title!r}.")
    titled = title_words(title, get_lang_class(stemmer.language).Defaults.stop_words)
    rest = iter(stemmer.stems([word for word, content in titled if content]))
    keys = word_keys([next(rest) if content else word for word, content in titled])
    texts = Texts.of([example.predicted])
    tokens = texts.tokens(stemmer)
    return TitledText(tokens, *candidates_of(texts, tokens), titled, keys)


def learn(
    model: Any, texts: Sequence[TitledText], language: str, *, more: Sequence[TitledText] = ()
) -> HeadlineKnowledge:
    """Count texts and titles, and fit the model to them, phrases also to `more`, not counted.

    The features of a text depend on counts of other texts. In training they are counted in the
    other parts of the corpus, not in the text's own: sections of one book, which stand together,
    share words in their titles that other books do not have.
    """
    knowledge = HeadlineKnowledge.count(texts, language)
    titled = [text for text in texts if len(text.title)]
    if not titled:
        return knowledge
    size = -(-len(titled) // PARTS)
    examples = []
    for low in range(0, len(titled), size):
        others = titled[:low] + titled[low + size :]
        counts = HeadlineKnowledge.count(others, language, bigrams=False) if others else knowledge
        examples += [(text, counts) for text in titled[low : low + size]]
    _fit_words(model, examples)
    pairs = [*((text, knowledge) for text in more), *examples]
    known = [
        (table, rewards)
        for table, rewards in (_phrases(model, *pair) for pair in pairs)
        if rewards.max(initial=0.0) > 0
    ]
    if known:
        weights = fit_phrases(*map(list, zip(*known, strict=True)))
        model.set_param("phrases", weights.astype(np.float32))
    return knowledge


def _fit_words(model: Any, examples: Sequence[tuple[TitledText, HeadlineKnowledge]]) -> None:
    """Fit the log-odds of words, which are features of phrases."""
    tables, chosen = [], []
    for text, counts in examples:
        vertices = Vertices.of(text.tokens)
        if len(text.content) and len(vertices):
            table = vertex_features(vertices, token_features(text.tokens, counts))
            tables.append(table[:, feature_columns(model)])
            chosen.append(np.isin(vertices.stems, text.content))
    if any(labels.any() for labels in chosen):
        weights = fit_logistic(np.concatenate(tables), np.concatenate(chosen))
        model.set_param("weights", model.ops.asarray1f(weights.tolist()))


def _phrases(
    model: Any, text: TitledText, knowledge: HeadlineKnowledge
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The features of the phrases for headlines, and how close each is to the title."""
    tokens, phrases, chosen = text.tokens, text.phrases, text.candidates
    vertices, features = Vertices.of(tokens), token_features(tokens, knowledge)
    chances = chances_of(vertices, word_odds(model, vertices, features))
    wanted = text.keys.tolist()
    # by stems, so that "graph" is not as far from "Graphs" as any other word is
    given = [
        tokens.stems[low:high][tokens.word[low:high]].tolist()
        for low, high in zip(phrases.starts[chosen], phrases.ends[chosen], strict=True)
    ]
    rewards = [np.mean(rouge_of_words(wanted, stems)) for stems in given]
    table = phrase_features(tokens, phrases, chosen, features, chances, knowledge)
    return table, np.array(rewards)
