"""Tags, margins and certificates of a text, as a table."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from time import perf_counter

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from ..components.tagger import ExactTagger

__all__ = ["TEXT", "demo", "given_text"]

TEXT = (
    "Jaguar unveiled its electric saloon beside the river. A jaguar had escaped from the zoo "
    "that morning, and the keepers feared it might swim across. Can they can the tuna before "
    "the can rusts?\n\n"
    "Mercury rises before the sun in March. The mercury in the old thermometer stood at thirty, "
    "and Freddie Mercury sang on the radio. Time flies like an arrow; fruit flies like a "
    "banana.\n\n"
    "Python powers most of the lab's scripts, though the python in the terrarium pays no rent. "
    "Last week Paris Hilton booked a room at the Hilton in Paris, Texas. Will Will will the "
    "house to Grace? The complex houses married and single soldiers, and the old man the boats."
)

#: A margin below this is a close call.
CLOSE = 2.0


def demo(
    *,
    text: str | None = None,
    file: Path | None = None,
    pipeline: str | None = None,
    tokens: bool = False,
) -> None:
    """Tag a text and print what came out.

    Parameters
    ----------
    text
        The text; a short one about ambiguous names if neither it nor `file` is given.
    file
        A file to read it from; ``-`` for standard input.
    pipeline
        A pipeline to load; the shipped one if None.
    tokens
        Whether to print a row for each token instead of one for each sentence.
    """
    console = Console()
    nlp, name = _loaded(pipeline)
    doc, seconds = _annotated(nlp, given_text(text, file))
    console.print(_token_table(doc) if tokens else _sentence_table(doc, name))
    statuses = [certificate["status"] for certificate in doc._.certificates.get(name, [])]
    optimal = statuses.count("optimal")
    share = f" ({optimal / len(statuses):.0%})" if statuses else ""
    console.print(
        f"[bold]{optimal} of {len(statuses)} sentences certified optimal{share}[/bold]: no "
        "other tagging scores higher, by proof.",
        f"{len(doc)} words in {1000 * seconds:.0f} ms with {nlp.meta['name'] or 'the pipeline'}.",
        highlight=False,
    )
    console.print(
        "A margin is how much worse the best tagging would be with another tag there: "
        f"[yellow]below {CLOSE:g}[/yellow] it is a close call.",
        highlight=False,
    )


def _loaded(pipeline: str | None) -> tuple[Language, str]:
    """The pipeline, with margins, and the name of its exact tagger."""
    import spacy

    from ..bundled import load

    nlp = load() if pipeline is None else spacy.load(pipeline)
    for name, component in nlp.pipeline:
        if isinstance(component, ExactTagger):
            component.margins = True
            return nlp, name
    raise typer.BadParameter(f"{pipeline} has no exact_tagger; it has {nlp.pipe_names}.")


def given_text(text: str | None, file: Path | None) -> str:
    """The text of the two options, or the one that is shipped."""
    if text is not None and file is not None:
        raise typer.BadParameter("give either --text or --file.")
    if file is None:
        return TEXT if text is None else text
    if str(file) == "-":
        return sys.stdin.read()
    if not file.is_file():
        raise typer.BadParameter(f"--file: there is no {file}.")
    return file.read_text(encoding="utf8")


def _annotated(nlp: Language, text: str) -> tuple[Doc, float]:
    """Annotate a text; the first document, which may compile, does not count."""
    nlp("Warm up.")
    started = perf_counter()
    doc = nlp(" ".join(text.split()))
    return doc, perf_counter() - started


def _sentence_table(doc: Doc, name: str) -> Table:
    table = Table(title=None, show_lines=True)
    table.add_column("sentence", ratio=1)
    table.add_column("closest call", no_wrap=True)
    table.add_column("certificate", no_wrap=True)
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence, certificate in zip(sentences, doc._.certificates[name], strict=True):
        closest = min(sentence, key=lambda token: token._.tag_margin)
        status = certificate["status"]
        colour = "green" if status == "optimal" else "red"
        table.add_row(
            _tagged(sentence),
            f"{closest.text}/{closest.tag_}\nmargin {_margin(closest)}",
            Text(status, style=colour),
        )
    return table


def _tagged(sentence: Span) -> Text:
    """Each word with its tag; close calls stand out."""
    line = Text()
    for token in sentence:
        line.append(token.text)
        line.append(f"/{token.tag_}", style=_style(token) or "cyan")
        line.append(" ")
    return line


def _token_table(doc: Doc) -> Table:
    table = Table()
    for column in ("word", "tag", "margin"):
        table.add_column(column, justify="right" if column == "margin" else "left")
    for token in doc:
        table.add_row(token.text, token.tag_, Text(_margin(token), style=_style(token)))
        if token.i + 1 < len(doc) and doc[token.i + 1].is_sent_start:
            table.add_section()
    return table


def _style(token: Token) -> str:
    return "yellow" if token._.tag_margin < CLOSE else ""


def _margin(token: Token) -> str:
    margin = token._.tag_margin
    return "no other" if math.isinf(margin) else f"{margin:.2f}"
