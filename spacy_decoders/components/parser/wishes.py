"""Heads and labels that are given on the Doc before it is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.tree import Rule

__all__ = ["ATTRIBUTES", "Wishes"]

Ints = NDArray[np.int64]

#: What demands something, as messages name it, and the first token and that after the last of the
#: match.
Source = tuple[str, int, int]

#: Extension attributes of tokens that state heads (as indices in the document; a token's own is
#: that of a root) and labels.
ATTRIBUTES = ("fixed_head", "fixed_dep", "forbidden_heads", "forbidden_deps")


@dataclass(frozen=True)
class Wishes:
    """What is known of a document's tree, by the indices of its tokens.

    Attributes
    ----------
    heads, deps
        Heads and labels that tokens must have.
    not_heads, not_deps
        Heads and labels that they must not have.
    sources
        The constraints behind them, and their tokens, by attribute, token and what is forbidden;
        what is set on the document has none.
    """

    heads: dict[int, int] = field(default_factory=dict)
    deps: dict[int, str] = field(default_factory=dict)
    not_heads: dict[int, list[int]] = field(default_factory=dict)
    not_deps: dict[int, list[str]] = field(default_factory=dict)
    sources: dict[tuple[str, int, int | str], Source] = field(default_factory=dict)

    @classmethod
    def of(cls, doc: Doc, overwrite: bool) -> Wishes:
        """Read what is set on a document.

        Parameters
        ----------
        overwrite
            Whether heads and labels of an earlier parse are no wishes.

        Raises
        ------
        ProblemError
            If a head is no token of the document, or a value has another type.
        """
        found = cls()
        if any(key[0] == "._." and key[1] in ATTRIBUTES for key in doc.user_data if _is_key(key)):
            for token in doc:
                found._read(doc, token)
        if not overwrite and doc.has_annotation("DEP"):
            for token in doc:
                if token.has_head() and not token.is_space:
                    found.heads.setdefault(token.i, token.head.i)
                    if token.dep:
                        found.deps.setdefault(token.i, token.dep_)
        return found

    def _read(self, doc: Doc, token: Any) -> None:
        head, dep = token._.fixed_head, token._.fixed_dep
        if head is not None:
            self.heads[token.i] = _checked_head("fixed_head", token, head, len(doc))
        if dep is not None:
            self.deps[token.i] = _checked_dep("fixed_dep", token, dep)
        if token._.forbidden_heads:
            self.not_heads[token.i] = [
                _checked_head("forbidden_heads", token, head, len(doc))
                for head in token._.forbidden_heads
            ]
        if token._.forbidden_deps:
            self.not_deps[token.i] = [
                _checked_dep("forbidden_deps", token, dep) for dep in token._.forbidden_deps
            ]

    def sources_of(
        self, attribute: str, token: int, forbidden: Sequence[int | str] = ("",)
    ) -> list[Source]:
        """Return what demands something of a token, the attribute of the Doc where no constraint.

        Parameters
        ----------
        attribute
            One of `ATTRIBUTES`.
        token
            The token.
        forbidden
            The heads or labels that are forbidden; none of them for what must be.
        """
        own = (attribute, token, token + 1)
        found = (self.sources.get((attribute, token, of), own) for of in forbidden)
        return list(dict.fromkeys(found))

    def joined(self, presets: Ints) -> Ints:
        """Return sentence starts as set, and none inside of the arcs that are given.

        Raises
        ------
        ProblemError
            If a boundary that is set parts a token from its head.
        """
        if not self.heads:
            return presets
        presets = presets.copy()
        for token, head in self.heads.items():
            inner = slice(min(token, head) + 1, max(token, head) + 1)
            if (presets[inner] > 0).any():
                raise ProblemError(
                    f"fixed_head: token {token} and its head {head} are in different sentences."
                )
            presets[inner] = -1
        return presets

    def rules(self, tokens: Ints, labels: Sequence[str]) -> list[Rule]:
        """Return the wishes of some tokens of the document as rules.

        Parameters
        ----------
        tokens
            The tokens' indices in the document.
        labels
            The labels, the root's last.
        """
        from ...decoders.tree import FixedArc, FixedLabel, ForbiddenArc, ForbiddenLabel

        if not (self.heads or self.deps or self.not_heads or self.not_deps):
            return []
        number = {name: place for place, name in enumerate(labels)}
        place = {token: i for i, token in enumerate(tokens.tolist(), start=1)}
        found: list[Rule] = []
        for token, i in place.items():
            if token in self.heads:
                found.append(FixedArc(self._head(token, self.heads[token], place), i))
            if token in self.deps:
                found.append(FixedLabel(i, [_number_of(self.deps[token], number)]))
            for head in self.not_heads.get(token, ()):
                if head in place:
                    found.append(ForbiddenArc(self._head(token, head, place), i))
            known = [number[dep] for dep in self.not_deps.get(token, ()) if dep in number]
            if known:
                found.append(ForbiddenLabel(i, known))
        return found

    def _head(self, token: int, head: int, place: dict[int, int]) -> int:
        if head == token:
            return 0
        if head not in place:
            raise ProblemError(
                f"fixed_head: the head {head} of token {token} is white space or in another "
                "sentence."
            )
        return place[head]


def _is_key(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4


def _checked_head(name: str, token: Any, head: Any, n: int) -> int:
    if isinstance(head, bool) or not isinstance(head, (int, np.integer)) or not 0 <= head < n:
        raise ProblemError(
            f"{name}: expected the index of a token, 0 to {n - 1}, at token {token.i} "
            f"({token.text!r}); got {head!r}."
        )
    return int(head)


def _checked_dep(name: str, token: Any, dep: Any) -> str:
    if not isinstance(dep, str):
        raise ProblemError(
            f"{name}: expected a label at token {token.i} ({token.text!r}); got {dep!r}."
        )
    return dep


def _number_of(dep: str, number: dict[str, int]) -> int:
    if dep not in number:
        raise ProblemError(f"fixed_dep: the parser has no label {dep!r}; it has {list(number)}.")
    return number[dep]
