"""The part of the parser that makes probabilities, and calibrates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.training import Example

from ...models.calibration_fitting import Answers, correctable_loss
from ...models.parser.losses import GoldTrees
from ...models.parser.tree_scores import DocumentScores
from ..probabilities import CalibratedPipe
from .gold import GoldReader
from .parsed_doc import ParsedDoc
from .probabilities import HEADS, ParseProbabilities, parse_answers, parse_probabilities

__all__ = ["CalibratedParser"]


class CalibratedParser(CalibratedPipe):
    """Probabilities of heads, labels, sentence starts and trees.

    To inherit from behind the parser's options.
    """

    cfg: dict[str, Any]
    projective: bool
    _gold: GoldReader | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency labels, the root's last."""
        return (*self.cfg["labels"], self.cfg["root"])

    def _probabilities(
        self, scores: DocumentScores, parsed: ParsedDoc, temperature: float
    ) -> ParseProbabilities:
        return parse_probabilities(
            scores,
            parsed,
            projective=self.projective,
            calibration=self.calibration_of,
            temperature=temperature,
        )

    @property
    def annotation(self) -> str:
        """What examples must be annotated with to calibrate the component."""
        return "heads and dependency labels"

    def loss_at(
        self,
        examples: Sequence[Example],
        scores: Sequence[DocumentScores],
        decoded: list[ParsedDoc],
        heat: float,
    ) -> float:
        """Return how badly the probabilities of heads tell right from wrong, at a temperature.

        Not that of gold heads: the trees may be decoded with factors, which the probabilities
        are without.
        """
        return correctable_loss(self._answers(examples, scores, decoded, heat)[HEADS])

    def answers(
        self,
        examples: Sequence[Example],
        scores: Sequence[DocumentScores],
        decoded: list[ParsedDoc],
    ) -> dict[str, Answers]:
        """Return heads, labels, sentence starts and trees as answers."""
        return self._answers(examples, scores, decoded, self.temperature)

    def _answers(
        self,
        examples: Sequence[Example],
        scores: Sequence[DocumentScores],
        decoded: list[ParsedDoc],
        temperature: float,
    ) -> dict[str, Answers]:
        found = [
            self._probabilities(of_doc, tree, temperature)
            for of_doc, tree in zip(scores, decoded, strict=True)
        ]
        return parse_answers(decoded, found, self._read_gold(list(examples)))

    def _read_gold(self, examples: list[Example]) -> GoldTrees:
        if self._gold is None or self._gold.labels != self.cfg["labels"]:
            self._gold = GoldReader(self.cfg["labels"], self.cfg["tags"])
        return self._gold(examples)
