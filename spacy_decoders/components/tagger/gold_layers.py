"""The gold labels of examples, token by token; missing ones are unknown."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Token
from spacy.training import Example

from ...arrays import Integers32
from ...models.tagger.losses import UNKNOWN
from ..factories.exact_tagger import Target
from .label_space import LabelSpace

__all__ = ["aligned_labels", "gold_labels", "labels_in", "layer_of"]


def labels_in(examples: Iterable[Example], targets: Sequence[Target]) -> list[str]:
    """Return the labels that examples have, sorted."""
    found: set[str] = set()
    for example in examples:
        labels = _joined([layer_of(example.reference, target) for target in targets])
        found.update(label for label in labels if label is not None)
    if tuple(targets) == ("ent",):
        # types that have only entities of one token in training may have longer ones
        types = {label[2:] for label in found if label[:2] in ("B-", "I-")}
        found |= {f"{position}-{kind}" for kind in types for position in "BI"}
    return sorted(found)


def gold_labels(examples: Iterable[Example], space: LabelSpace) -> tuple[Integers32, set[str]]:
    """Return the number of each token's label, or `UNKNOWN`: predicted Docs end to end.

    The second value has the labels that the component lacks.
    """
    known = [label or "" for one in examples for label in aligned_labels(one, space.targets)]
    numbers = [space.index.get(label, UNKNOWN) for label in known]
    return np.array(numbers, dtype=np.int32), set(known) - {""} - space.index.keys()


def aligned_labels(example: Example, targets: Sequence[Target]) -> list[str | None]:
    """The label of each token of the predicted Doc; None where a part is missing."""
    if np.array_equal(example.predicted.to_array(ORTH), example.reference.to_array(ORTH)):
        # aligning tokens would take most of the training time
        return _joined([layer_of(example.reference, target) for target in targets])
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


def layer_of(doc: Doc, target: Target) -> list[str | None]:
    """The values of all tokens of a document."""
    if target == "ent":
        return [_bio_of(token) for token in doc]
    strings = doc.vocab.strings  # an empty feature set is a value too, "_"
    return [strings[value] or None for value in doc.to_array(target.upper()).tolist()]


def _bio_of(token: Token) -> str | None:
    """The named entity that a token is part of, in BIO."""
    if not token.ent_type:
        # `Doc.set_ents` marks tokens that are kept out of entities as beginnings without a type
        return "O" if token.ent_iob_ else None
    return f"{token.ent_iob_}-{token.ent_type_}"
