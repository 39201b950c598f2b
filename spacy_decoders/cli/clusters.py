"""Making word clusters from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..errors import ProblemError
from ..models.clusters.making import make_clusters, tokenised_lines
from ..models.clusters.vector_clusters import cluster_vectors
from ..models.clusters.vector_files import read_vectors
from .wording import counted

__all__ = ["make_word_clusters"]


def make_word_clusters(
    texts: Annotated[
        list[Path] | None, typer.Argument(help="Text files, also .gz; company ends with a line.")
    ] = None,
    output: Annotated[Path, typer.Option(help="The file of paths to write.")] = Path("paths"),
    vectors: Annotated[
        Path | None,
        typer.Option(help="Instead of texts: vectors, a word and its numbers a line."),
    ] = None,
    language: Annotated[str, typer.Option(help="Whose tokenizer cuts the words.")] = "en",
    clusters: Annotated[int, typer.Option(help="How many clusters.")] = 256,
    words: Annotated[int, typer.Option(help="How many of the most frequent words.")] = 10_000,
) -> None:
    """Cluster words by the company they keep in raw text, or by their vectors."""
    if (vectors is None) == (not texts):
        raise ProblemError("texts: name text files, or a file of vectors by --vectors.")
    console = Console(highlight=False, soft_wrap=True)
    if vectors is not None:
        made = counted(cluster_vectors(*read_vectors(vectors), output), "word")
    else:
        lines = tokenised_lines(texts or [], language)
        found, number = counted(sum(map(len, lines)), "word"), counted(len(lines), "line")
        console.print(f"{found} in {number}.")
        count = make_clusters(lines, output, clusters=clusters, words=words)
        made = f"{counted(count, 'word')} in {counted(clusters, 'cluster')}"
    console.print(
        f"{made}: {output}\n\n"
        "In a config:\n\n"
        f"\\[components.tagger.model.{'clusters' if vectors is None else 'groups'}]\n"
        '@misc = "spacy-decoders.WordClusters.v1"\n'
        f'path = "{output}"'
    )
