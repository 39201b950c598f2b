"""Building a knowledge base and looking into it."""

from __future__ import annotations

import shutil
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from ..errors import ProblemError
from ..knowledge.concept_base import ConceptBase, Contents, write_concept_base
from ..knowledge.concepts import BadRows, Concept, ConceptFile
from ..knowledge.dumps.wikidata import WikidataDump
from ..knowledge.sources.triples import Triples
from ..knowledge.sources.wikispeedia import Wikispeedia
from ..knowledge.sources.wordnet import WordNet
from ..knowledge.wikipedia import WikipediaDumps
from .wording import counted

__all__ = [
    "build_from_file",
    "build_from_triples",
    "build_from_wikidata",
    "build_from_wikipedia",
    "build_from_wikispeedia",
    "build_from_wordnet",
    "look_up",
    "show",
]

#: The page of an item.
WIKIDATA = "https://www.wikidata.org/wiki/{id}"


def build_from_file(source: Path, output: Path, *, hubs: int) -> None:
    """Build from a user's own TSV or JSON lines."""
    concepts = ConceptFile(source)
    contents, lost = Contents.of(tqdm(concepts, unit="concept", desc=source.name))
    _finish(output, contents, source.name, hubs, concepts.bad, lost)
    if concepts.ignored:
        Console(highlight=False, soft_wrap=True).print(_of_ignored(concepts.ignored), markup=False)


def _of_ignored(columns: set[str]) -> str:
    """Say which columns were not read, and what they may have been meant to be."""
    known = [item.name for item in fields(Concept)]
    said = []
    for column in sorted(columns):
        near = get_close_matches(column, known, n=1)
        said.append(f"{column!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return f"ignored: {', '.join(said)}; the columns are {', '.join(known)}"


def build_from_wikidata(source: Path, output: Path, *, language: str, hubs: int) -> None:
    """Build from a Wikidata JSON dump."""
    dump = WikidataDump(source, language, progress=True)
    contents, lost = Contents.of(dump)
    _finish(output, contents, source.name, hubs, dump.bad, lost, WIKIDATA)


def build_from_wordnet(source: Path, output: Path, *, hubs: int) -> None:
    """Build from a wordnet."""
    _build(WordNet(source), output, source.name, hubs)


def build_from_wikispeedia(source: Path, output: Path, *, hubs: int) -> None:
    """Build from Wikispeedia."""
    _build(Wikispeedia(source), output, "Wikispeedia", hubs)


def build_from_triples(names: Path, triples: Path, output: Path, *, hubs: int) -> None:
    """Build from triples of Wikidata."""
    _build(Triples(names, triples), output, triples.name, hubs, WIKIDATA)


def _build(
    concepts: WordNet | Wikispeedia | Triples, output: Path, source: str, hubs: int, url: str = ""
) -> None:
    contents, lost = Contents.of(tqdm(concepts, unit="concept", desc=source))
    _finish(output, contents, source, hubs, concepts.bad, lost, url)


def build_from_wikipedia(output: Path, *, hubs: int, **dumps: Any) -> None:
    """Build from the dumps of a Wikipedia; `dumps` are the fields of `WikipediaDumps`.

    Stages that are done are not done again, unless their dumps have changed.
    """
    console = Console(highlight=False, soft_wrap=True)
    old = ConceptBase.open(output).manifest if (output / "manifest.json").exists() else None
    stages = output.with_name(f"{output.name}.stages")
    base, bad = WikipediaDumps(stages=stages, progress=True, report=console.print, **dumps).build(
        output, hubs=hubs
    )
    _summarise(output, base)
    if old is not None:
        console.print(f"before: {counted(old['concepts'], 'concept')}")
    for name, rows in bad.items():
        if rows:
            console.print(f"[yellow]left out: {counted(rows, 'row')} of {name}[/yellow]")
    shutil.rmtree(stages)


def _finish(
    output: Path,
    contents: Contents,
    source: str,
    hubs: int,
    bad: BadRows,
    lost: int,
    url: str = "",
) -> None:
    base = write_concept_base(output, contents, source=source, url=url, hubs=hubs, progress=True)
    _summarise(output, base)
    console = Console(highlight=False, soft_wrap=True)
    if lost:
        console.print(f"left out: {counted(lost, 'link')} to nothing")
    if bad.count:
        rows = counted(bad.count, "row")
        console.print(f"[yellow]left out: {rows} that could not be read[/yellow]")
        for example in bad.examples[:5]:
            console.print(f"  {example}", markup=False)


def _summarise(output: Path, base: ConceptBase) -> None:
    Console(highlight=False, soft_wrap=True).print(
        f"{output}: {counted(len(base), 'concept')}, {counted(base.graph.n_edges, 'link')}, "
        f"{counted(len(base.aliases), 'alias', 'aliases')}."
    )


def show(folder: Path, *, verify: bool) -> None:
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
        "candidates": f"{len(base.aliases.concepts):,}",
        "types": ", ".join(base.type_names) or "no",
        "Wikidata items": _share(base.qid_numbers),
        "link probabilities": "no" if base.aliases.links is None else "yes",
        "full-text index": "yes" if base.text is not None else "no",
        "source": base.manifest["source"] or "-",
        "on disk": f"{size / 1e6:,.1f} MB",
        "files": "unchanged since it was built" if verify else "sizes right",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    Console(highlight=False, soft_wrap=True).print(table)


def _share(numbers: NDArray[np.int64] | None) -> str:
    return "no" if numbers is None else f"{int((numbers > 0).sum()):,}"


def look_up(folder: Path | None, alias: str, *, words: bool, limit: int) -> bool:
    """Print the candidates of an alias, or what shares words with it; whether there are any.

    Raises
    ------
    ProblemError
        If the knowledge base has no full-text index and `words` is asked for.
    """
    from ..registry.linking import BUNDLED

    base = ConceptBase.open(BUNDLED if folder is None else folder)
    if words:
        if base.text is None:
            raise ProblemError("knowledge base: it has no full-text index to search.")
        found, scores = base.text.find(alias, limit)
    else:
        found, scores = base.aliases.candidates(alias)
    console = Console(highlight=False, soft_wrap=True)
    if not len(found):
        fault = "shares a word with" if words else "is known as"
        console.print(f"Nothing {fault} {alias!r}.", markup=False)
        return False
    typed = ["type"] if base.type_names else []
    table = Table("id", "title", *typed, "score" if words else "prior", "links", "description")
    for concept, score in list(zip(found.tolist(), scores.tolist(), strict=True))[:limit]:
        table.add_row(
            base.id(concept),
            base.titles[concept],
            *([base.type(concept) or ""] if typed else []),
            f"{score:.3f}",
            f"{int(base.graph.degree[concept]):,}",
            base.descriptions[concept],
        )
    console.print(table)
    return True
