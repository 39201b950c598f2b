"""User constraints: labels that are forbidden for a token get the emission ``-inf``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE, ORTH
from spacy.tokens import Doc

from .label_space import LabelSpace

__all__ = ["constrained"]

#: A token and the labels that it may have, **shape (L,)**.
Constraint = tuple[int, NDArray[np.bool_]]


def constrained(
    doc: Doc,
    emissions: NDArray[np.float32],
    space: LabelSpace,
    dictionary: Mapping[int, NDArray[np.bool_]],
    overwrite: bool,
) -> NDArray[np.float32]:
    """Return the emissions with ``-inf`` for forbidden labels; a copy if there are any.

    Parameters
    ----------
    doc
        The document.
    emissions
        **Shape (n, L)**.
    space
        The meaning of the labels.
    dictionary
        The labels that a word may have, by its number in the vocabulary.
    overwrite
        Whether existing annotation may be changed.
    """
    constraints: list[Constraint] = []
    if dictionary:
        words = doc.to_array(ORTH).tolist()
        constraints += [(i, dictionary[w]) for i, w in enumerate(words) if w in dictionary]
    if "ent" in space.targets:
        blanks = np.flatnonzero(doc.to_array(IS_SPACE)).tolist()
        constraints += [(i, space.outside_entity) for i in blanks]
    if not overwrite:
        constraints += _of_present(doc, space)
    if constraints:
        emissions = emissions.copy()
        for i, allowed in constraints:
            emissions[i, ~allowed] = -np.inf
    return emissions


def _of_present(doc: Doc, space: LabelSpace) -> Iterator[Constraint]:
    """Return which labels agree with existing values; a value without a label is no constraint."""
    values, is_set = space.present(doc)
    for i in np.flatnonzero(is_set.any(axis=1)).tolist():
        allowed = space.matching(values[i], is_set[i])
        if allowed.any():
            yield i, allowed
    if "ent" in space.targets and len(doc):
        # an entity that is kept must not be continued by a token after it
        inside = space.in_entity(values)
        for i in (np.flatnonzero(inside[:-1] & ~inside[1:]) + 1).tolist():
            yield i, ~space.continues_entity
