"""Limits on the number of certain labelled arcs in a tree, which rules are made of."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

__all__ = ["ANY", "Except", "Limit", "Term"]


class Except:
    """All numbers except some."""

    def __init__(self, *members: int) -> None:
        self.members = frozenset(members)

    def __contains__(self, number: object) -> bool:
        return number not in self.members


#: Any head, token or label.
ANY = Except()


class Term(NamedTuple):
    """A set of labelled arcs: from certain heads to certain tokens with certain labels."""

    heads: Collection[int] | Except = ANY
    tokens: Collection[int] | Except = ANY
    labels: Collection[int] | Except = ANY
    #: Whether arcs are counted for each head, or for each token, separately.
    of_each: Literal["head", "token"] | None = None

    def counted(self, heads: Sequence[int], labels: Sequence[int]) -> list[int]:
        """Return for each such arc of a tree under what it is counted: its head, token, or 0."""
        found: Iterable[int] = range(1, len(heads))
        own = (labels, self.labels), (heads, self.heads), (range(len(heads)), self.tokens)
        for values, members in own:
            if not isinstance(members, Except):
                found = [m for m in found if values[m] in members]
            elif others := members.members:  # testing the set itself takes a fraction of the time
                found = [m for m in found if values[m] not in others]
        if self.of_each == "token":
            return list(found)
        return [heads[m] if self.of_each == "head" else 0 for m in found]


class Limit(NamedTuple):
    """How many of certain labelled arcs a tree may have."""

    members: Term
    most: int = 0
    #: If given, there may be any number of `members`, but none beside an arc of this kind.
    excluded_by: Term | None = None

    def exceeded(self, heads: Sequence[int], labels: Sequence[int]) -> set[int]:
        """Return the heads or tokens, or 0, for which a tree exceeds the limit.

        The arguments are those of :meth:`Rule.is_broken`.
        """
        if self.excluded_by is not None:
            beside = set(self.excluded_by.counted(heads, labels))
            return beside and beside.intersection(self.members.counted(heads, labels))
        found = self.members.counted(heads, labels)
        if len(found) <= self.most:
            return set()
        return {place for place, count in Counter(found).items() if count > self.most}
