"""A dependency tree above its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .measure import text_width

__all__ = ["Arc", "TreeDrawing"]

_LEVEL, _GAP = 28, 26


@dataclass(frozen=True)
class Arc:
    """One arc: its path, its label and where that stands, and its arrow."""

    path: str
    label: str
    x: float
    y: float
    arrow: str
    margin: float | None


@dataclass(frozen=True)
class TreeDrawing:
    """Where to draw words, tags and arcs, in pixels; `root` is the place of the root's mark."""

    words: tuple[tuple[str, str, float], ...]
    arcs: tuple[Arc, ...]
    root: float | None
    width: float
    height: float

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int],
        deps: Sequence[str],
        margins: Sequence[float | None],
    ) -> TreeDrawing:
        """Lay out a tree; `heads` are places in `words`, a root being its own.

        Examples
        --------
        >>> drawing = TreeDrawing.of(["It", "works"], ["", ""], [1, 1], ["nsubj", "ROOT"],
        ...                          [None, None])
        >>> [arc.label for arc in drawing.arcs]
        ['nsubj']
        """
        centres = _centres(words, tags, deps)
        spans = [(min(h, m), max(h, m), m) for m, h in enumerate(heads) if h != m]
        levels = _levels(spans)
        floor = _LEVEL * (max(levels.values(), default=0) + 1) + 24
        arcs = []
        for left, right, modifier in spans:
            # arcs of one word leave side by side: outgoing ends are shifted off its centre
            x1, x2 = centres[left] + 5, centres[right] - 5
            top = floor - _LEVEL * levels[left, right, modifier]
            bend = min(14.0, (x2 - x1) / 2)
            path = (
                f"M{x1:.1f},{floor:.1f} V{top + bend:.1f} Q{x1:.1f},{top:.1f} {x1 + bend:.1f},"
                f"{top:.1f} H{x2 - bend:.1f} Q{x2:.1f},{top:.1f} {x2:.1f},{top + bend:.1f} "
                f"V{floor:.1f}"
            )
            at = centres[modifier] + (5 if modifier == left else -5)
            arrow = f"M{at:.1f},{floor + 5:.1f} l-4,-7 h8 z"
            label = deps[modifier]
            arcs.append(Arc(path, label, (x1 + x2) / 2, top - 4, arrow, margins[modifier]))
        root = next((centres[m] for m, h in enumerate(heads) if h == m), None)
        placed = tuple(zip(words, tags, centres, strict=True))
        last = max(text_width(words[-1]), text_width(tags[-1])) if words else 0.0
        width = (centres[-1] if centres else 0.0) + last / 2 + 16
        return cls(placed, tuple(arcs), root, width, floor + 58)


def _centres(words: Sequence[str], tags: Sequence[str], deps: Sequence[str]) -> list[float]:
    """Centre of each word; a gap is widened where the label of a short arc needs it."""
    centres: list[float] = []
    x = 12.0
    for word, tag, dep in zip(words, tags, deps, strict=True):
        half = max(text_width(word), text_width(tag), text_width(dep) * 0.8, 20.0) / 2
        x += half
        centres.append(x)
        x += half + _GAP
    return centres


def _levels(spans: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], int]:
    """How high each arc runs: above all arcs that it covers or crosses and that are shorter."""
    levels: dict[tuple[int, int, int], int] = {}
    for span in sorted(spans, key=lambda span: (span[1] - span[0], span)):
        left, right, _ = span
        below = [level for other, level in levels.items() if other[0] < right and left < other[1]]
        levels[span] = max(below, default=0) + 1
    return levels
