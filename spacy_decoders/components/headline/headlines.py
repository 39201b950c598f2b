"""Headlines in plain types, and their rendering as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...certificate import Certificate
from ...models.headline.phrases import Phrases
from ...models.headline.words import Vertices, Words

__all__ = [
    "Headline",
    "PhraseText",
    "headline_of_words",
    "title_words",
]


Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Headline:
    """One headline."""

    #: The text of the headline.
    text: str
    #: Indices, in the document, of the tokens it is made of, in its own order.
    tokens: list[int]
    #: The word between each two of them, "" for none; empty for sentences.
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


def headline_of_words(
    unit: Doc | Span,
    path: Sequence[int],
    words: Words,
    vertices: Vertices,
    auxiliaries: Sequence[str],
    certificate: Certificate,
) -> Headline:
    """Write a path over words: each as the text writes it, the first with a capital."""
    begins = np.diff(words.sentences, prepend=-1) > 0
    places = [np.flatnonzero(vertices.of_token == vertex) for vertex in path]
    chosen = [_best_written(unit, starts, starts + 1, begins)[0] for starts in places]
    written = [chosen[0].text]
    for auxiliary, token in zip(auxiliaries, chosen[1:], strict=True):
        written += [auxiliary, token.text] if auxiliary else [token.text]
    if written[0].islower():
        written[0] = written[0][0].upper() + written[0][1:]
    text = " ".join(written)
    return Headline(text, [token.i for token in chosen], list(auxiliaries), certificate)


@dataclass(frozen=True, eq=False)
class PhraseText:
    """How a text writes its phrases."""

    unit: Doc | Span
    words: Words
    phrases: Phrases

    def occurrence(self, phrase: int) -> Span:
        """The first occurrence in the most frequent spelling, sentence starts not counted."""
        begins = np.diff(self.words.sentences, prepend=-1) > 0
        same = self.phrases.phrase == phrase
        return _best_written(self.unit, self.phrases.starts[same], self.phrases.ends[same], begins)

    def of(self, phrase: int) -> str:
        """The phrase as text, on one line, the first word with a capital."""
        text = " ".join(self.occurrence(phrase).text.split())
        return text[:1].upper() + text[1:] if text.split(" ")[0].islower() else text


def title_words(text: str, stop_words: Any) -> list[tuple[str, bool]]:
    """The lower-cased words of a title, and whether each is content."""
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    variables = set("abcdefghijklmnopqrstuvwxyz")
    return [
        (word, word.isalpha() and word not in stop_words and word not in variables)
        for word in words
    ]


def _best_written(
    unit: Doc | Span, starts: Integers, ends: Integers, begins: NDArray[np.bool_]
) -> Span:
    """Return the first occurrence of the most frequent spelling, sentence starts not counted."""
    inside = ~begins[starts] | begins[starts].all()
    found: dict[str, list[Span]] = {}
    for low, high in zip(starts[inside].tolist(), ends[inside].tolist(), strict=True):
        found.setdefault(unit[low:high].text, []).append(unit[low:high])
    return max(found.values(), key=len)[0]
