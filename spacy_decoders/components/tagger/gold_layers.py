"""The labels that gold documents have, token by token; missing ones are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc
from spacy.training import Example

from ...models.tagger.losses import UNKNOWN
from ..factories.exact_tagger import Target
from .label_space import COLUMNS, IOB, LabelSpace

__all__ = ["aligned_labels", "gold_labels", "labels_in"]

POS_NAMES = {number: name for name, number in IDS.items()}


def labels_in(examples: Iterable[Example], targets: Sequence[Target]) -> list[str]:
    """Return the labels that examples have, sorted."""
    found: set[str] = set()
    for example in examples:
        labels = _joined([_layer(example.reference, target) for target in targets])
        found.update(label for label in labels if label is not None)
    if tuple(targets) == ("ent",):
        # an entity of one token in training may be longer in a text
        types = {label[2:] for label in found if label[:2] in ("B-", "I-")}
        found |= {f"{position}-{kind}" for kind in types for position in "BI"}
    return sorted(found)


def gold_labels(examples: Iterable[Example], space: LabelSpace) -> NDArray[np.int32]:
    """Return the number of each token's label, or `UNKNOWN`: predicted Docs end to end."""
    known = (label for of in examples for label in aligned_labels(of, space.targets))
    return np.array([space.index.get(label or "", UNKNOWN) for label in known], dtype=np.int32)


def aligned_labels(example: Example, targets: Sequence[Target]) -> list[str | None]:
    """The label of each token of the predicted Doc; None where a part is missing."""
    if np.array_equal(example.predicted.to_array(ORTH), example.reference.to_array(ORTH)):
        # aligning the tokens would take most of the time of training
        return _joined([_layer(example.reference, target) for target in targets])
    layers: list[Sequence[str | None]] = []
    for target in targets:
        if target == "ent":
            layers.append([_bio(tag) for tag in example.get_aligned_ner()])
        else:
            layers.append(example.get_aligned(target.upper(), as_string=True))
    return _joined(layers)


def _joined(layers: Sequence[Sequence[str | None]]) -> list[str | None]:
    if len(layers) == 1:
        return [value or None for value in layers[0]]
    return [
        " ".join(cast(Any, parts)) if all(parts) else None for parts in zip(*layers, strict=True)
    ]


def _bio(biluo: str | None) -> str | None:
    """Convert BILUO to BIO; spaCy's own conversion breaks types such as "SKU-1"."""
    if biluo is None or biluo == "-":
        return None
    return {"U": "B", "L": "I"}.get(biluo[0], biluo[0]) + biluo[1:]


def _layer(doc: Doc, target: Target) -> list[str | None]:
    """The values of all tokens of a document."""
    if target == "morph":
        # an empty feature set is a value too
        return [(str(token.morph) or "_") if token.has_morph() else None for token in doc]
    columns: Any = doc.to_array(cast(Any, list(COLUMNS[target])))
    columns = columns.reshape(len(doc), len(COLUMNS[target]))
    if target == "ent":
        return _entity_layer(doc, columns[:, 0].tolist(), columns[:, 1].tolist())
    strings: Any = doc.vocab.strings if target == "tag" else POS_NAMES
    names = {value: strings[value] if value else None for value in set(columns[:, 0].tolist())}
    return [names[value] for value in columns[:, 0].tolist()]


def _entity_layer(doc: Doc, iob: Sequence[int], types: Sequence[int]) -> list[str | None]:
    """The entities of a document in BIO."""
    names = {number: doc.vocab.strings[number] for number in set(types)}
    layer: list[str | None] = []
    inside = -1  # the type of the entity that the token before is part of
    for position, number in zip(iob, types, strict=True):
        if position in (IOB["B"], IOB["I"]) and not number:
            layer.append("O")  # blocked by `Doc.set_ents`
        elif position == IOB["B"] or (position == IOB["I"] and number != inside):
            layer.append(f"B-{names[number]}")
        elif position == IOB["I"]:
            layer.append(f"I-{names[number]}")
        else:
            layer.append("O" if position == IOB["O"] else None)
        inside = number if position in (IOB["B"], IOB["I"]) else -1
    return layer
