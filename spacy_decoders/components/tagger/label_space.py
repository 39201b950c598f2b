"""The labels of a chain: values of token attributes, and their legal order."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, MORPH, POS, TAG
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...errors import ProblemError
from ..factories.exact_tagger import Target
from .entity_scheme import EntityScheme

__all__ = ["COLUMNS", "IOB", "LabelSpace"]

#: How a Doc encodes the position of a token in an entity.
IOB = {"I": 1, "O": 2, "B": 3}
_ENTITY_IDS = [ENT_KB_ID, ENT_ID]
#: The attributes of a Doc that each target is written to.
COLUMNS = {"tag": (TAG,), "pos": (POS,), "morph": (MORPH,), "ent": (ENT_IOB, ENT_TYPE)}


class LabelSpace:
    """The labels of one component and the values that each writes to a token.

    A label has one value for each target, joined by blanks: ``"NNP"`` for the target tag,
    ``"NNP B-PER"`` for tag and ent. Labels are in the order of their numbers. Documents may have
    another vocabulary. Raises `ProblemError` if a label does not have one part for each target.
    """

    def __init__(self, vocab: Vocab, targets: Sequence[Target], labels: Sequence[str]) -> None:
        self.vocab = vocab
        self.targets = tuple(targets)
        self.labels = tuple(labels)
        self.index = {label: number for number, label in enumerate(self.labels)}
        # the labels of a single target are not split
        parts = [label.split(" ") if len(targets) > 1 else [label] for label in self.labels]
        for label, own in zip(self.labels, parts, strict=True):
            if len(own) != len(self.targets) or not all(own):
                raise ProblemError(
                    f"labels: {label!r} should have one part for each of the targets "
                    f"{', '.join(self.targets)}, separated by a blank; "
                    "rename values that have blanks themselves."
                )
        self.parts = parts
        #: the token attributes that are written
        self.attributes = [attribute for target in self.targets for attribute in COLUMNS[target]]

    @cached_property
    def values(self) -> NDArray[np.uint64]:
        """**Shape (L + 1, attributes)**: the values of each label.

        The last row, that of label -1, is for tokens without a label.
        """
        rows = [
            [
                value
                for target, part in zip(self.targets, parts, strict=True)
                for value in _value(self.vocab, target, part)
            ]
            for parts in self.parts
        ]
        rows.append([0] * len(self.attributes))
        return np.array(rows, dtype=np.uint64)

    def add_to(self, vocab: Vocab, labels: Collection[int]) -> None:
        """Add the strings of some labels to a vocabulary.

        This is done each time, since a vocabulary drops strings at the end of a memory zone.
        """
        strings, morphology = vocab.strings, vocab.morphology
        adding = {"tag": strings.add, "morph": morphology.add, "ent": strings.add}
        written = [self.parts[number] for number in labels if number >= 0]
        for column, target in enumerate(self.targets):
            if target in adding:
                begin, add = 2 * (target == "ent"), adding[target]  # after the prefix of BIO
                for parts in written:
                    add(parts[column][begin:])

    def write(self, doc: Doc, values: NDArray[np.uint64]) -> None:
        """Write rows of `values`; entities that change lose their ids."""
        before = {(ent.start, ent.end, ent.label) for ent in doc.ents if "ent" in self.targets}
        ids: Any = doc.to_array(cast(Any, _ENTITY_IDS)) if before else None
        doc.from_array(cast(Any, self.attributes), cast(Any, values))
        if before:
            kept = np.zeros(len(doc), dtype=bool)
            for ent in doc.ents:
                kept[ent.start : ent.end] = (ent.start, ent.end, ent.label) in before
            doc.from_array(cast(Any, _ENTITY_IDS), ids * kept[:, None])

    @cached_property
    def scheme(self) -> EntityScheme:
        """The entity labels, if entities are among the targets."""
        column = self.targets.index("ent")
        return EntityScheme([parts[column] for parts in self.parts], "BIO")

    def entities_of(self, types: Iterable[str] | None) -> NDArray[np.bool_]:
        """**Shape (L,)**: whether a label is part of an entity of some types; None for any."""
        return np.isin(self.scheme.kinds, self.scheme.types if types is None else list(types))

    @cached_property
    def first_part(self) -> int:
        """The part of labels whose probability tokens get: the first that is no entity label."""
        others = [place for place, target in enumerate(self.targets) if target != "ent"]
        return others[0] if others else 0

    @cached_property
    def same_first_part(self) -> NDArray[np.bool_]:
        """**Shape (L, L)**: whether two labels agree in `first_part`."""
        first = [parts[self.first_part] for parts in self.parts]
        _, numbers = np.unique(first, return_inverse=True)
        return numbers[:, None] == numbers

    def with_parts(self, parts: Iterable[str]) -> NDArray[np.bool_]:
        """**Shape (L,)**: whether a label, whole or in part, is among those given."""
        wanted = set(parts)
        named = zip(self.labels, self.parts, strict=True)
        return np.array([not wanted.isdisjoint((label, *own)) for label, own in named], dtype=bool)

    def matching(self, row: NDArray[np.uint64], is_set: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """**Shape (L,)**: whether a label writes these values in the attributes that are set."""
        return (self.values[:-1, is_set] == row[is_set]).all(axis=1)

    def present(self, doc: Doc) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return existing values, and whether they are set: **shape (n, attributes)** each.

        Only tokens in an entity count as set: components also write "outside" to tokens that they
        did not examine.
        """
        values: Any = doc.to_array(cast(Any, self.attributes))
        values = values.reshape(len(doc), len(self.attributes))
        is_set = values != 0
        if ENT_IOB in self.attributes:
            column = self.attributes.index(ENT_IOB)
            is_set[:, column : column + 2] = self.in_entity(values)[:, None]
        return values, is_set

    def in_entity(self, values: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """**Shape (n,)**: whether the values of tokens, as in `present`, are those of entities."""
        column = values[:, self.attributes.index(ENT_IOB)]
        return (column == IOB["B"]) | (column == IOB["I"])

    def compared(
        self, values: NDArray[np.uint64], starts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the values that labels must write to agree with existing entities.

        spaCy marks a token that ``Doc.set_ents(blocked=...)`` keeps out of entities as the
        beginning of one without a type. An entity that continues after the end of a sentence
        begins anew in the next one, as given by `starts`; the second array says where.
        """
        column, found = self.attributes.index(ENT_IOB), values.copy()
        found[(values[:, column] == IOB["B"]) & (values[:, column + 1] == 0), column] = IOB["O"]
        goes_on = starts & (values[:, column] == IOB["I"])
        found[goes_on, column] = IOB["B"]
        return found, goes_on


def _value(vocab: Vocab, target: Target, part: str) -> tuple[int, ...]:
    """Return the value of a part of a label in a vocabulary, to which its string is added."""
    if target == "tag":
        return (vocab.strings.add(part),)
    if target == "morph":
        return (vocab.morphology.add(part),)
    if target == "pos":
        if part not in POS_IDS:
            raise ProblemError(
                f"labels: {part!r} is no universal part of speech; use target 'tag' for "
                "tags of any other kind."
            )
        return (POS_IDS[part],)
    if part == "O":
        return (IOB["O"], 0)
    if part[:2] not in ("B-", "I-") or len(part) < 3:
        raise ProblemError(f"labels: {part!r} is not BIO; expected O, B-TYPE or I-TYPE.")
    return (IOB[part[0]], vocab.strings.add(part[2:]))
