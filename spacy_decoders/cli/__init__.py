"""``python -m spacy decoders ...``: each command in a file of its own, imported when it runs.

spaCy imports this module for each of its commands, so nothing heavy stands at the top.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer
from spacy.cli._util import app as spacy_app

# so that `spacy find-function` and the others know `@decoders`
from .. import registry  # noqa: F401

__all__ = ["app"]

app = typer.Typer(
    name="decoders",
    help="Exact, certified decoding: a demonstration, compiling, information.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
spacy_app.add_typer(app)


@app.command("demo")
def demo_command(
    text: Annotated[Optional[str], typer.Option(help="The text to annotate.")] = None,  # noqa: UP045 - typer reads it
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="A file with the text; - for standard input."),
    ] = None,
    pipeline: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="A pipeline with an exact_tagger; by default the one that is shipped."),
    ] = None,
    tokens: Annotated[bool, typer.Option(help="Print one row for each token.")] = False,
) -> None:
    """Tag a text exactly and show how sure each tag is."""
    from .demo import demo

    demo(text=text, file=file, pipeline=pipeline, tokens=tokens)


@app.command("info")
def info_command() -> None:
    """Print versions, the registered decoders, and where compiled code is kept."""
    from .info import info

    info()


@app.command("warmup")
def warmup_command() -> None:
    """Compile all decoders once, so that no later run has to."""
    from .warmup import warmup

    raise typer.Exit(warmup())
