"""The trees of a document between the decoder and the Doc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ...certificate import Certificate

if TYPE_CHECKING:
    from ...models.parser.tree_scores import SentenceScores
    from .demands import Wish

__all__ = [
    "DEPS", "HEADS", "KINDS", "NO_LABEL", "ROOT", "SPACE", "STARTS", "UNITS", "ParseProbabilities",
    "ParsedDoc",
]  # fmt: skip


#: Labels of white space, of a root, and of a token that has no tree.
SPACE, ROOT, NO_LABEL = -2, -1, -3


#: The kinds of answers, each of which has a calibration.
KINDS = HEADS, DEPS, STARTS, UNITS = "heads", "deps", "sent_starts", "units"


@dataclass(frozen=True)
class ParseProbabilities:
    """The probabilities of the trees of one document."""

    #: **Shape (n,)**: that of each token's head, and of head and label together; NaN for white
    #: space and where there is no tree.
    heads: Floats
    deps: Floats
    #: **Shape (n,)**: that a sentence begins at each token.
    starts: Floats
    #: That of the labelled tree of each sentence with a word, given its boundaries.
    units: list[float]

    def as_dict(self) -> dict[str, Any]:
        """The probabilities in plain types, None instead of NaN."""
        return {
            HEADS: _plain(self.heads),
            DEPS: _plain(self.deps),
            STARTS: _plain(self.starts),
            UNITS: _plain(np.array(self.units)),
        }


@dataclass
class ParsedDoc:
    """The trees of one document, before they are written to it."""

    #: Indices of the heads in the document, a root being its own head.
    heads: Integers
    #: Index of each token's label, or one of `SPACE`, `ROOT`, `NO_LABEL`.
    labels: Integers
    #: The first tokens of sentences.
    starts: Integers
    #: Each token's head margin; NaN for tokens without a tree.
    margins: Floats
    #: Which tokens are in sentences without a tree.
    treeless: Booleans
    #: The scores of each block with a word, and where its sentences begin; None for one sentence.
    blocks: list[tuple[SentenceScores, Booleans | None]] = field(default_factory=list)
    #: One for each sentence with a word; sentences that were decoded together share one.
    certificates: list[Certificate] = field(default_factory=list)
    #: The best trees of each sentence, or of several that were decoded together.
    parses: list[list[dict[str, Any]]] = field(default_factory=list)
    #: Demands that contradict each other, or do not hold.
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    #: Heads and labels that were demanded.
    wishes: Sequence[Wish] = ()
    #: The warning about the first sentence without a tree.
    warning: str = ""
    #: The probabilities, if asked for.
    probabilities: ParseProbabilities | None = None
    #: **Shape (tokens, width)**: the encoder's vectors, if they are to be written.
    vectors: Any = None

    @classmethod
    def blank(cls, tokens: int, starts: Integers) -> ParsedDoc:
        """Return a document without trees."""
        return cls(
            np.arange(tokens),
            np.full(tokens, NO_LABEL),
            starts,
            np.full(tokens, np.nan),
            np.zeros(tokens, dtype=bool),
        )

    @property
    def sentences(self) -> list[SentenceScores]:
        """The scores of each sentence that has a word."""
        return [part for block, starts in self.blocks for part in block.cut(starts)]


def _plain(values: Floats) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]
