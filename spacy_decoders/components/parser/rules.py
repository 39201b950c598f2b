"""Rules of trees: from the option and the Doc to what the decoder takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import POS
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc

from ...errors import ProblemError
from ..constraints.conflicts import Source
from ..tree_rule_checks import UNIVERSAL_DEPENDENCIES, Statement
from .trees import is_space, paragraph_starts, preset_starts, unparted
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

    #: Rules that speak of labels alone and are the same everywhere.
    of_labels: tuple[Rule, ...]
    #: The rules as stated, without names of sets.
    statements: tuple[Statement, ...]
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
        statements: list[Statement] = []
        found: list[Rule] = []
        for place, rule in enumerate(rules):
            if isinstance(rule, str):
                # treebanks need not have all labels of the guidelines
                parts = [part for part in UNIVERSAL_DEPENDENCIES if _named(part, labels)]
            else:
                parts = [rule]
            for part in parts:
                statements.append(part)
                if "labels" in part or "leaf" in part:
                    if not _named(part, labels):
                        names = part.get("labels") or part["leaf"]
                        raise ProblemError(
                            f"rules[{place}]: the parser has none of the labels {names}, or all "
                            f"are exempt; it has {', '.join(labels)}."
                        )
                    if "head_pos" not in part:
                        found.append(_rule_of(part, labels, None))
        exempt = tuple(
            (_named(part, labels), escapes)
            for part in statements
            if "labels" in part and (escapes := _numbers(part.get("exempt", ()), labels))
        )
        return cls(tuple(found), tuple(statements), tuple(labels), exempt)


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
    def _of_doc(self) -> list[tuple[Statement, Ints]]:
        """The rules that depend on the document, with the tokens that they are about."""
        found: list[tuple[Statement, Ints]] = []
        for statement in self.rules.statements:
            parts = statement.get("head_pos") or statement.get("root_pos")
            if parts:
                found.append((statement, _with_pos(self.doc, parts)))
            elif "constituents" in statement:
                found += [
                    (statement, np.arange(span.start, span.end))
                    for span in _spans(self.doc, statement)
                ]
        return found

    def of_block(self, tokens: Ints, one_sentence: bool) -> list[Rule]:
        """Return the rules of some tokens, by their indices in the document, rising.

        Those on roots speak of `one_sentence`, and so of no block of several.
        """
        labels = self.rules.labels
        found = [*self.rules.of_labels, *rules_of(self.wishes, tokens, labels)]
        if not self._of_doc:
            return found
        from ...decoders.tree import Constituent, Roots

        for statement, about in self._of_doc:
            here = np.flatnonzero(np.isin(tokens, about)) + 1
            if "root_pos" in statement:
                if one_sentence and len(here):  # else none of them could be a root
                    found.append(Roots(tokens=here.tolist()))
            elif "head_pos" in statement:
                if len(here):
                    found.append(_rule_of(statement, labels, here.tolist()))
            elif len(here) > 1:
                found.append(Constituent(int(here[0]), int(here[-1])))
        return found

    def starts(self) -> Ints:
        """Return the sentence starts that are known: 1 for a start, -1 for none, 0 if unknown.

        None is inside of arcs that are demanded, or of constituents, unless it is set.
        """
        presets = preset_starts(self.doc)
        join_arcs(self.wishes, presets)
        for statement in self.rules.statements:
            for span in _spans(self.doc, statement) if "constituents" in statement else ():
                inner = presets[span.start + 1 : span.end]
                inner[inner == 0] = -1
        if self.paragraphs:
            behind = paragraph_starts(self.doc, presets)
            presets[behind[presets[behind] == 0]] = 1
            within = unparted(self.doc)
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
        found = [of for of in dict.fromkeys(wish.source for wish in self.wishes) if of in here]
        return [*found, Source(RULES, start, end)] if self.rules.statements else found

    def only(self, kept: Collection[Source]) -> TreeDemands:
        """Return what some of these sources demand."""
        rules = self.rules
        if all(source.name != RULES for source in kept):
            rules = TreeRules((), (), rules.labels)
        return replace(self, rules=rules, wishes=[of for of in self.wishes if of.source in kept])


def _numbers(names: Iterable[str], labels: Sequence[str]) -> list[int]:
    """Return the labels of these names, with their subtypes."""
    wanted = tuple(names)
    return [
        number
        for number, label in enumerate(labels)
        if any(label == name or label.startswith(name + ":") for name in wanted)
    ]


def _named(statement: Statement, labels: Sequence[str]) -> list[int]:
    """Return the labels that a rule is about, without those that an `at_most` exempts."""
    names = statement.get("labels") or statement.get("leaf") or ()
    found = _numbers(names, labels)
    if "labels" in statement:
        exempt = set(_numbers(statement.get("exempt", ()), labels))
        found = [number for number in found if number not in exempt]
    return found


def _rule_of(statement: Statement, labels: Sequence[str], heads: list[int] | None) -> Rule:
    from ...decoders.tree import AtMost, Leaves

    if "labels" in statement:
        most = statement["at_most"]
        # one token of a sentence has the root's label, and no head has a dependant with it
        counted = _named(statement, labels[:-1] if most else labels)
        return AtMost(counted, most, heads)
    exempt = _numbers(statement.get("exempt", ()), labels)
    return Leaves(_named(statement, labels), exempt=exempt)


def _spans(doc: Doc, statement: Statement) -> list[Any]:
    key = statement["constituents"]
    spans: Any = doc.ents if key == "ents" else doc.spans.get(key, ())
    return [span for span in spans if len(span) > 1]


def _with_pos(doc: Doc, parts: Sequence[str]) -> Ints:
    if is_space(doc).all():
        return np.zeros(0, np.int64)
    if not doc.has_annotation("POS"):
        raise ProblemError(
            "rules: 'root_pos' and 'head_pos' need parts of speech; put the component that sets "
            "token.pos_ before the parser."
        )
    values: Any = doc.to_array(POS)
    found: Ints = np.flatnonzero(np.isin(values, [int(IDS[part]) for part in parts]))
    return found
