"""Shortening sentences: which words a shorter sentence needs with each word that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...decoders.path import SubtreeProblem

__all__ = ["REQUIRED", "Compression", "compression"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Relations, before any colon, whose word a sentence needs with its head: arguments, auxiliaries
#: and copulas, the parts of one name or verb, what marks the head's own role, negation.
REQUIRED = frozenset({
    "nsubj", "csubj", "nsubjpass", "obj", "dobj", "iobj", "attr", "acomp", "oprd", "agent",
    "cop", "aux", "auxpass", "xcomp", "ccomp", "expl", "case", "mark", "pobj", "pcomp", "prt",
    "fixed", "flat", "compound", "goeswith", "neg", "nummod", "quantmod", "poss",
})  # fmt: skip
#: Subtypes of other relations that are required too.
REQUIRED_WHOLE = frozenset({"nmod:poss", "obl:agent", "compound:prt"})


@dataclass(frozen=True, eq=False)
class Compression:
    """The tree of a sentence whose nodes are kept or dropped as a whole."""

    #: Its nodes are groups of words of which none can stay without the others.
    problem: SubtreeProblem
    #: The tokens of each node, ascending.
    groups: list[Integers]


def compression(
    heads: Integers,
    relations: Sequence[str],
    needed: NDArray[np.bool_],
    scores: Floats,
    sizes: Integers,
) -> Compression:
    """Contract the tree of a sentence: a word and those that it needs become one node.

    Parameters
    ----------
    heads
        The head of each token within the sentence, itself for the root. **Shape:** ``(n,)``
    relations
        The relation of each to its head: universal dependencies, or spaCy's English ones.
    needed
        Tokens that their head cannot lose, whatever their relation. **Shape:** ``(n,)``
    scores, sizes
        Of each token. **Shape:** ``(n,)``
    """
    n = len(heads)
    order, root = _from_the_root(heads)
    group = np.full(n, -1, dtype=np.int64)
    parents: list[int] = []
    for token in order:
        head = int(heads[token])
        if token == root:
            group[token] = 0
            parents.append(-1)
        elif needed[token] or _is_required(relations[token]):
            group[token] = group[head]
        else:
            group[token] = len(parents)
            parents.append(int(group[head]))
    count = len(parents)
    problem = SubtreeProblem(
        np.bincount(group, weights=scores, minlength=count),
        parents,
        np.bincount(group, weights=sizes, minlength=count).astype(np.int64),
    )
    by_group = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[by_group], np.arange(1, count))
    return Compression(problem, np.split(by_group, cuts))


def _is_required(relation: str) -> bool:
    return relation.partition(":")[0] in REQUIRED or relation in REQUIRED_WHOLE


def _from_the_root(heads: Integers) -> tuple[list[int], int]:
    """The tokens, each after its head, and the root."""
    children: list[list[int]] = [[] for _ in range(len(heads))]
    root = 0
    for token, head in enumerate(heads.tolist()):
        if head == token:
            root = token
        else:
            children[head].append(token)
    order = [root]
    for token in order:
        order += children[token]
    return order, root
