"""``python -m spacy decoders kb ...``: each command imports what it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["kb_app"]

kb_app = typer.Typer(
    name="kb", help="Knowledge bases for graph_entity_linker.", no_args_is_help=True
)
Output = Annotated[Path, typer.Argument(help="The folder to write.")]
Hubs = Annotated[
    int, typer.Option(min=0, help="Hubs to index distances to; 256 for millions of concepts.")
]


@kb_app.command("build")
def kb_build_command(
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
    from .knowledge import build_from_file

    build_from_file(source, output, hubs=hubs)


@kb_app.command("build-wikidata")
def kb_wikidata_command(
    source: Annotated[Path, typer.Argument(help="A Wikidata JSON dump, also .gz or .bz2.")],
    output: Output,
    language: Annotated[str, typer.Option(help="Language of the names.")] = "en",
    hubs: Hubs = 256,
) -> None:
    """Build from a Wikidata dump."""
    from .knowledge import build_from_wikidata

    build_from_wikidata(source, output, language=language, hubs=hubs)


@kb_app.command("build-wordnet")
def kb_wordnet_command(
    source: Annotated[
        Path, typer.Argument(help="english-wordnet-*.xml.gz (WordNet LMF), or a folder of tables.")
    ],
    output: Output,
    hubs: Hubs = 64,
) -> None:
    """Build from a wordnet: its synsets are the concepts."""
    from .knowledge import build_from_wordnet

    build_from_wordnet(source, output, hubs=hubs)


@kb_app.command("build-wikispeedia")
def kb_wikispeedia_command(
    source: Annotated[
        Path, typer.Argument(help="A folder with articles.tsv, links.tsv and categories.tsv.")
    ],
    output: Output,
    hubs: Hubs = 0,
) -> None:
    """Build from Wikispeedia, a Wikipedia for schools with its links."""
    from .knowledge import build_from_wikispeedia

    build_from_wikispeedia(source, output, hubs=hubs)


@kb_app.command("build-triples")
def kb_triples_command(
    names: Annotated[Path, typer.Argument(help="A table of Wikidata items and names.")],
    triples: Annotated[Path, typer.Argument(help="A table of items, properties and items.")],
    output: Output,
    hubs: Hubs = 64,
) -> None:
    """Build from triples of Wikidata and the names of its items."""
    from .knowledge import build_from_triples

    build_from_triples(names, triples, output, hubs=hubs)


@kb_app.command("build-wikipedia")
def kb_wikipedia_command(
    output: Output,
    page: Annotated[Path, typer.Option(help="*-page.sql.gz")],
    redirect: Annotated[Path, typer.Option(help="*-redirect.sql.gz")],
    pagelinks: Annotated[Path, typer.Option(help="*-pagelinks.sql.gz")],
    linktarget: Annotated[
        Path | None, typer.Option(help="*-linktarget.sql.gz, for dumps since 2024.")
    ] = None,
    articles: Annotated[
        list[Path] | None,
        typer.Option(
            help="*-pages-articles.xml.bz2, for anchors and texts; also several, or multistream."
        ),
    ] = None,
    page_props: Annotated[
        Path | None, typer.Option(help="*-page_props.sql.gz, for Wikidata items.")
    ] = None,
    wikidata: Annotated[
        Path | None,
        typer.Option(help="wikidata-*-all.json.bz2, for items, types and descriptions."),
    ] = None,
    language: Annotated[str, typer.Option(help="Of the Wikipedia, such as en.")] = "en",
    workers: Annotated[int, typer.Option(help="Processes for articles and Wikidata.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler's address, instead of processes.")
    ] = None,
    hubs: Hubs = 256,
) -> None:
    """Build from the dumps of a Wikipedia; goes on where an earlier build stopped."""
    from .knowledge import build_from_wikipedia

    build_from_wikipedia(
        output,
        page=page,
        redirect=redirect,
        pagelinks=pagelinks,
        linktarget=linktarget,
        articles=articles,
        page_props=page_props,
        wikidata=wikidata,
        language=language,
        workers=workers,
        scheduler=scheduler,
        hubs=hubs,
    )


@kb_app.command("info")
def kb_info_command(
    folder: Annotated[Path, typer.Argument(help="A knowledge base.")],
    verify: Annotated[bool, typer.Option(help="Compare every file with its checksum.")] = False,
) -> None:
    """Print what a knowledge base holds."""
    from .knowledge import show

    show(folder, verify=verify)


@kb_app.command("look-up")
def kb_look_up_command(
    alias: Annotated[str, typer.Argument(help="A mention.")],
    kb: Annotated[
        Path | None,
        typer.Option(help="A knowledge base; by default the small one that is shipped."),
    ] = None,
    words: Annotated[bool, typer.Option(help="Search titles, aliases and texts.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most candidates.")] = 20,
) -> None:
    """Print what a mention may mean; the exit code is 1 if nothing is found."""
    from .knowledge import look_up

    found = look_up(kb, alias, words=words, limit=limit)
    raise typer.Exit(0 if found else 1)
