"""The k best sequences laid over one another: which labels or words survive where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .measure import text_width

__all__ = ["Lattice", "Node"]

_ROW, _HEADING, _GAP = 34, 34, 46


@dataclass(frozen=True)
class Node:
    """One label at one place; `loss` is how much the best sequence through it falls short."""

    text: str
    x: float
    y: float
    width: float
    best: bool
    loss: float


@dataclass(frozen=True)
class Lattice:
    """Where to draw the nodes, the headings and the edges between nodes, in pixels.

    Edges are (x1, y1, x2, y2, on the best sequence).
    """

    nodes: tuple[Node, ...]
    headings: tuple[tuple[str, float], ...]
    edges: tuple[tuple[float, float, float, float, bool], ...]
    width: float
    height: float

    @classmethod
    def of(
        cls, sequences: Sequence[Sequence[str]], scores: Sequence[float], headings: Sequence[str]
    ) -> Lattice:
        """Lay out sequences, the best first; column i holds what stands at place i.

        Examples
        --------
        >>> lattice = Lattice.of([["DT", "NN"], ["DT", "VB"]], [2.0, 1.5], ["the", "saw"])
        >>> [(node.text, node.best, node.loss) for node in lattice.nodes]
        [('DT', True, 0.0), ('NN', True, 0.0), ('VB', False, 0.5)]
        """
        rows: list[dict[str, float]] = [{} for _ in range(max(map(len, sequences)))]
        for sequence, score in zip(sequences, scores, strict=True):
            for column, text in zip(rows, sequence, strict=False):
                column.setdefault(text, scores[0] - score)
        return cls._laid_out(rows, sequences, headings)

    @classmethod
    def of_choices(
        cls, columns: Sequence[Sequence[tuple[str, float]]], headings: Sequence[str]
    ) -> Lattice:
        """Lay out candidates, the chosen one of each column first, joined to the next chosen.

        Examples
        --------
        >>> lattice = Lattice.of_choices([[("cat", 0.0), ("car", 0.5)], [("river", 0.0)]],
        ...                              ["Jaguar", "Amazon"])
        >>> [node.text for node in lattice.nodes if node.best], len(lattice.edges)
        (['cat', 'river'], 1)
        """
        rows = [dict(column) for column in columns]
        return cls._laid_out(rows, [[next(iter(row)) for row in rows]], headings)

    @classmethod
    def _laid_out(
        cls,
        rows: Sequence[dict[str, float]],
        sequences: Sequence[Sequence[str]],
        headings: Sequence[str],
    ) -> Lattice:
        titles = [*headings, *[""] * (len(rows) - len(headings))]
        top = _HEADING if any(titles) else 6
        nodes: dict[tuple[int, str], Node] = {}
        placed: list[tuple[str, float]] = []
        x = 8.0
        for place, (column, title) in enumerate(zip(rows, titles, strict=True)):
            width = max(text_width(text) for text in (title, *column)) + 16
            placed.append((title, x + width / 2))
            for row, (text, loss) in enumerate(column.items()):
                best = place < len(sequences[0]) and sequences[0][place] == text
                nodes[place, text] = Node(text, x, top + row * _ROW, width, best, loss)
            x += width + _GAP
        edges = _edges(sequences, nodes)
        height = top + _ROW * max(map(len, rows))
        return cls(tuple(nodes.values()), tuple(placed), edges, x - _GAP + 8, height)


def _edges(
    sequences: Sequence[Sequence[str]], nodes: dict[tuple[int, str], Node]
) -> tuple[tuple[float, float, float, float, bool], ...]:
    drawn: dict[tuple[int, str, str], bool] = {}
    for rank, sequence in enumerate(sequences):
        for place, (left, right) in enumerate(pairwise(sequence)):
            drawn.setdefault((place, left, right), rank == 0)
    edges = []
    for (place, left, right), best in drawn.items():
        a, b = nodes[place, left], nodes[place + 1, right]
        edges.append((a.x + a.width, a.y + 12, b.x, b.y + 12, best))
    # the best sequence last, so that it lies on top
    return tuple(sorted(edges, key=lambda edge: edge[4]))
