"""The word clusters of ``spacy-lookups-data``: the English table that ships, and files of paths.

``python scripts/word_clusters.py de paths`` writes those of German or Spanish as a file of paths,
which ``spacy-decoders.WordClusters.v1`` reads.
"""

import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import srsly
import typer

from spacy_decoders.models.clusters.sources import classes_of
from spacy_decoders.models.clusters.table import ClusterTable

#: Counts that files of paths have are those of so many words.
TOKENS = 10**9


def of_lookups(lang: str) -> tuple[dict[str, int], dict[str, float]]:
    """Return the cluster of each word, and the logarithm of its probability."""
    # read directly: spaCy's own tables of a million words take a minute to fill
    folder = Path(str(files("spacy_lookups_data"))) / "data"
    clusters: dict[str, Any] = srsly.read_gzip_json(folder / f"{lang}_lexeme_cluster.json.gz")
    logs: dict[str, Any] = srsly.read_gzip_json(folder / f"{lang}_lexeme_prob.json.gz")
    return {word: cluster for word, cluster in clusters.items() if cluster}, logs


def english_clusters() -> ClusterTable:
    """Return the table that ships."""
    clusters, logs = of_lookups("en")
    return ClusterTable.of(clusters, classes_of(clusters, logs))


def main(lang: str, output: Path) -> None:
    """Write the clusters of a language as a file of paths."""
    clusters, logs = of_lookups(lang)
    with output.open("w", encoding="utf8") as file:
        for word, cluster in clusters.items():
            count = round(TOKENS * math.exp(logs.get(word, -20.0)))
            file.write(f"{cluster:b}"[:-32:-1] + f"\t{word}\t{count}\n")
    print(f"{len(clusters):,} words")


if __name__ == "__main__":
    typer.run(main)
