"""The demo: a text annotated, with certificates, in the terminal and as a page."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import spacy
import typer
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from ..bundled import place_of
from ..components import extensions
from ..display import explain
from ..display.choices import mentions_in
from ..display.explain import headlines_by_component, names_in
from ..display.words import in_words, in_words_together, share_in_words
from ..readers.text_lines import decoded
from .arguments import Pipeline, Terminal

__all__ = ["certificate_table", "demo", "keep_alternatives", "tree_of"]

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

#: Options of our components that keep alternatives and margins.
ALTERNATIVES = {"head_margins": True, "k_best": 12, "n_best": 5}

#: The candidates among which a headline of each kind is chosen.
AMONG = {
    "phrases": " among its phrases",
    "sentence": " among its shortened sentences",
    "words": " among selections of its words",
}

#: Decisions of lower probability are close calls.
CLOSE = 0.9


def demo(
    *,
    text: Annotated[str | None, typer.Option(help="The text.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file with the text; - for standard input.")
    ] = None,
    pipeline: Pipeline = "",
    page: Annotated[Path | None, typer.Option(help="Where to write the page.")] = Path(
        "demo.html"
    ),
) -> None:
    """Annotate a text and show the result, its probabilities, and alternatives."""
    if sys.stdout and sys.stdout.errors == "strict":  # it may be closed, or take ASCII alone
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    console = Terminal(highlight=False, markup=False)
    if text is not None and file is not None:
        raise typer.BadParameter("give either --text or --file.")
    if file is not None and str(file) != "-":
        text = decoded(file.read_bytes(), file)
    elif file is not None:
        text = decoded(sys.stdin.buffer.read(), file) if sys.stdin else ""  # None if closed
    given = paragraphs(TEXT if text is None else text)
    if not given:
        raise typer.BadParameter("there is no text; give --text, or a --file that holds some.")
    patience = "Loading and compiling; the first time this takes a minute..."
    if not console.is_terminal:
        console.print(patience)
    with console.status(patience):
        extensions.install()
        nlp = spacy.load(place_of(pipeline))
        keep_alternatives(nlp)
        nlp("Warm up the Jaguar in Coventry.")
    started = perf_counter()
    docs = list(nlp.pipe(given))
    seconds = perf_counter() - started
    for doc in docs:
        console.print(_document(doc))
    console.print(certificate_table(docs))
    count = sum(map(len, docs))
    told = Text(
        f"{count} words in {1000 * seconds:.0f} ms, probabilities and alternatives included, with "
        f"{nlp.meta['name'] or 'the pipeline'}.\n"
        "A percentage is the probability of an entity, of a link, or of a word's head; tags show "
        "theirs "
    )
    console.print(told.append(f"below {CLOSE:.0%}", style="yellow").append("."))
    if page is not None:
        explain(docs, title="Decoded, with proof").save(page)
        console.print(f"The same as a page, with all alternatives: {page}")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, which blank lines separate, each on one line.

    Examples
    --------
    >>> paragraphs(" one\\ntwo \\n \\n\\n three")
    ['one two', 'three']
    """
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def keep_alternatives(nlp: Language) -> None:
    """Make the components of a pipeline keep all that the page can show."""
    for _, component in nlp.pipeline:
        for option, value in ALTERNATIVES.items():
            if hasattr(component, option):
                setattr(component, option, value)
        # a token has one margin, which is that of its tag, and one probability
        targets = getattr(component, "targets", ("tag",))
        if "tag" in targets and hasattr(component, "margins"):
            component.margins = True
        if {"tag", "ent"} & set(targets) and hasattr(component, "probabilities"):
            component.probabilities = True


def _document(doc: Doc) -> Panel:
    parts: list[RenderableType] = []
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    if doc.has_annotation("TAG"):
        parts += [_tagged(sentence) for sentence in sentences]
    if mentions_in(doc):
        parts += ["", _names(doc)]
    if doc.has_annotation("DEP"):
        parts += ["", *map(tree_of, sentences[:1])]  # the page has all
    best = {name: ranked[0] for name, ranked in headlines_by_component(doc).items()}
    if len(best) > 1:
        parts += ["", *(Text(f"{name}: {headline['text']}") for name, headline in best.items())]
    proofs = [f"{name}: {_proof(headline)}" for name, headline in best.items()]
    return Panel(
        Group(*parts),
        title=Text(doc._.headline or doc[:6].text, style="bold"),
        subtitle=Text("; ".join(proofs), style="dim"),
        title_align="left",
        subtitle_align="right",
    )


def _proof(headline: Mapping[str, Any]) -> str:
    """What is proven of a headline, among which candidates, and how probably it is good."""
    among, prob = AMONG.get(headline.get("kind", ""), ""), headline.get("prob")
    chance = "" if prob is None else f", {share_in_words(prob)} likely good"
    return in_words(headline["certificate"]) + among + chance


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
    """Each entity and mention with its type and concept, and the probabilities of both."""
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


def tree_of(sentence: Span) -> Tree:
    """The words of a sentence under their heads, however deep."""
    tree = Tree(_node(sentence.root), guide_style="dim")
    grown = [(sentence.root, tree)]
    for token, branch in grown:
        grown += [(child, branch.add(_node(child))) for child in token.children]
    return tree


def _node(token: Token) -> Text:
    node = Text(token.text, style="bold" if token.dep_ == "ROOT" else "")
    node.append(f" {token.dep_}", style="cyan")
    if token._.head_prob is not None:
        node.append(f" {share_in_words(token._.head_prob)}", style="dim")
    return node


def certificate_table(docs: Sequence[Doc]) -> Table:
    """What is proven of each component; what is best among kept candidates only is "the rest"."""
    table = Table("component", "decoder", "decoded", "proven optimal", "the rest")
    found: dict[str, list[dict[str, Any]]] = {}
    for doc in docs:
        for name, rows in doc._.certificates.items():
            found.setdefault(name, []).extend(rows)
    for name, rows in found.items():
        if not rows:
            continue
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
