"""Headlines in plain types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ...certificate import Certificate
from ...models.headline.words import TextTokens
from ..factories.headline_generator import HeadlineOptions

__all__ = ["Headline", "ScoredUnit", "capitalised", "limits_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    words: NDArray[np.bool_]
    #: The phrases that could be headlines: where they are, how often the text has them, and their
    #: scores. **Shape of all:** ``(n,)``
    starts: Integers
    ends: Integers
    counts: Integers
    scores: Floats

    @property
    def doc(self) -> Doc:
        """The document that it is, or is in."""
        return self.unit if isinstance(self.unit, Doc) else self.unit.doc

    @property
    def origin(self) -> int:
        """The place of its first token in the document."""
        return 0 if isinstance(self.unit, Doc) else self.unit.start


@dataclass(frozen=True)
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
