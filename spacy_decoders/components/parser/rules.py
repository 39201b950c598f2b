"""Rules of trees: from the option and the Doc to what the decoder takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...errors import ProblemError
from ..constraints.conflicts import Source
from ..tree_rule_checks import UNIVERSAL_DEPENDENCIES, Statement
from .trees import DocColumns, paragraph_starts, unparted
from .wishes import Wish, join_arcs, rules_of

if TYPE_CHECKING:
    from ...decoders.tree import Rule

__all__ = ["RULES", "TreeDemands", "TreeRules"]

Ints = NDArray[np.int64]

#: The source that the option `rules` is.
RULES = "rules"


@dataclass(frozen=True)
class TreeRules:
    """The rules of a parser, over its labels."""

    rules: tuple[Rule, ...]
    #: The labels, the root's last.
    labels: tuple[str, ...]
    #: What rules count and what they exempt, such as `nsubj:outer`, as numbers of labels.
    exempt: tuple[tuple[list[int], list[int]], ...] = ()

    @classmethod
    def of(cls, rules: Sequence[Statement | str], labels: Sequence[str]) -> TreeRules:
        """Find the labels of each rule; one label stands for its subtypes too.

        Raises
        ------
        ProblemError
            If a rule names labels of which the parser has none.
        """
        from ...decoders.tree import AtMost, Leaves

        found: list[Rule] = []
        exempt: list[tuple[list[int], list[int]]] = []
        for place, rule in enumerate(rules):
            for part in UNIVERSAL_DEPENDENCIES if isinstance(rule, str) else [rule]:
                names = part.get("labels") or part["leaf"]
                escapes, most = _numbers(part.get("exempt", ()), labels), part.get("at_most")
                named = _numbers(names, labels)
                if most is not None:
                    named = [number for number in named if number not in escapes]
                if not named:
                    if isinstance(rule, str):
                        continue  # treebanks need not have all labels of the guidelines
                    raise ProblemError(
                        f"rules[{place}]: the parser has none of the labels {names}, or all "
                        f"are exempt; it has {', '.join(labels)}."
                    )
                if most is None:
                    found.append(Leaves(named, exempt=escapes))
                    continue
                # one token of a sentence has the root's label, and no head has a dependant with it
                root_label = len(labels) - 1 if most else None
                found.append(AtMost([number for number in named if number != root_label], most))
                if escapes:
                    exempt.append((named, escapes))
        return cls(tuple(found), tuple(labels), tuple(exempt))


@dataclass(frozen=True)
class TreeDemands:
    """What the trees of one document must satisfy.

    Parameters
    ----------
    doc
        The document.
    rules
        The parser's rules.
    wishes
        Heads and labels that are demanded.
    paragraphs
        Whether a word begins a sentence behind an empty line, and none parts a quotation mark or a
        bracket from what it encloses.
    """

    doc: Doc
    rules: TreeRules
    wishes: Sequence[Wish]
    paragraphs: bool

    @cached_property
    def columns(self) -> DocColumns:
        """What is read of the document."""
        return DocColumns.of(self.doc)

    def rules_for(self, tokens: Ints) -> list[Rule]:
        """Return the rules of some tokens, by their indices in the document, rising."""
        return [*self.rules.rules, *rules_of(self.wishes, tokens, self.rules.labels)]

    def starts(self) -> Ints:
        """Return the sentence starts that are known: 1 for a start, -1 for none, 0 if unknown.

        None is inside of arcs that are demanded, unless it is set.
        """
        presets = self.columns.starts.copy()
        join_arcs(self.wishes, presets)
        if self.paragraphs:
            behind = paragraph_starts(self.doc, self.columns.blank, presets)
            presets[behind[presets[behind] == 0]] = 1
            within = unparted(self.columns)
            presets[within[presets[within] == 0]] = -1
        return presets

    def sources(self, start: int, end: int) -> list[Source]:
        """Return what demands something of ``doc[start:end]``."""
        here = {
            wish.source
            for wish in self.wishes
            if start <= wish.token < end
            or (wish.about == "head" and any(start <= head < end for head in wish.values))
        }
        every = dict.fromkeys(wish.source for wish in self.wishes)
        found = [source for source in every if source in here]
        return [*found, Source(RULES, start, end)] if self.rules.rules else found

    def only(self, kept: Collection[Source]) -> TreeDemands:
        """Return what some of these sources demand."""
        rules = self.rules
        if all(source.name != RULES for source in kept):
            rules = TreeRules((), rules.labels)
        wishes = [wish for wish in self.wishes if wish.source in kept]
        return replace(self, rules=rules, wishes=wishes)


def _numbers(names: Iterable[str], labels: Sequence[str]) -> list[int]:
    """Return the labels of these names, with their subtypes."""
    wanted = tuple(names)
    return [
        number
        for number, label in enumerate(labels)
        if any(label == name or label.startswith(name + ":") for name in wanted)
    ]
