"""Commands on knowledge bases: building one and looking into it."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from tqdm import tqdm

from ..bundled import CONCEPTS
from ..errors import ProblemError
from ..knowledge.concept_base import ConceptBase, write_concept_base
from ..knowledge.concepts import Concept
from ..knowledge.contents import lost_links
from ..knowledge.dumps.wikidata import WikidataDump
from ..knowledge.sources.concept_files import ConceptFile
from ..knowledge.sources.wordnet import WordNet
from ..knowledge.wikipedia import WikipediaDumps
from .arguments import CONSOLE, counted

__all__ = [
    "build_from_file",
    "build_from_wikidata",
    "build_from_wikipedia",
    "build_from_wordnet",
    "look_up",
    "show",
]

Output = Annotated[Path, typer.Argument(help="The folder to write.", resolve_path=True)]
Hubs = Annotated[
    int, typer.Option(min=0, help="Hubs to index distances to; 256 for millions of concepts.")
]
#: The page of an item.
WIKIDATA = "https://www.wikidata.org/wiki/{id}"


def build_from_file(
    source: Annotated[
        Path,
        typer.Argument(
            help="Your concepts: .tsv (id, title, aliases a=3;b, links x;y, ...) or .jsonl."
        ),
    ],
    output: Output,
    hubs: Hubs = 0,
) -> None:
    """Build from your own concepts: id, title, aliases, links, description, text."""
    concepts = ConceptFile(source)
    base = _build(concepts, output, source.name, hubs)
    if concepts.ignored:
        known = ", ".join(item.name for item in fields(Concept))
        ignored = ", ".join(map(repr, sorted(concepts.ignored)))
        CONSOLE.print(f"ignored: {ignored}; the columns are {known}")
    hidden = base.aliases.database.ask(
        "SELECT alias FROM candidates AS own WHERE alias >= 'the ' AND alias < 'the!' AND NOT "
        "EXISTS (SELECT 1 FROM candidates WHERE alias = substr(own.alias, 5) "
        "AND concept = own.concept)"
    )
    if hidden:
        found = counted(len(hidden), "alias", "aliases")
        CONSOLE.print(
            f"not found by mentions = \"aliases\": {found} with 'the' in front, such as "
            f"{hidden[0][0]!r}; add them without it"
        )


def build_from_wikidata(
    source: Annotated[Path, typer.Argument(help="A Wikidata JSON dump, also .gz or .bz2.")],
    output: Output,
    language: Annotated[str, typer.Option(help="Language of the names.")] = "en",
    hubs: Hubs = 256,
) -> None:
    """Build from a Wikidata dump."""
    _build(WikidataDump(source, language), output, source.name, hubs, WIKIDATA)


def build_from_wordnet(
    source: Annotated[Path, typer.Argument(help="english-wordnet-*.xml.gz (WordNet LMF).")],
    output: Output,
    hubs: Hubs = 64,
) -> None:
    """Build from a wordnet: its synsets are the concepts."""
    _build(WordNet(source), output, source.name, hubs)


def build_from_wikipedia(
    output: Output,
    page: Annotated[Path, typer.Option(help="*-page.sql.gz")],
    redirect: Annotated[Path, typer.Option(help="*-redirect.sql.gz")],
    pagelinks: Annotated[Path, typer.Option(help="*-pagelinks.sql.gz")],
    linktarget: Annotated[
        Path | None, typer.Option(help="*-linktarget.sql.gz, for dumps since 2024.")
    ] = None,
    articles: Annotated[
        list[Path] | None,
        typer.Option(help="*-pages-articles.xml.bz2, for anchors and texts; also several."),
    ] = None,
    page_props: Annotated[
        Path | None, typer.Option(help="*-page_props.sql.gz, for Wikidata items.")
    ] = None,
    wikidata: Annotated[
        Path | None,
        typer.Option(help="wikidata-*-all.json.gz, for items, types and descriptions."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the Wikipedia, as en.")] = "en",
    workers: Annotated[
        int, typer.Option(min=1, help="Processes for several files of articles.")
    ] = 1,
    hubs: Hubs = 256,
) -> None:
    """Build from the dumps of a Wikipedia."""
    _announce(output)
    dumps = WikipediaDumps(
        page, redirect, pagelinks, linktarget, articles, page_props, wikidata, language, workers
    )
    base, bad = dumps.build(output, hubs=hubs)
    _summarise(output, base)
    for name, rows in bad.items():
        if rows:
            CONSOLE.print(f"left out: {counted(rows, 'row')} of {name}", style="yellow")


def _build(
    concepts: ConceptFile | WikidataDump | WordNet,
    output: Path,
    source: str,
    hubs: int,
    url: str = "",
) -> ConceptBase:
    _announce(output)
    bar = tqdm(concepts, source, unit="concept", disable=None, delay=1)
    try:
        write_concept_base(output, bar, source=source, url=url, hubs=hubs)
    finally:  # also if no concept is left
        if concepts.bad.count:
            rows = counted(concepts.bad.count, "row")
            CONSOLE.print(f"left out: {rows} that could not be read", style="yellow")
        for example in concepts.bad.examples[:5]:
            CONSOLE.print(f"  {example}")
    base = ConceptBase.open(output)
    _summarise(output, base)
    if lost := base.manifest["lost_links"]:
        CONSOLE.print(lost_links(lost, *base.manifest["lost_link"]))
    return base


def _announce(output: Path) -> None:
    """Announce that a base will be replaced, while that can still be stopped."""
    if output.exists():
        CONSOLE.print(f"{output} exists already: it will be replaced when the new one is built.")


def _summarise(output: Path, base: ConceptBase) -> None:
    CONSOLE.print(
        f"{output}: {counted(len(base), 'concept')}, {counted(base.graph.n_edges, 'link')}, "
        f"{counted(len(base.aliases), 'alias', 'aliases')}."
    )


def show(
    folder: Annotated[
        Path, typer.Argument(help="A knowledge base.", show_default="the one that is shipped")
    ] = CONCEPTS,
    verify: Annotated[bool, typer.Option(help="Compare every file with its checksum.")] = False,
) -> None:
    """Print what a knowledge base holds."""
    base = ConceptBase.open(folder)
    if verify:
        base.verify()
    table = Table(show_header=False, box=None)
    size = sum(path.stat().st_size for path in base.folder.rglob("*") if path.is_file())
    rows: dict[str, str] = {
        "concepts": f"{len(base):,}",
        "links": f"{base.graph.n_edges:,}",
        "aliases": f"{len(base.aliases):,}",
        "candidates": f"{base.manifest['candidates']:,}",
        "types": ", ".join(base.type_names) or "no",
        "Wikidata items": f"{base.manifest['items']:,}" if base.has_items else "no",
        "link probabilities": "yes" if base.manifest["links"] else "no",
        "full-text index": "yes" if base.text is not None else "no",
        "source": base.manifest["source"] or "-",
        "on disk": f"{size / 1e6:,.1f} MB",
        "files": "unchanged since it was built" if verify else "sizes right",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    CONSOLE.print(table)


def look_up(
    alias: Annotated[str, typer.Argument(help="A mention.")],
    kb: Annotated[
        Path, typer.Option(help="A knowledge base.", show_default="the one that is shipped")
    ] = CONCEPTS,
    words: Annotated[bool, typer.Option(help="Search titles, aliases and texts.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most candidates.")] = 20,
) -> None:
    """Print what a mention may mean; the exit code is 1 if nothing is found."""
    base = ConceptBase.open(kb)
    if words:
        if base.text is None:
            raise ProblemError("kb: it has no full-text index; search aliases, without --words.")
        found, scores = base.text.find(alias, limit)
    else:
        found, scores = base.aliases.candidates(alias)
    if not len(found):
        fault = "shares a word with" if words else "is known as"
        CONSOLE.print(f"Nothing {fault} {alias!r}.")
        raise typer.Exit(1)
    typed = ["type"] if base.type_names else []
    table = Table("id", "title", *typed, "score" if words else "prior", "links", "description")
    best = found[:limit].tolist()
    for known, score in zip(base.known(best), scores[:limit].tolist(), strict=True):
        table.add_row(
            known.id,
            known.title,
            *([known.type] if typed else []),
            f"{score:.3f}",
            f"{base.graph.degree[known.number]:,}",
            known.description,
        )
    CONSOLE.print(table)
