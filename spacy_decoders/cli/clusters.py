"""Brown clusters of a user's own raw text, from the command line."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from rich.console import Console

from ..errors import ProblemError
from ..extras import needed
from ..readers.text_lines import text_lines
from .arguments import counted

__all__ = ["make_clusters", "make_word_clusters", "tokenised_lines"]

#: Turns of a path, at most.
LONGEST = 31


def make_word_clusters(
    texts: Annotated[
        list[Path], typer.Argument(help="Text files, also .gz; company ends with a line.")
    ],
    output: Annotated[Path, typer.Option(help="The file of paths to write.")] = Path("paths"),
    language: Annotated[str, typer.Option(help="Whose tokenizer cuts the words.")] = "en",
    clusters: Annotated[int, typer.Option(help="How many clusters.")] = 256,
    words: Annotated[int, typer.Option(help="How many of the most frequent words.")] = 10_000,
) -> None:
    """Cluster words by the company they keep in raw text."""
    console = Console(highlight=False, soft_wrap=True)
    lines = tokenised_lines(texts, language)
    found, number = counted(sum(map(len, lines)), "word"), counted(len(lines), "line")
    console.print(f"{found} in {number}.")
    count = make_clusters(lines, output, clusters=clusters, words=words)
    console.print(
        f"{counted(count, 'word')} in {counted(clusters, 'cluster')}: {output}\n\n"
        "In a config:\n\n"
        "\\[components.tagger.model.clusters]\n"
        '@misc = "spacy-decoders.WordClusters.v1"\n'
        f'path = "{output}"'
    )


def tokenised_lines(paths: Iterable[Path], lang: str) -> list[list[str]]:
    """Return the words of each line of some files, by the tokenizer of a language."""
    nlp = spacy.blank(lang)
    return [
        [token.text for token in nlp.make_doc(line) if not token.is_space]
        for path in paths
        for line in (text.strip() for text in text_lines(path))
        if line
    ]


def make_clusters(
    lines: list[list[str]], output: Path, *, clusters: int = 256, words: int = 10_000
) -> int:
    """Cluster the most frequent words by the company they keep, into a file of paths.

    Parameters
    ----------
    lines
        The words of each line; company ends where a line ends.
    output
        The file of paths: bits, word, count. ``spacy-decoders.WordClusters.v1`` reads it.
    clusters
        How many clusters.
    words
        How many words are clustered. The time grows with its square and that of `clusters`.

    Returns
    -------
    The number of words that were clustered.

    Raises
    ------
    ProblemError
        If there are too few words, or ``brown-clustering`` is not installed.

    Notes
    -----
    The algorithm is that of Brown et al. 1992, *Class-based n-gram Models of Natural Language*,
    section 3, as the package ``brown-clustering`` implements it.
    """
    counts = Counter(word for line in lines for word in line)
    frequent = dict(counts.most_common(words))
    if not 1 < clusters < len(frequent):
        raise ProblemError(
            f"clusters: expected 2 to {max(2, len(frequent) - 1)} for {len(frequent):,} words, "
            f"got {clusters}."
        )
    brown: Any = needed("brown_clustering", "clusters")
    kept = [[word for word in line if word in frequent] for line in lines]
    clustering = brown.BrownClustering(brown.BigramCorpus(kept, alpha=0.5), clusters)
    groups: list[list[str]] = clustering.train()
    codes: dict[str, str] = clustering.codes()
    rows = sorted((_path(group, codes), word) for group in groups for word in group)
    with output.open("w", encoding="utf8") as file:
        file.writelines(f"{bits}\t{word}\t{frequent[word]}\n" for bits, word in rows)
    return len(rows)


def _path(group: list[str], codes: dict[str, str]) -> str:
    """Return the path to a cluster: what the codes of its words begin with."""
    turns = itertools.takewhile(
        lambda turn: len(set(turn)) == 1, zip(*(codes[word] for word in group), strict=False)
    )
    return "".join(turn[0] for turn in turns)[:LONGEST]
