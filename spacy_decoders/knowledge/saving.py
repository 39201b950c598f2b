"""What an open base holds, as it can be built again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .concepts import Concept
from .contents import Contents

if TYPE_CHECKING:
    from .concept_base import ConceptBase

__all__ = ["concepts_of", "contents_of"]


def concepts_of(base: ConceptBase) -> Iterator[Concept]:
    """Give the concepts of a base one by one; their aliases are normalised."""
    names: list[dict[str, float]] = [{} for _ in range(len(base))]
    for alias, concept, count, _ in _uses(base):
        names[concept][alias] = names[concept].get(alias, 0.0) + count
    for concept in _present(base).tolist():
        yield Concept(
            id=base.id(concept),
            title=base.titles[concept],
            aliases=names[concept],
            links=tuple(base.ids.table.take(base.graph.neighbours(concept))),
            description=base.descriptions[concept],
            text="" if base.texts is None else base.texts[concept],
            type=base.type(concept) or "",
            qid=base.qid(concept) or "",
            url="" if base.urls is None else base.urls[concept],
        )


def contents_of(base: ConceptBase) -> Contents:
    """Everything that a base holds; removed concepts are left out."""
    present = _present(base)
    place = np.full(len(base), -1)
    place[present] = np.arange(len(present))
    uses = list(_uses(base))
    arrays = base.graph.arrays
    sources = np.repeat(arrays.outer, np.diff(arrays.indptr))
    edges = place[np.stack([sources, arrays.outer[arrays.indices]], axis=1)]
    shares = base.aliases.link_probabilities(np.arange(len(base.aliases)))
    descriptions = base.descriptions.take(present)
    texts = descriptions if base.texts is None else base.texts.take(present)
    numbers = present.tolist()
    return Contents(
        ids=base.ids.table.take(present),
        titles=base.titles.take(present),
        descriptions=descriptions,
        aliases=[alias for alias, _, _, _ in uses],
        alias_concepts=place[np.array([concept for _, concept, _, _ in uses], np.int64)],
        alias_counts=np.array([count for _, _, count, _ in uses], np.float64),
        alias_cases=np.array([case for _, _, _, case in uses], np.int64),
        edges=edges[(edges[:, 0] < edges[:, 1]) & (edges >= 0).all(axis=1)],
        texts=texts if base.text is not None else (),
        types=[base.type(number) or "" for number in numbers],
        qids=[base.qid(number) or "" for number in numbers],
        urls=() if base.urls is None else base.urls.take(present),
        link_probabilities=[
            (base.aliases.name(row), float(shares[row]))
            for row in np.flatnonzero(~np.isnan(shares)).tolist()
        ],
    )


def _present(base: ConceptBase) -> NDArray[np.int64]:
    """The numbers of the concepts that were not removed."""
    found = base.ids.find(list(base.ids.table))
    return np.flatnonzero(found == np.arange(len(base)))


def _uses(base: ConceptBase) -> Iterator[tuple[str, int, float, int]]:
    """Aliases with their concepts, counts and cases, -1 for an unknown case."""
    table = base.aliases
    for row in range(len(table)):
        concepts = table.row(row)[0].tolist()
        shares = table.case_shares(row).tolist()
        alias = table.name(row) if concepts else ""
        for concept, count, cases in zip(concepts, table.counts(row), shares, strict=True):
            known = [(case, share) for case, share in enumerate(cases) if share > 0]
            whole = sum(share for _, share in known)
            for case, share in known or [(-1, 1.0)]:
                yield alias, concept, float(count) * share / (whole or 1.0), case
