"""A page that explains a text's annotations, from the command line."""

from __future__ import annotations

from pathlib import Path

import spacy
import typer
from rich.console import Console
from spacy.language import Language

from ..bundled import load
from ..display import explain

__all__ = ["explain_text", "with_alternatives"]

#: What makes our components keep alternatives and margins, where they have the option.
_ALTERNATIVES = {"head_margins": True, "k_best": 4, "n_best": 5}


def explain_text(text: str, output: Path, pipeline: str | None) -> None:
    """Annotate a text, alternatives included, and write the page."""
    if not text.strip():
        raise typer.BadParameter("there is no text; give --text, or a --file that holds some.")
    nlp = with_alternatives(load() if pipeline is None else spacy.load(pipeline))
    page = explain(nlp(text.strip())).save(output)
    Console(highlight=False, soft_wrap=True).print(f"Open {page} in a browser.")


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
