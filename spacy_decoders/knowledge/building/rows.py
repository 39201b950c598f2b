"""Streaming an SQL dump into a stage, from its last checkpoint on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..dumps.sql import Chunk, Position, SqlTable
from .stages import Build, Stage

__all__ = ["read_rows"]


def read_rows(
    build: Build,
    stage: Stage,
    table: SqlTable,
    numbers: Sequence[str],
    texts: str | Sequence[str] | None,
    state: dict[str, Any],
) -> Iterator[Chunk]:
    """Give the rows of a table that no checkpoint of the stage is behind, and make checkpoints.

    `numbers` and `texts` are the columns; `state` is kept at each checkpoint as the caller has it
    then, with the number of rows so far as ``rows``.
    """
    start = Position(*stage.state.get("position", ()))
    state["rows"] = start.rows
    for chunk in table.chunks(numbers, texts, start=start, progress=build.progress):
        yield chunk
        state |= {"rows": chunk.after.rows, "position": chunk.after}
        if stage.due():
            stage.checkpoint(**state)
