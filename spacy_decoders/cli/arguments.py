"""Shared by commands: printing, pipelines and lists as arguments, and counts in sentences."""

from typing import Annotated

import typer
from rich.console import Console

__all__ = ["CONSOLE", "Pipeline", "counted", "listed"]

#: Prints lines as they are, however wide, brackets included.
CONSOLE = Console(highlight=False, soft_wrap=True, markup=False)

#: What a command runs.
Pipeline = Annotated[
    str,
    typer.Option(
        "--pipeline",
        "--model",
        help="A pipeline, a folder or a name; by default the shipped one, en.",
    ),
]


def listed(given: str) -> list[str]:
    """Split an argument at commas."""
    return [part.strip() for part in given.split(",") if part.strip()]


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun, in the singular or plural.

    Examples
    --------
    >>> counted(1, "file"), counted(1000, "file"), counted(0, "alias", "aliases")
    ('1 file', '1,000 files', '0 aliases')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
