"""Demands on trees: those set on the Doc before it is parsed, and those of constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from spacy.tokens import Doc, Token

from ...arrays import Integers, checked_list
from ...errors import ProblemError
from ..constraints.matches import Match, Source
from .trees import DocColumns, paragraph_starts, unparted

if TYPE_CHECKING:
    from ...decoders.tree import Rule

__all__ = ["ATTRIBUTES", "RULES", "TreeDemands", "Wish", "wishes_of"]


#: The extension attributes of tokens that demand or forbid heads (by index in the document; a
#: root has its own) or labels: what each is about, and whether it forbids, which takes a list.
ATTRIBUTES: dict[str, tuple[Literal["head", "dep"], bool]] = {
    "fixed_head": ("head", False),
    "fixed_dep": ("dep", False),
    "forbidden_heads": ("head", True),
    "forbidden_deps": ("dep", True),
}

#: The source of the option `rules`.
RULES = "rules"
#: The source of heads and labels of an earlier parse.
KEPT = "overwrite"


class Wish(NamedTuple):
    """A head or label that one token must, or must not, have."""

    #: What demands it.
    source: Source
    #: The token.
    token: int
    #: Whether it concerns the head or the label.
    about: Literal["head", "dep"]
    #: The heads or labels that are demanded or forbidden; a root's head is its own index.
    values: tuple[Any, ...]
    #: Whether they are forbidden.
    forbidden: bool = False

    def holds(self, head: int, dep: str) -> bool:
        """Whether a token with this head and label satisfies it."""
        return ((head if self.about == "head" else dep) in self.values) != self.forbidden


@dataclass(frozen=True)
class TreeDemands:
    """Everything that the trees of one document must satisfy.

    Parameters
    ----------
    doc
        The document.
    rules, labels
        The parser's rules, and its labels, the root's last.
    wishes
        Heads and labels that are demanded.
    paragraphs
        Whether a sentence begins after a blank line and at a list item, and none where
        :func:`.unparted` says so.
    """

    doc: Doc
    rules: Sequence[Rule]
    labels: Sequence[str]
    wishes: Sequence[Wish]
    paragraphs: bool

    @cached_property
    def columns(self) -> DocColumns:
        """The attributes that are read from the document."""
        return DocColumns.of(self.doc)

    def rules_for(self, tokens: Integers) -> list[Rule]:
        """Return the rules for some tokens, given by ascending indices in the document."""
        found: list[Rule] = list(self.rules)
        if not self.wishes:
            return found
        from ...decoders.tree import FixedArc, FixedLabel, ForbiddenArc, ForbiddenLabel

        number = {name: i for i, name in enumerate(self.labels)}
        inside = {token: i for i, token in enumerate(tokens.tolist(), start=1)}
        demanded: list[Rule] = []
        for wish in self.wishes:
            i = inside.get(wish.token)
            if i is None:
                continue
            if wish.about == "dep":
                known = [number[dep] for dep in wish.values if dep in number]
                if not wish.forbidden:
                    demanded.append(FixedLabel(i, known))
                elif known:
                    demanded.append(ForbiddenLabel(i, known))
                continue
            for head in wish.values:
                h = 0 if head == wish.token else inside.get(head)
                if h is not None:
                    demanded.append((ForbiddenArc if wish.forbidden else FixedArc)(h, i))
                elif not wish.forbidden:
                    # white space or a token of another sentence can't be the head: no tree
                    demanded += [FixedArc(0, i), ForbiddenArc(0, i)]
        return [*found, *dict.fromkeys(demanded)]

    def starts(self) -> Integers:
        """Return the known sentence starts: 1 for a start, -1 for none, 0 if unknown.

        No sentence begins within a demanded arc, unless a start is set there; then there is no
        tree.
        """
        presets = self.columns.starts.copy()
        for wish in self.wishes:
            if wish.about == "head" and not wish.forbidden:
                for head in wish.values:
                    inner = slice(min(wish.token, head) + 1, max(wish.token, head) + 1)
                    if not (presets[inner] > 0).any():
                        presets[inner] = -1
        if self.paragraphs:
            behind = paragraph_starts(self.doc, self.columns.blank, presets)
            presets[behind[presets[behind] == 0]] = 1
            within = unparted(self.doc, self.columns)
            presets[within[presets[within] == 0]] = -1
        return presets

    def sources(self, start: int, end: int) -> list[Source]:
        """Return the sources of demands on ``doc[start:end]``."""
        here = {
            wish.source
            for wish in self.wishes
            if start <= wish.token < end
            or (wish.about == "head" and any(start <= head < end for head in wish.values))
        }
        every = dict.fromkeys(wish.source for wish in self.wishes)
        found = [source for source in every if source in here]
        return [*found, Source(RULES, start, end)] if self.rules else found

    def only(self, kept: Collection[Source]) -> TreeDemands:
        """Return the demands of some sources alone."""
        rules = self.rules if any(source.name == RULES for source in kept) else ()
        wishes = [wish for wish in self.wishes if wish.source in kept]
        return replace(self, rules=rules, wishes=wishes)


def wishes_of(
    doc: Doc, overwrite: bool, matches: Iterable[Match], labels: Sequence[str]
) -> list[Wish]:
    """Collect the demands on a document, even if they contradict each other.

    With `overwrite`, heads and labels of an earlier parse are no wishes. `matches` are those of
    the constraints; the root's label is the last.

    Raises
    ------
    ProblemError
        If a head is not a token of the document, a value has the wrong type, or the parser lacks
        a label.
    """
    found: list[Wish] = []
    keys = (key for key in doc.user_data if isinstance(key, tuple) and len(key) == 4)
    if any(key[0] == "._." and key[1] in ATTRIBUTES for key in keys):
        for token in doc:
            found += _set_on(token, labels)
    if not overwrite and doc.has_annotation("DEP"):
        for token in doc:
            if token.has_head() and not token.is_space:
                source = Source(KEPT, token.i, token.i + 1)
                found.append(Wish(source, token.i, "head", (token.head.i,)))
                if token.dep:
                    found.append(Wish(source, token.i, "dep", (token.dep_,)))
    for match in matches:
        found += _demanded(match)
    return found


def _demanded(match: Match) -> Iterator[Wish]:
    """Yield the demands of a constraint at one of its matches."""
    constraint, source = match.constraint, match.source
    for token in match.tokens:
        if constraint.head is not None:
            for head in match.token(constraint.head):
                if head == token and constraint.token is None:
                    continue  # it is the head of the others
                yield Wish(source, token, "head", (head,))
                if head == token:  # a root, but a token is not its own head
                    yield Wish(source, token, "head", (head,), True)
        if constraint.root is not None:
            yield Wish(source, token, "head", (token,), not constraint.root)
        if constraint.deps is not None:
            yield Wish(source, token, "dep", tuple(constraint.deps))
        if constraint.not_deps is not None:
            yield Wish(source, token, "dep", tuple(constraint.not_deps), True)


def _set_on(token: Token, labels: Sequence[str]) -> Iterator[Wish]:
    """Yield the demands that are set on a token."""
    where = f"at token {token.i} ({token.text!r})"
    for name, (about, forbidden) in ATTRIBUTES.items():
        given = token._.get(name)
        if given is None:
            continue
        several = checked_list(name, given, f"values {where}") if forbidden else [given]
        values = tuple(several)
        for value in values:
            if about == "head" and not _is_index(value, len(token.doc)):
                known = f"the index of a token, 0 to {len(token.doc) - 1}"
            elif about == "dep" and value not in labels:
                known = f"a label of the parser, one of {', '.join(labels)},"
            else:
                continue
            raise ProblemError(f"{name}: expected {known} {where}; got {value!r}.")
        if values:
            yield Wish(Source(name, token.i, token.i + 1), token.i, about, values, forbidden)


def _is_index(value: Any, count: int) -> bool:
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and 0 <= value < count
