"""Heads and labels that are given on the Doc before it is parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
                    found._keep(token)
        return found

    def _keep(self, token: Any) -> None:
        """Demand the head and label that a token has, unless others are."""
        kept = ("overwrite", token.i, token.i + 1)
        if token.i not in self.heads:
            self.heads[token.i] = token.head.i
            self.sources["fixed_head", token.i, ""] = kept
        if token.dep and token.i not in self.deps:
            self.deps[token.i] = token.dep_
            self.sources["fixed_dep", token.i, ""] = kept

    def _read(self, doc: Doc, token: Any) -> None:
        head, dep = token._.fixed_head, token._.fixed_dep
        if head is not None:
            self.heads[token.i] = _checked_head("fixed_head", token, head, len(doc))
        if dep is not None:
            self.deps[token.i] = _checked_dep("fixed_dep", token, dep)
        not_heads = _checked_list("forbidden_heads", token, token._.forbidden_heads)
        if not_heads:
            self.not_heads[token.i] = [
                _checked_head("forbidden_heads", token, head, len(doc)) for head in not_heads
            ]
        not_deps = _checked_list("forbidden_deps", token, token._.forbidden_deps)
        if not_deps:
            self.not_deps[token.i] = [
                _checked_dep("forbidden_deps", token, dep) for dep in not_deps
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

        A boundary that is set stays: where it parts a token from its head, there is no tree.
        """
        joined = presets.copy()
        for token, head in self.heads.items():
            inner = slice(min(token, head) + 1, max(token, head) + 1)
            if not (presets[inner] > 0).any():
                joined[inner] = -1
        return joined

    def rules(self, tokens: Ints, labels: Sequence[str]) -> list[Rule]:
        """Return the wishes of some tokens of the document as rules.

        Parameters
        ----------
        tokens
            The tokens' indices in the document.
        labels
            The labels, the root's last.
        """
        if not (self.heads or self.deps or self.not_heads or self.not_deps):
            return []
        from ...decoders.tree import FixedArc, FixedLabel, ForbiddenArc, ForbiddenLabel

        number = {name: place for place, name in enumerate(labels)}
        place = {token: i for i, token in enumerate(tokens.tolist(), start=1)}
        found: list[Rule] = []
        for token, i in place.items():
            if token in self.heads:
                head = self.heads[token]
                # white space and tokens of other sentences are no heads, as is the token itself:
                # such a rule leaves no tree
                found.append(FixedArc(0 if head == token else place.get(head, i), i))
            if token in self.deps:
                found.append(FixedLabel(i, self._numbers_of(token, number)))
            for head in self.not_heads.get(token, ()):
                if head in place:
                    found.append(ForbiddenArc(0 if head == token else place[head], i))
            known = [number[dep] for dep in self.not_deps.get(token, ()) if dep in number]
            if known:
                found.append(ForbiddenLabel(i, known))
        return found

    def _numbers_of(self, token: int, number: dict[str, int]) -> list[int]:
        """Return the label that a token must have; none if it is kept and no label of ours."""
        dep = self.deps[token]
        if dep in number:
            return [number[dep]]
        if self.sources_of("fixed_dep", token)[0][0] == "overwrite":
            return []
        raise ProblemError(f"fixed_dep: the parser has no label {dep!r}; it has {list(number)}.")


def _is_key(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4


def _checked_list(name: str, token: Any, values: Any) -> list[Any]:
    if values is None:
        return []
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise ProblemError(
            f"{name}: expected a list at token {token.i} ({token.text!r}); got {values!r}."
        )
    return list(values)


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
