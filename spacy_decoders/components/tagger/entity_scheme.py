"""Labels such as ``B-PER``: their legal order, and the entities that they encode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Booleans, checked_list
from ...errors import ProblemError
from ..option_checks import check_of

if TYPE_CHECKING:
    from ...decoders.chain import RunKinds

__all__ = ["EntityScheme", "Scheme", "TokenEntity"]

#: The meaning of the prefixes of labels; "auto" infers it from the labels.
Scheme = Literal["auto", "BIO", "IOB1", "BILOU", "IO"]

#: The role of each prefix: its word begins, continues or ends an entity, or is one by itself.
_ROLES = {"B": "B", "I": "I", "L": "L", "E": "L", "U": "U", "S": "U"}


class TokenEntity(NamedTuple):
    """An entity, decoded or possible."""

    #: The first token, and the one after the last.
    start: int
    end: int
    #: Its type.
    label: str
    #: That of an entity with exactly this type and these boundaries; None where not wanted.
    probability: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The entity in plain types."""
        return dict(zip(("start", "end", "label", "prob"), self, strict=True))

    def rank(self) -> tuple[int, int, float]:
        """The key by which entities are sorted: position, then the more probable first."""
        return self.start, self.end, -self.probability


@dataclass(frozen=True)
class EntityScheme:
    """Labels of entities.

    Parameters
    ----------
    labels
        The labels in the order of their scores, or as in ``model.config.id2label`` of a
        transformer. A label is ``O``, or a prefix, a hyphen and a kind: ``B-PER``; in the scheme
        IO, the kind alone will do.
    scheme
        ``"BIO"``: an entity is one B and any number of I; ``"IOB1"``: B is only needed after an
        entity of the same kind; ``"BILOU"``, with any of its letters (BIOES): U alone, or B, any
        number of I, and L; ``"IO"``: neighbours of a kind are one entity; ``"auto"``: inferred
        from the labels.

    Raises
    ------
    ProblemError
        If a label has no known prefix.

    Examples
    --------
    >>> scheme = EntityScheme(["O", "B-PER", "I-PER"])
    >>> scheme.name, scheme.can_follow.tolist()[0]
    ('BIO', [True, True, False])
    >>> scheme.entities(np.array([1, 2, 0, 1]))
    [(0, 2, 'PER'), (3, 4, 'PER')]
    """

    labels: Sequence[str] | Mapping[Any, str]
    scheme: Scheme = "auto"

    def __post_init__(self) -> None:
        check_of(Scheme)("scheme", self.scheme)
        for label in self.names:
            role, _ = self._parts(label)
            if not role:
                raise ProblemError(
                    f"labels: {label!r} has none of the prefixes B-, I-, L-, E-, U-, S-; if all "
                    'are types alone, set scheme="IO" of EntityDecoder or exact_token_classifier.'
                )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels, in the order of their scores."""
        return _in_order(self.labels)

    @cached_property
    def name(self) -> str:
        """The scheme; if it was ``"auto"``, the inferred one."""
        if self.scheme != "auto":
            return self.scheme
        parts = [label.split("-", 1) for label in self.names if "-" in label]
        roles = {_ROLES.get(prefix, "") for prefix, _ in parts}
        if roles & {"L", "U"}:
            return "BILOU"
        begins = {kind for prefix, kind in parts if prefix == "B"}
        continues = {kind for prefix, kind in parts if prefix == "I"}
        if continues <= begins:
            return "BIO"
        return "IOB1" if begins else "IO"

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The role of each label: B, I, L, U or O."""
        return tuple(self._parts(label)[0] for label in self.names)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of entity of each label, empty for O."""
        return tuple(self._parts(label)[1] for label in self.names)

    @cached_property
    def types(self) -> list[str]:
        """The kinds of entities, in alphabetical order."""
        return sorted({*self.kinds} - {""})

    @cached_property
    def continues(self) -> Booleans:
        """**Shape (L, L)**: whether the column's label continues the entity of the row's."""
        kinds = np.array(self.kinds)
        same: Booleans = kinds[:, None] == kinds
        return same & self._role("BI")[:, None] & self._role("IL")

    @cached_property
    def can_follow(self) -> Booleans:
        """**Shape (L, L)**: whether the column's label may follow the row's."""
        return (self.can_end[:, None] & self.can_start) | self.continues

    @cached_property
    def can_start(self) -> Booleans:
        """**Shape (L,)**: whether a label may be the first, or follow a complete entity."""
        return self._role("BIUO" if self.name in ("IO", "IOB1") else "BUO")

    @cached_property
    def can_end(self) -> Booleans:
        """**Shape (L,)**: whether a label may be the last."""
        return self._role("LUO" if self.name == "BILOU" else "BILUO")

    def entities(self, labels: NDArray[Any]) -> list[tuple[int, int, str]]:
        """Return the first word, the word after the last, and the kind of each entity.

        If labels break the scheme, an entity begins at any label that does not continue the one
        before it, as usual.
        """
        starts, stops, _ = self.runs.runs_in(labels, np.array([0, len(labels)]))
        spans = zip(starts.tolist(), stops.tolist(), strict=True)
        return [(start, stop, self.kinds[labels[start]]) for start, stop in spans]

    @cached_property
    def runs(self) -> RunKinds:
        """The types, in the form that the chain's posteriors take."""
        from ...decoders.chain import RunKinds

        numbers = [self.types.index(kind) if kind else -1 for kind in self.kinds]
        return RunKinds(np.array(numbers), self.continues)

    def _role(self, letters: str) -> Booleans:
        return np.array([role in letters for role in self.roles])

    def _parts(self, label: str) -> tuple[str, str]:
        if label == "O":
            return "O", ""
        prefix, hyphen, kind = label.partition("-")
        if hyphen and kind and prefix in _ROLES:
            return _ROLES[prefix], kind
        return ("I", label) if self.scheme == "IO" else ("", label)


def _in_order(labels: Sequence[str] | Mapping[Any, str]) -> tuple[str, ...]:
    """Return the labels by their numbers."""
    if not isinstance(labels, Mapping):
        return tuple(map(str, checked_list("labels", labels, "names, or a dict of them")))
    named = {int(number): str(label) for number, label in labels.items()}
    if sorted(named) != list(range(len(named))):
        raise ProblemError(f"labels: expected the numbers from 0 on, got {sorted(named)}.")
    return tuple(named[number] for number in range(len(named)))
