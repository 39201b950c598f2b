"""Gold labels of partially annotated documents: sets of labels of which one is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.training import Example

from ...models.tagger.losses import UNKNOWN
from ...models.tagger.negative_spans import NegativeSpans
from .gold_layers import aligned_labels, aligned_layers, reference_labels, same_tokens
from .label_space import LabelSpace, Target

__all__ = ["GoldLabels", "gold_labels", "labels_in"]

#: The key of `Doc.user_data` of ``doc._.partial_annotation``.
KEY = ("._.", "partial_annotation", None, None)

#: The label of tokens outside of entities.
OUTSIDE = "O"

Mask = NDArray[np.bool_]
Values = tuple[frozenset[str] | None, ...]


class GoldLabels(NamedTuple):
    """What is known of the labels of some documents.

    Attributes
    ----------
    labels
        **Shape (total,)**, int32: the label of each token, or ``UNKNOWN``.
    allowed
        **Shape (total, L)**: the labels of which one is right where it is unknown; None if all
        may be.
    negative
        Spans that are no entities; None for none.
    """

    labels: NDArray[np.int32]
    allowed: Mask | None
    negative: NegativeSpans | None


def gold_labels(examples: Sequence[Example], space: LabelSpace) -> GoldLabels:
    """Return what examples say of their labels, tokens of all predicted Docs end to end."""
    labels: list[int] = []
    masks: list[Mask | None] = []
    negative: list[tuple[int, int, Mask]] = []
    for example in examples:
        begin = len(labels)
        known = aligned_labels(example, space.targets)
        own = np.array(
            [UNKNOWN if label is None else space.index.get(label, UNKNOWN) for label in known],
            dtype=np.int32,
        )
        given = _given(example)
        rows = None
        if given:
            rows, own = _sets(example, given, own, space)
            negative += [
                (begin + start, begin + end, denied)
                for start, end, denied in _negative(example, given, space)
            ]
        labels += own.tolist()
        masks.append(rows)
    gold = np.array(labels, dtype=np.int32)
    spans = None
    if negative:
        spans = NegativeSpans(negative, space.entity_kinds, space.continues_entity)
    if all(rows is None for rows in masks):
        return GoldLabels(gold, None, spans)
    everything = [
        np.ones((len(example.predicted), len(space)), dtype=bool) if rows is None else rows
        for example, rows in zip(examples, masks, strict=True)
    ]
    return GoldLabels(gold, np.concatenate(everything), spans)


def labels_in(examples: Iterable[Example], targets: Sequence[Target]) -> list[str]:
    """Return the labels that examples have or allow, sorted."""
    found: set[str] = set()
    for example in examples:
        labels = reference_labels(example, targets)
        found.update(label for label in labels if label is not None)
        if len(targets) == 1:
            for row in _given(example).get("allowed", {}).get(targets[0], ()):
                found.update(row or ())
    if tuple(targets) == ("ent",):
        # an entity of one token in training may be longer in a text
        types = {label[2:] for label in found if label[:2] in ("B-", "I-")}
        found |= {f"{position}-{kind}" for kind in types for position in "BI"}
    return sorted(found)


def _given(example: Example) -> Mapping[str, Any]:
    """The partial annotation of an example's reference."""
    # `doc._` takes microseconds
    user_data: dict[Any, Any] = example.reference.user_data
    return user_data.get(KEY) or {}


def _sets(
    example: Example, given: Mapping[str, Any], gold: NDArray[np.int32], space: LabelSpace
) -> tuple[Mask, NDArray[np.int32]]:
    """Return the labels that each token may have, and gold labels where there is one."""
    layers = aligned_layers(example, space.targets)
    listed = [_listed(example, given.get("allowed", {}).get(of)) for of in space.targets]
    types = given.get("types")
    others = [] if types is None else sorted(set(space.entity_types_or_none) - set(types))
    masks: dict[Values, Mask] = {}
    rows = np.ones((len(gold), len(space)), dtype=bool)
    gold = gold.copy()
    beyond = frozenset([OUTSIDE, *(f"{position}-{of}" for of in others for position in "BI")])
    for i in range(len(gold)):
        values: list[frozenset[str] | None] = []
        for target, layer, own in zip(space.targets, layers, listed, strict=True):
            row = own[i] if own is not None else None
            if row is not None:
                values.append(frozenset(row))
            elif target == "ent" and layer[i] == OUTSIDE and others:
                values.append(beyond)
            else:
                value = layer[i]
                values.append(frozenset([value]) if value else None)
        key = tuple(values)
        if key not in masks:
            masks[key] = space.among(key)
        mask = masks[key]
        count = int(mask.sum())
        if count == 1:
            gold[i] = int(mask.argmax())
        else:
            gold[i] = UNKNOWN
            if count:
                rows[i] = mask
    return rows, gold


def _listed(
    example: Example, rows: Sequence[Iterable[str] | None] | None
) -> list[Iterable[str] | None] | None:
    """Return the listed labels by tokens of the predicted Doc; none where tokens differ."""
    if rows is None:
        return None
    if same_tokens(example):
        return list(rows)
    return [None if j is None else rows[j] for j in _one_to_one(example)]


def _one_to_one(example: Example) -> list[int | None]:
    """The token of the reference that each token of the predicted Doc is; None if it is none."""
    there, back = example.alignment.x2y, example.alignment.y2x
    found: list[int | None] = []
    for i in range(len(example.predicted)):
        aligned = [int(j) for j in there[i]]
        alone = len(aligned) == 1 and len(back[aligned[0]]) == 1
        found.append(aligned[0] if alone else None)
    return found


def _negative(
    example: Example, given: Mapping[str, Any], space: LabelSpace
) -> list[tuple[int, int, Mask]]:
    """Return the spans without an entity by tokens of the predicted Doc."""
    spans = given.get("negative", ())
    if not spans or "ent" not in space.targets:
        return []
    place: dict[int, int] = {}
    if same_tokens(example):
        place = {i: i for i in range(len(example.predicted) + 1)}
    else:
        for i, j in enumerate(_one_to_one(example)):
            if j is not None:
                place[j] = i
    found = []
    for start, end, kind in spans:
        first, last = place.get(start), place.get(end - 1)
        if first is not None and last is not None and last - first == end - 1 - start:
            found.append((first, last + 1, space.entities_of([kind] if kind else None)))
    return found
