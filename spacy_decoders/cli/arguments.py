"""Arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["FileOption", "PipelineOption", "TextField", "TextOption", "listed"]

TextOption = Annotated[str | None, typer.Option(help="The text.")]
FileOption = Annotated[
    Path | None, typer.Option(help="A file with the text; - for standard input.")
]
TextField = Annotated[str, typer.Option(help="Where the text is in .jsonl, .parquet.")]
PipelineOption = Annotated[
    str | None, typer.Option(help="A pipeline; by default the one that is shipped.")
]


def listed(given: str) -> list[str]:
    """The parts of an argument, which commas part."""
    return [part.strip() for part in given.split(",") if part.strip()]
