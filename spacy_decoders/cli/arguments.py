"""Shared by commands: printing, pipelines and lists as arguments, and counts in sentences."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from ..errors import CONTROLS

__all__ = ["CONSOLE", "Pipeline", "Terminal", "counted", "listed"]


class Terminal(Console):
    """Replaces control characters: no text or knowledge base steers the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Make a text of a string, also to measure it."""
        return super().render_str(text.translate(CONTROLS), **options)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """Render whatever is printed, and each of its parts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(CONTROLS), style, control)


#: Prints lines as they are, however wide, brackets included.
CONSOLE = Terminal(highlight=False, soft_wrap=True, markup=False)

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
