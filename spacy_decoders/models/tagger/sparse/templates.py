"""Feature templates over the attributes (atoms) of a token and the words around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ....errors import ProblemError
from .kernels.words import AFFIX

__all__ = ["PRESETS", "TOKEN_ATOMS", "WORD_ATOMS", "Plan", "plan_of"]

#: The attributes of a word independent of its context, in the order of their columns.
WORD_ATOMS = (
    "form",
    "lower",
    "norm",
    "shape",
    *(f"prefix{length}" for length in range(1, AFFIX + 1)),
    *(f"suffix{length}" for length in range(1, AFFIX + 1)),
    "short_shape",
    "kind",
    "cluster4",
    "cluster6",
    "cluster10",
    "cluster",
    "frequency",
    "case",
    "listed",
    "group6",
    "group14",
    "group22",
    "group",
)
#: The attributes of a token in its document.
TOKEN_ATOMS = ("mention_case", "mention_before", "mention_after", "gazetteer", "glued")

#: Templates for part-of-speech and morphological tags.
_TAGS = (
    "lower[-2..2]",
    "form[0]",
    "short_shape[-1..1]",
    "kind[-1..1]",
    "prefix1..4[0]",
    "suffix1..4[0]",
    "suffix2..3[-1..1]",
    "cluster4[-2..2]",
    "cluster6[-2..2]",
    "cluster10[-2..2]",
    "cluster[-2..2]",
    "case[-1..1]",
    "norm[0]",
    "lower[-2] | lower[-1]",
    "lower[-1] | lower[0]",
    "lower[0] | lower[1]",
    "lower[1] | lower[2]",
    "lower[-1] | lower[1]",
    "cluster[-2] | cluster[-1]",
    "cluster[-1] | cluster[0]",
    "cluster[0] | cluster[1]",
    "cluster[-1] | cluster[1]",
    "cluster[-1] | cluster[0] | cluster[1]",
    "lower[0] | cluster[-1]",
    "lower[0] | cluster[1]",
    "suffix3[0] | cluster[-1]",
    "suffix3[0] | cluster[1]",
    "suffix3[0] | short_shape[0]",
)

#: Templates for named entities.
_ENTITIES = (
    "form[-2..2]",
    "lower[-2..2]",
    "shape[-2..2]",
    "cluster4[-2..2]",
    "cluster6[-2..2]",
    "cluster10[-2..2]",
    "cluster[-2..2]",
    "case[-2..2]",
    "listed[-1..1]",
    "gazetteer[-1..1]",
    "gazetteer[0] | shape[0]",
    "prefix1..4[0]",
    "suffix1..4[0]",
    "lower[-1] | lower[0]",
    "lower[0] | lower[1]",
    "lower[-1] | lower[1]",
    "cluster10[-1] | cluster10[0]",
    "cluster10[0] | cluster10[1]",
)

#: Templates for tags and named entities together.
_JOINTS = (*_TAGS, *(t for t in _ENTITIES if t not in _TAGS))

#: Templates for named entities with features of the whole document, and lists of names.
_NAMES = (
    *_ENTITIES,
    "mention_case[-1..1]",
    "mention_case[0] | case[0]",
    "mention_before[0]",
    "mention_after[0]",
    "suffix3[-1]",
    "suffix3[1]",
    "gazetteer[-1] | gazetteer[0]",
    "gazetteer[0] | gazetteer[1]",
    "gazetteer[0] | lower[-1]",
    "gazetteer[0] | lower[1]",
    "gazetteer[0] | case[0]",
    "gazetteer[0] | cluster10[0]",
    "listed[0] | cluster[-1]",
    "listed[0] | cluster[1]",
)

#: Templates for named entities with features of the whole document, lists of names and groups.
_GROUPS = (
    *_NAMES,
    "group6[-2..2]",
    "group14[-2..2]",
    "group22[-2..2]",
    "group[-2..2]",
    "group14[-1] | group14[0]",
    "group14[0] | group14[1]",
    "group6[-1] | group6[0] | group6[1]",
    "group6[0] | group22[-1]",
    "group6[0] | group22[1]",
    "group14[0] | case[0]",
    "group14[0] | cluster10[0]",
    "group22[0] | shape[0]",
    "gazetteer[0] | group14[0]",
    "short_shape[0] | group22[-1]",
    "short_shape[0] | group22[1]",
    "shape[0] | lower[-1]",
    "shape[0] | lower[1]",
    "kind[0] | lower[-1]",
    "lower[-2] | lower[-1]",
    "lower[1] | lower[2]",
    "short_shape[-1] | short_shape[0] | short_shape[1]",
    "short_shape[-2] | short_shape[-1] | short_shape[0] | short_shape[1]",
    "short_shape[0] | short_shape[1] | short_shape[2]",
    "glued[0] | lower[0]",
    "glued[0] | lower[-1]",
    "glued[0] | lower[1]",
    "glued[0] | short_shape[-1] | short_shape[0] | short_shape[1]",
    "glued[0] | lower[0] | group6[-1] | group6[1]",
    "glued[0] | lower[-1] | group6[-2] | group6[0]",
    "glued[0] | lower[-1] | gazetteer[-2]",
    "glued[0] | lower[-1] | listed[0]",
    "glued[0] | lower[0] | listed[1]",
    "glued[0] | lower[1] | listed[2]",
)

#: The named lists of templates.
PRESETS: dict[str, tuple[str, ...]] = {
    "tags": _TAGS,
    "entities": _ENTITIES,
    "names": _NAMES,
    "groups": _GROUPS,
    "joint": _JOINTS,
}

_TERM = re.compile(
    r"(?P<name>[a-z_]+?)(?P<first>\d+)?(\.\.(?P<last>\d+))?"
    r"\[(?P<begin>-?\d+)(\.\.(?P<end>-?\d+))?\]"
)
_NUMBERS = {name: number for number, name in enumerate((*WORD_ATOMS, *TOKEN_ATOMS))}
#: The largest distance of a word in a template.
FARTHEST = 8

#: A term of a template: the number of an atom, and the distance of its word.
Term = tuple[int, int]


class Plan(NamedTuple):
    """Templates as the kernels take them."""

    #: **Shape (templates,)**, uint64: the initial state of each template's hash.
    seeds: NDArray[np.uint64]
    #: **Shape (templates + 1,)**, int64: where the terms of each template begin.
    offsets: NDArray[np.int64]
    #: **Shape (terms,)**, int64: the atom, and the distance of its word.
    atoms: NDArray[np.int64]
    shifts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seeds)

    def by_width(self) -> tuple[Plan, Plan]:
        """Return the templates of a single word, and the others; their rows are not changed."""
        lengths = np.diff(self.offsets)
        alone = (lengths == 1) & (self.atoms[self.offsets[:-1]] < len(WORD_ATOMS))
        return self._part(alone), self._part(~alone)

    def _part(self, chosen: NDArray[np.bool_]) -> Plan:
        lengths = np.diff(self.offsets)
        terms = np.repeat(chosen, lengths)
        offsets = np.append(0, np.cumsum(lengths[chosen]))
        return Plan(self.seeds[chosen], offsets, self.atoms[terms], self.shifts[terms])


def plan_of(templates: Sequence[str]) -> Plan:
    """Parse templates.

    Each is one or several terms joined by ``|``: the name of an atom and, in brackets, the
    distance of its word. ``lower[-2..2]`` stands for five templates, and ``suffix1..3[0]`` for
    three. Raises `ProblemError` if one can't be parsed, names an unknown atom, or has too large a
    distance.

    Examples
    --------
    >>> plan = plan_of(["lower[-1..1]", "cluster10[-1] | cluster10[0]"])
    >>> len(plan), plan.shifts.tolist()
    (4, [-1, 0, 1, -1, 0])
    """
    unfolded: dict[tuple[Term, ...], None] = {}
    for template in templates:
        terms = [_terms(template, text.strip()) for text in template.split("|")]
        if len(terms) > 1 and any(len(of_term) > 1 for of_term in terms):
            raise ProblemError(
                f"templates: {template!r} joins a range to another term; write out all of them."
            )
        if len(terms) > 1:
            unfolded[tuple(of_term[0] for of_term in terms)] = None
        else:
            unfolded.update({(term,): None for term in terms[0]})
    flat = [term for terms in unfolded for term in terms]
    return Plan(
        np.array([_seed(terms) for terms in unfolded], dtype=np.uint64),
        np.cumsum([0, *map(len, unfolded)]),
        np.array([atom for atom, _ in flat], dtype=np.int64),
        np.array([shift for _, shift in flat], dtype=np.int64),
    )


def _terms(template: str, text: str) -> list[Term]:
    """Return the terms that a term stands for, several if it has a range."""
    match = _TERM.fullmatch(text)
    if match is None:
        raise ProblemError(
            f"templates: {template!r} cannot be read; expected terms such as lower[-1], "
            "suffix1..3[0] or cluster10[-2..2], joined by |."
        )
    name, first = match["name"], match["first"]
    if match["last"] is None:
        names = [name + (first or "")]
    else:
        names = [f"{name}{length}" for length in range(int(first or 0), int(match["last"]) + 1)]
    begin = int(match["begin"])
    shifts = range(begin, int(match["end"] or begin) + 1)
    for unknown in set(names) - set(_NUMBERS):
        raise ProblemError(
            f"templates: {template!r} names {unknown!r}; known are {', '.join(_NUMBERS)}."
        )
    if not len(shifts) or max(map(abs, shifts)) > FARTHEST:
        raise ProblemError(
            f"templates: {template!r} must have distances from -{FARTHEST} to {FARTHEST}."
        )
    return [(_NUMBERS[name], shift) for name in names for shift in shifts]


def _seed(terms: Sequence[Term]) -> int:
    """Return a number for a template that is independent of the other templates."""
    seed = 0
    for atom, shift in terms:
        name = crc32((*WORD_ATOMS, *TOKEN_ATOMS)[atom].encode())
        seed = (seed * 1_000_003 + name * 64 + shift + 32) * 0x2545F4914F6CDD1D % 2**64
    return seed
