"""Why a sentence has no tree: which demands contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model

from ...errors import InfeasibleError
from ...models.parser.boundaries import BoundaryLimits
from ...models.parser.tree_scores import DocumentScores, rescored
from ..constraints.conflicts import Source, conflict, least_conflict
from .decoding import BlockDecoder, NoTree
from .parsed_doc import NO_LABEL, ParsedDoc
from .rules import TreeRules
from .wishes import Wishes

__all__ = ["ConflictFinder", "in_words", "labels_of"]

#: The source that the option `rules` is.
RULES = "rules"


@dataclass(frozen=True)
class ConflictFinder:
    """Parses parts of a document again under some of the demands, to see which exclude each other.

    Boundaries are found anew each time: a head that is demanded also forbids those inside of its
    arc.
    """

    #: As for :func:`~spacy_decoders.models.parser.tree_scores.score_documents`.
    model: Model[Any, Any]
    limits: BoundaryLimits
    #: Decodes blocks.
    blocks: BlockDecoder
    #: What must be.
    rules: TreeRules
    wishes: Wishes
    #: The option.
    paragraphs: bool

    def find(self, doc: Doc, scores: DocumentScores, missing: NoTree) -> dict[str, Any]:
        """Describe a least set of demands that leave no tree of some tokens.

        Where the budget ended before there was a tree, it is all of them.
        """
        start, end = int(missing.tokens[0]), int(missing.tokens[-1]) + 1
        demands = self.wishes.within(start, end).sources
        if self.rules.statements:
            demands.append(Source(RULES, start, end))
        if not isinstance(missing.error, InfeasibleError):
            return conflict(doc, start, end, demands)

        def solvable(kept: Sequence[Source]) -> bool:
            return self._has_trees(doc, scores, kept, start, end)

        return conflict(doc, start, end, least_conflict(demands, solvable))

    def unmet(self, doc: Doc, parsed: ParsedDoc, names: Sequence[str]) -> list[dict[str, Any]]:
        """Describe the demands on white space, of which none else knows, that do not hold."""
        found: list[dict[str, Any]] = []
        for wish in self.wishes.wishes:
            head, label = int(parsed.heads[wish.token]), int(parsed.labels[wish.token])
            if label != NO_LABEL and not wish.holds(head, names[label]):
                found.append(conflict(doc, wish.token, wish.token + 1, [wish.source]))
        return [one for place, one in enumerate(found) if one not in found[:place]]

    def _has_trees(
        self, doc: Doc, scores: DocumentScores, kept: Sequence[Source], start: int, end: int
    ) -> bool:
        has_rules = any(source.name == RULES for source in kept)
        rules = self.rules if has_rules else replace(self.rules, of_labels=(), statements=())
        parser = self.blocks.parser if has_rules else replace(self.blocks.parser, exempt=())
        blocks = replace(self.blocks, parser=parser, head_margins=False, k_best=1)
        wishes = self.wishes.only(kept)
        stated = rules.of_doc(doc, wishes)
        presets = rules.starts(doc, wishes, self.paragraphs)
        found = rescored(self.model, doc, scores, presets, self.limits, (start, end))
        scratch = ParsedDoc.blank(len(doc), scores.starts)
        return not any(
            tokens[0] < end and tokens[-1] >= start and isinstance(error, InfeasibleError)
            for block in found
            for tokens, error in blocks.decode(block, stated, scratch)
        )


def in_words(conflict: Mapping[str, Any]) -> str:
    """Say which demands on tokens contradict each other; nothing of the option `rules`.

    Examples
    --------
    >>> demands = [{"source": "constraints[0]", "text": "she"}, {"source": "rules", "text": "..."}]
    >>> in_words({"demands": demands})
    "constraints[0] at 'she'"
    """
    return ", ".join(
        f"{of['source']} at {of['text']!r}" for of in conflict["demands"] if of["source"] != RULES
    )


def labels_of(rules: Iterable[Any], labels: Sequence[str]) -> dict[int, str]:
    """The labels that some rules speak of, by their numbers."""
    numbers = {
        number
        for rule in rules
        for key in ("labels", "exempt")
        for number in getattr(rule, key, None) or ()
    }
    return {number: labels[number] for number in sorted(numbers)}
