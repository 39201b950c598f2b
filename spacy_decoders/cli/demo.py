"""The main job on a text: everything decoded, with proofs, in a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from spacy.tokens import Doc, Span, Token

from ..bundled import load
from ..components import extensions
from ..display import explain
from ..display.choices import mentions_in
from ..display.views import headlines_by_component, names_in
from ..display.words import in_words, in_words_together, share_in_words
from .given_texts import given_text, paragraphs, with_alternatives

__all__ = ["certificate_table", "demo"]

#: Where the page is written if nothing is said.
PAGE = Path("demo.html")

#: What is less probable than this is a close call.
CLOSE = 0.9


def demo(
    *,
    text: Annotated[str | None, typer.Option(help="The text.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file with the text; - for standard input.")
    ] = None,
    pipeline: Annotated[
        str | None, typer.Option(help="A pipeline; by default the one that is shipped.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Where to write the page.")] = PAGE,
) -> None:
    """Annotate a text and show what came out, how sure it is, and what else was possible."""
    console = Console(highlight=False)
    given = paragraphs(given_text(text, file))
    if not given:
        raise typer.BadParameter("there is no text; give --text, or a --file that holds some.")
    if page is not None and not page.absolute().parent.is_dir():
        raise typer.BadParameter(f"--page: there is no folder {page.absolute().parent}.")
    patience = "Loading and compiling; the first time this takes a minute..."
    if not console.is_terminal:
        console.print(patience)
    with console.status(patience):
        extensions.install()
        nlp = with_alternatives(load() if pipeline is None else spacy.load(pipeline))
        for _, component in nlp.pipeline:
            # of several taggers the probabilities of tags and of entities: a token has one
            shown = {"tag", "ent"} & set(getattr(component, "targets", ("tag",)))
            if shown and hasattr(component, "probabilities"):
                component.probabilities = True
        nlp("Warm up the Jaguar in Coventry.")
    too_long = next((part for part in given if len(part) > nlp.max_length), None)
    if too_long is not None:
        raise typer.BadParameter(
            f"the paragraph that begins with {too_long[:30]!r} has {len(too_long):,} characters, "
            f"more than the pipeline takes ({nlp.max_length:,}); split it by blank lines."
        )
    started = perf_counter()
    docs = list(nlp.pipe(given))
    seconds = perf_counter() - started
    for doc in docs:
        console.print(_document(doc))
    console.print(certificate_table(docs))
    count = sum(map(len, docs))
    console.print(
        f"{count} words in {1000 * seconds:.0f} ms, probabilities and alternatives included, with "
        f"{nlp.meta['name'] or 'the pipeline'}.\n"
        "A percentage is the probability of an entity, of a link, or of a word's head; tags show "
        f"theirs [yellow]below {CLOSE:.0%}[/yellow]."
    )
    if page is not None:
        try:
            explain(docs, title="Decoded, with proof").save(page)
        except OSError as error:
            if page != PAGE:
                raise
            # nobody has asked for it: no reason to fail where the folder can't be written
            console.print(f"[yellow]No page was written: {error}[/yellow]")
        else:
            console.print(f"The same as a page, with all alternatives: {page}")


def _document(doc: Doc) -> Panel:
    parts: list[RenderableType] = []
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    if doc.has_annotation("TAG"):
        parts += [_tagged(sentence) for sentence in sentences]
    if mentions_in(doc):
        parts += ["", _names(doc)]
    if doc.has_annotation("DEP"):
        parts += ["", *map(_tree, sentences[:1])]  # the page has all
    best = {name: ranked[0] for name, ranked in headlines_by_component(doc).items()}
    if len(best) > 1:
        parts += ["", *(Text(f"{name}: {headline['text']}") for name, headline in best.items())]
    proofs = [f"{name}: {in_words(headline['certificate'])}" for name, headline in best.items()]
    return Panel(
        Group(*parts),
        title=Text(doc._.headline or doc[:6].text, style="bold"),
        subtitle=Text("; ".join(proofs), style="dim"),
        title_align="left",
        subtitle_align="right",
    )


def _tagged(sentence: Span) -> Text:
    """Each word with its tag; close calls stand out."""
    line = Text()
    for token in sentence:
        line.append(token.text)
        prob = token._.tag_prob
        if prob is not None and prob < CLOSE:
            line.append(f"/{token.tag_} {prob:.0%}", style="yellow")
        else:
            line.append(f"/{token.tag_}", style="dim cyan")
        line.append(" ")
    return line


def _names(doc: Doc) -> Table:
    """Each entity and mention: of which type, what it means, and how probable both are."""
    table = Table("mention", "type", box=None, pad_edge=False)
    for column in ("means", "instead of"):
        table.add_column("", justify="right")
        table.add_column(column)
    for name in names_in(doc):
        others = ", ".join(name.others[:2]) + (", ..." if len(name.others) > 2 else "")
        table.add_row(
            name.text,
            name.type or "",
            share_in_words(name.type_prob),
            Text(
                name.concept or ("not in the knowledge base" if name.is_unknown else "-"),
                style="green" if name.concept else "dim",
            ),
            share_in_words(None if name.is_unknown else name.concept_prob),
            Text(others, style="dim"),
        )
    return table


def _tree(sentence: Span) -> Tree:
    def grown(token: Token, branch: Tree) -> Tree:
        for child in token.children:
            grown(child, branch.add(_node(child)))
        return branch

    return grown(sentence.root, Tree(_node(sentence.root), guide_style="dim"))


def _node(token: Token) -> Text:
    node = Text(token.text, style="bold" if token.dep_ == "ROOT" else "")
    node.append(f" {token.dep_}", style="cyan")
    if token._.head_prob is not None:
        node.append(f" {share_in_words(token._.head_prob)}", style="dim")
    return node


def certificate_table(docs: Sequence[Doc]) -> Table:
    """What is proven of each component's answers; those best among kept candidates are "rest"."""
    table = Table("component", "decoder", "decoded", "proven optimal", "the rest")
    for name, rows in _by_component(docs):
        said = in_words_together(rows)
        proven = sum(s.units for s in said if s.kind == "optimal")
        table.add_row(
            name,
            ", ".join(sorted({row["decoder"] for row in rows})),
            str(len(rows)),
            Text(
                f"{proven} ({proven / len(rows):.0%})",
                style="green" if proven == len(rows) else "red",
            ),
            "; ".join(f"{s.units} {s.words}" for s in said if s.kind != "optimal"),
        )
    return table


def _by_component(docs: Sequence[Doc]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for name in dict.fromkeys(name for doc in docs for name in doc._.certificates):
        rows = [row for doc in docs for row in doc._.certificates.get(name, ())]
        if rows:
            yield name, rows
