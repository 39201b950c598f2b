"""A folder that holds all that is known of some concepts, opened in milliseconds."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ProblemError
from ..graph import ConceptGraph
from .aliases import AliasTable
from .concepts import Concept
from .strings import StringIndex, StringTable
from .text_index import TextIndex
from .title_words import TitleWords

__all__ = ["ConceptBase", "Contents", "write_concept_base"]

_FORMAT = 1
_MANIFEST = "manifest.json"


@dataclass(frozen=True, eq=False)
class ConceptBase:
    """Concepts with their identifiers, names, aliases, graph and words.

    Concepts are numbered; the numbers follow a hash of the identifiers and mean nothing.
    Arrays are mapped into memory, not read.

    Attributes
    ----------
    folder
        Where it lies.
    manifest
        Version, counts and checksums.
    ids
        Identifiers; a row is a concept number.
    titles, descriptions
        By concept number.
    title_words
        How rare the words of titles are.
    aliases
        Mentions and the concepts that they may mean.
    graph
        Links between concepts; a vertex is a concept number.
    text
        Finds concepts by words; None where it was built without.
    """

    folder: Path
    manifest: dict[str, Any]
    ids: StringIndex
    titles: StringTable
    descriptions: StringTable
    title_words: TitleWords
    aliases: AliasTable
    graph: ConceptGraph
    text: TextIndex | None

    @classmethod
    def open(cls, folder: str | Path) -> ConceptBase:
        """Open a folder that `write_concept_base` made.

        Raises
        ------
        ProblemError
            If it is no such folder, of another version, or a file is missing or cut short.
        """
        folder = Path(folder)
        manifest = _read_manifest(folder)
        for name, expected in manifest["files"].items():
            path = folder / name
            if not path.is_file():
                raise ProblemError(f"knowledge base: {path} is missing; build it again.")
            if path.stat().st_size != expected["size"]:
                raise ProblemError(
                    f"knowledge base: {path} has {path.stat().st_size} bytes, not the "
                    f"{expected['size']} it was written with; build it again."
                )
        return cls(
            folder=folder,
            manifest=manifest,
            ids=StringIndex.open(folder, "ids"),
            titles=StringTable.open(folder, "titles"),
            descriptions=StringTable.open(folder, "descriptions"),
            title_words=TitleWords.open(folder),
            aliases=AliasTable.open(folder),
            graph=ConceptGraph.open(folder / "graph"),
            text=TextIndex(folder / "text.sqlite") if manifest["text"] else None,
        )

    def verify(self) -> None:
        """Compare every file with its checksum.

        Raises
        ------
        ProblemError
            If a file was changed.
        """
        for name, expected in self.manifest["files"].items():
            if _checksum(self.folder / name) != expected["sha256"]:
                raise ProblemError(
                    f"knowledge base: {self.folder / name} was changed since it was written; "
                    "build it again."
                )

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, identity: str) -> int:
        """Number of the concept with an identifier, -1 if there is none."""
        return int(self.ids.find([identity])[0])

    def id(self, concept: int) -> str:
        """Identifier of a concept."""
        return self.ids.table[concept]

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        # the folder travels to other processes, not its contents
        return ConceptBase.open, (self.folder,)


@dataclass(frozen=True, eq=False)
class Contents:
    """What goes into a concept base.

    Attributes
    ----------
    ids, titles, descriptions
        One of each per concept.
    aliases, alias_concepts, alias_counts
        How often each alias means which concept, by its place in `ids`.
    edges
        Pairs of places in `ids`. **Shape:** ``(edges, 2)``
    texts
        Words by which each concept is found; empty for no full-text index.
    """

    ids: Sequence[str]
    titles: Sequence[str]
    descriptions: Sequence[str]
    aliases: Sequence[str]
    alias_concepts: ArrayLike
    alias_counts: ArrayLike
    edges: NDArray[np.int64]
    texts: Sequence[str] = ()

    @classmethod
    def of(cls, concepts: Iterable[Concept]) -> tuple[Contents, int]:
        """Gather concepts; returns them and the number of links that led nowhere.

        A second concept with an identifier that is taken already is left out.
        """
        found = list({concept.id: concept for concept in reversed(list(concepts))}.values())
        place = {concept.id: i for i, concept in enumerate(found)}
        pairs = [(i, link) for i, concept in enumerate(found) for link in concept.links]
        edges = [(i, place[link]) for i, link in pairs if link in place]
        aliases = [
            (alias, i, count)
            for i, concept in enumerate(found)
            for alias, count in concept.aliases.items()
        ]
        contents = cls(
            ids=[concept.id for concept in found],
            titles=[concept.title for concept in found],
            descriptions=[concept.description for concept in found],
            aliases=[alias for alias, _, _ in aliases],
            alias_concepts=np.array([i for _, i, _ in aliases], np.int64),
            alias_counts=np.array([count for _, _, count in aliases], np.float64),
            edges=np.array(edges, np.int64).reshape(-1, 2),
            texts=[concept.text or concept.description for concept in found],
        )
        return contents, len(pairs) - len(edges)


def write_concept_base(
    folder: str | Path,
    contents: Contents,
    *,
    source: str = "",
    hubs: int = 0,
    progress: bool = False,
) -> ConceptBase:
    """Write a concept base and open it.

    The folder appears whole or not at all: it is written beside its place and renamed.

    Parameters
    ----------
    folder
        Where to put it; a knowledge base that is there already is replaced.
    contents
        What goes into it.
    source
        Where that comes from, for the manifest.
    hubs
        Vertices of highest degree to index distances to; 256 suit millions of concepts, 0
        a graph that is searched in no time as it is.
    progress
        Whether to show progress bars.

    Raises
    ------
    ProblemError
        If there are no concepts, or something else than a knowledge base is in the place.
    """
    folder = Path(folder)
    if not contents.ids:
        raise ProblemError("source: there is no concept in it.")
    if folder.exists() and not (folder / _MANIFEST).is_file() and any(folder.iterdir()):
        raise ProblemError(f"output: {folder} holds something else; choose another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{uuid4().hex}")
    temporary.mkdir()
    try:
        counts = _write(temporary, contents, hubs, progress)
        files = {
            str(path.relative_to(temporary)): {
                "size": path.stat().st_size,
                "sha256": _checksum(path),
            }
            for path in sorted(temporary.rglob("*"))
            if path.is_file()
        }
        manifest = {"format": _FORMAT, "source": source, **counts, "files": files}
        (temporary / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf8")
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ConceptBase.open(folder)


def _write(folder: Path, contents: Contents, hubs: int, progress: bool) -> dict[str, Any]:
    ids, numbers, collisions = StringIndex.build(contents.ids)
    if collisions or len(ids) < len(contents.ids):
        raise ProblemError("source: the same identifier stands for two concepts.")
    order = np.argsort(numbers)
    ids.save(folder, "ids")
    StringTable.build(contents.titles[i] for i in order).save(folder, "titles")
    StringTable.build(contents.descriptions[i] for i in order).save(folder, "descriptions")
    TitleWords.build(contents.titles).save(folder)
    concepts = numbers[np.asarray(contents.alias_concepts, np.int64)]
    aliases = AliasTable.build(contents.aliases, concepts, contents.alias_counts)
    aliases.save(folder)
    graph = ConceptGraph.from_edges(
        numbers[contents.edges], vertices=np.arange(len(ids)), progress=progress
    )
    if hubs:
        graph.index_hubs(hubs, progress=progress)
    graph.save(folder / "graph")
    if contents.texts:
        names: list[list[str]] = [[] for _ in contents.ids]
        for alias, concept in zip(contents.aliases, concepts, strict=True):
            names[concept].append(alias)
        rows = (
            (number, contents.titles[i], " ; ".join(names[number]), contents.texts[i])
            for number, i in enumerate(order)
        )
        TextIndex.build(folder / "text.sqlite", rows)
    return {
        "concepts": len(ids),
        "aliases": len(aliases),
        "candidates": len(aliases.concepts),
        "text": bool(contents.texts),
    }


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not path.is_file():
        raise ProblemError(f"knowledge base: {folder} is none: it has no {_MANIFEST}.")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
        version, files = manifest["format"], manifest["files"]
    except (KeyError, TypeError, ValueError) as error:
        raise ProblemError(f"knowledge base: {path} is damaged ({error!r}).") from error
    if version != _FORMAT or not isinstance(files, dict):
        raise ProblemError(
            f"knowledge base: {folder} is of format {version}, this version of spacy-decoders "
            f"reads format {_FORMAT}; build it again."
        )
    return manifest


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()
