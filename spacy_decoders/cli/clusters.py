"""Making word clusters from the command line."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..models.clusters.making import make_clusters, tokenised_lines
from ..models.clusters.vector_clusters import cluster_vectors
from ..models.clusters.vector_files import read_vectors
from .wording import counted

__all__ = ["cluster_words", "group_words"]


def cluster_words(
    texts: list[Path], output: Path, *, language: str, clusters: int, words: int
) -> None:
    """Cluster the words of text files, and say how a config names the result."""
    lines = tokenised_lines(texts, language)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{counted(sum(map(len, lines)), 'word')} in {counted(len(lines), 'line')}.")
    made = make_clusters(lines, output, clusters=clusters, words=words)
    _tell(
        console, f"{counted(made, 'word')} in {counted(clusters, 'cluster')}", "clusters", output
    )


def group_words(vectors: Path, output: Path) -> None:
    """Cluster the words of a file of vectors, and say how a config names the result."""
    made = cluster_vectors(*read_vectors(vectors), output)
    _tell(Console(highlight=False, soft_wrap=True), counted(made, "word"), "groups", output)


def _tell(console: Console, made: str, argument: str, output: Path) -> None:
    console.print(
        f"{made}: {output}\n\n"
        "In a config:\n\n"
        f"\\[components.tagger.model.{argument}]\n"
        '@misc = "spacy-decoders.WordClusters.v1"\n'
        f'path = "{output}"'
    )
