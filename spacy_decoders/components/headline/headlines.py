"""Headlines in plain types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...certificate import Certificate

__all__ = ["Headline", "capitalised"]


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
