"""The texts that a command is given, and a pipeline that keeps the alternatives it decodes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import typer
from spacy.language import Language

__all__ = ["given_text", "paragraphs", "with_alternatives"]

#: A few paragraphs about names that mean several things; each is a document.
TEXT = """\
The jaguar is the largest cat of the Americas. It swims across wide rivers and sleeps in the \
jungle by day. Its habitat has shrunk as the forest was cleared, and the cat has retreated from \
Mexico to the heart of Brazil.

Jaguar showed a new electric car in Coventry yesterday. The company, which belongs to Tata, \
also builds the Land Rover. Ford, which once owned Jaguar, declined to comment.

NASA sent a probe to Mercury in 2004. It circled the planet for four years and mapped its craters.

Freddie Mercury, who was born in Zanzibar, sang with Queen in London. He wrote Bohemian \
Rhapsody, and Brian May played the guitar.

Guido van Rossum was born in Haarlem and later worked for Google in California. He wrote the \
first version of Python in Amsterdam, and today the language is taught at schools in many \
countries.
"""

#: What makes our components keep alternatives and margins, where they have the option.
_ALTERNATIVES = {"head_margins": True, "k_best": 12, "n_best": 5}


def given_text(text: str | None, file: Path | None) -> str:
    """The text of the two options, or the one that is shipped."""
    if text is not None and file is not None:
        raise typer.BadParameter("give either --text or --file.")
    if file is None:
        source, given = "--text", (TEXT if text is None else text).encode(errors="surrogateescape")
    elif str(file) == "-":
        source, given = "standard input", sys.stdin.buffer.read()
    elif file.exists():
        source, given = f"--file: {file}", file.read_bytes()
    else:
        raise typer.BadParameter(f"--file: there is no {file}.")
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(
            f"{source} is not UTF-8: byte {error.start:,} is 0x{given[error.start]:02x}; convert "
            "it first, for instance with iconv."
        ) from None


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, which blank lines part, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def with_alternatives(nlp: Language) -> Language:
    """Make the components of a pipeline keep what a page can show."""
    for _, component in nlp.pipeline:
        for option, value in _ALTERNATIVES.items():
            if hasattr(component, option):
                setattr(component, option, value)
        # of several taggers the margins of the one of tags: a token has one
        if "tag" in getattr(component, "targets", ()):
            setattr(component, "margins", True)  # noqa: B010 - of whatever class it is
    return nlp
