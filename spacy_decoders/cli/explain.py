"""A page that explains a text's annotations, from the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import spacy
import typer
from rich.console import Console
from spacy.language import Language

from ..bundled import load
from ..display import explain
from .arguments import FileOption, PipelineOption, TextOption

__all__ = ["explain_text", "paragraphs", "with_alternatives"]

#: What makes our components keep alternatives and margins, where they have the option.
_ALTERNATIVES = {"head_margins": True, "k_best": 12, "n_best": 5}


def explain_text(
    text: TextOption = None,
    file: FileOption = None,
    pipeline: PipelineOption = None,
    output: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("explain.html"),
) -> None:
    """Write a page that shows what was decoded, what else was possible, and how sure it is."""
    from .demo import given_text

    given = paragraphs(given_text(text, file))
    if not given:
        raise typer.BadParameter("there is no text; give --text, or a --file that holds some.")
    if not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"--output: there is no folder {output.absolute().parent}.")
    nlp = with_alternatives(load() if pipeline is None else spacy.load(pipeline))
    too_long = next((part for part in given if len(part) > nlp.max_length), None)
    if too_long is not None:
        raise typer.BadParameter(
            f"the paragraph that begins with {too_long[:30]!r} has {len(too_long):,} characters, "
            f"more than the pipeline takes ({nlp.max_length:,}); split it by blank lines."
        )
    page = explain(nlp.pipe(given)).save(output)
    Console(highlight=False, soft_wrap=True).print(f"Open {page} in a browser.")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, which blank lines part, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def with_alternatives(nlp: Language) -> Language:
    """Make the components of a pipeline keep what the page can show."""
    for _, component in nlp.pipeline:
        for option, value in _ALTERNATIVES.items():
            if hasattr(component, option):
                setattr(component, option, value)
        # of several taggers the margins of the one of tags: a token has one
        if "tag" in getattr(component, "targets", ()):
            setattr(component, "margins", True)  # noqa: B010 - of whatever class it is
    return nlp
