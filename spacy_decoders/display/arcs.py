"""Drawing a dependency tree above its sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Arc", "TreeDrawing", "Word", "text_width"]

#: Pixels between levels of arcs, between words, and from a word's centre to the ends of its arcs.
_LEVEL, _GAP, _ASIDE = 28, 26, 5
Tree = Mapping[int, tuple[int, str]]


class Word(NamedTuple):
    """A word with its tag, and the margin of the tag."""

    text: str
    tag: str
    margin: float | None


class Arc(NamedTuple):
    """One arc: its path, its arrow, its label with its position, and its margin."""

    path: str
    arrow: str
    label: str
    x: float
    y: float
    margin: float | None


@dataclass(frozen=True)
class TreeDrawing:
    """The positions of words, by their centres, and of arcs, in pixels."""

    words: tuple[tuple[Word, float], ...]
    arcs: tuple[Arc, ...]
    width: float
    height: float

    @classmethod
    def of(cls, words: Sequence[Word], tree: Tree, margins: Sequence[float | None]) -> TreeDrawing:
        """Lay out a tree, which maps the index in `words` of each modifier to its head and label.

        Examples
        --------
        >>> words = [Word("It", "PRP", None), Word("works", "VBZ", None)]
        >>> drawing = TreeDrawing.of(words, {0: (1, "nsubj"), 1: (1, "ROOT")}, [None, None])
        >>> [arc.label for arc in drawing.arcs]
        ['nsubj', 'ROOT']
        """
        labels = [tree[place][1] if place in tree else "" for place in range(len(words))]
        centres = _centres(words, labels)
        levels = _levels(tree)
        floor = _LEVEL * max(levels.values(), default=0) + 24.0
        arcs = _arcs(tree, levels, centres, floor, margins)
        width = centres[-1] + _width(words[-1]) / 2 + 16 if words else 0.0
        return cls(tuple(zip(words, centres, strict=True)), tuple(arcs), width, floor + 54)


def _arcs(
    tree: Tree,
    levels: Mapping[int, int],
    centres: Sequence[float],
    floor: float,
    margins: Sequence[float | None],
) -> Iterator[Arc]:
    """The arcs of a tree, which end at `floor`, above the words."""
    for modifier, (head, label) in tree.items():
        end = floor - _LEVEL * levels[modifier]
        at = centres[modifier]
        if head == modifier:
            path, middle = f"M{at:.1f},{end:.1f} V{floor:.1f}", at
        else:
            # ends are shifted off a word's centre, so that its arcs do not overlap
            left, right = centres[min(head, modifier)], centres[max(head, modifier)]
            x1, x2 = left + _ASIDE, right - _ASIDE
            at += _ASIDE if modifier < head else -_ASIDE
            bend = min(14.0, (x2 - x1) / 2)
            corner = end + bend
            path = (
                f"M{x1:.1f},{floor:.1f} V{corner:.1f} Q{x1:.1f},{end:.1f} {x1 + bend:.1f},"
                f"{end:.1f} H{x2 - bend:.1f} Q{x2:.1f},{end:.1f} {x2:.1f},{corner:.1f} "
                f"V{floor:.1f}"
            )
            middle = (x1 + x2) / 2
        arrow = f"M{at:.1f},{floor + 5:.1f} l-4,-7 h8 z"
        yield Arc(path, arrow, label, middle, end - 5, margins[modifier])


def text_width(text: str) -> float:
    """Estimate the width of a text at 14 pixels; generously, since the font is not known."""
    return sum(14.5 if unicodedata.east_asian_width(c) in "WF" else 8.3 for c in text)


def _width(word: Word) -> float:
    return max(text_width(word.text), text_width(word.tag), 20.0)


def _centres(words: Sequence[Word], labels: Sequence[str]) -> list[float]:
    """The centre of each word; words are moved apart where a label needs room."""
    centres: list[float] = []
    x = 12.0
    for word, label in zip(words, labels, strict=True):
        half = max(_width(word), text_width(label) * 0.8) / 2
        x += half
        centres.append(x)
        x += half + _GAP
    return centres


def _levels(tree: Tree) -> dict[int, int]:
    """The level of each arc, above shorter ones that it covers or crosses; the root's on top."""
    spans = [(min(h, m), max(h, m), m) for m, (h, _) in tree.items() if h != m]
    levels: dict[int, int] = {}
    drawn: list[tuple[int, int, int]] = []
    for left, right, modifier in sorted(spans, key=lambda span: (span[1] - span[0], span)):
        below = [levels[m] for start, stop, m in drawn if start < right and left < stop]
        levels[modifier] = max(below, default=0) + 1
        drawn.append((left, right, modifier))
    outermost = max(levels.values(), default=0) + 1
    return {m: levels.get(m, outermost) for m in tree}
