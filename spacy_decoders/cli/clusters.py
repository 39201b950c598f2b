"""Making word clusters from the command line."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..models.clusters.making import make_clusters, tokenised_lines
from .wording import counted

__all__ = ["cluster_words"]


def cluster_words(
    texts: list[Path], output: Path, *, language: str, clusters: int, words: int
) -> None:
    """Cluster the words of text files, and say how a config names the result."""
    lines = tokenised_lines(texts, language)
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{counted(sum(map(len, lines)), 'word')} in {counted(len(lines), 'line')}.")
    made = make_clusters(lines, output, clusters=clusters, words=words)
    console.print(
        f"{counted(made, 'word')} in {counted(clusters, 'cluster')}: {output}\n\n"
        "In a config:\n\n"
        "\\[components.tagger.model.clusters]\n"
        '@misc = "spacy-decoders.WordClusters.v1"\n'
        f'path = "{output}"'
    )
