"""Word vectors as a table of a few bytes a word, by product quantisation (Jégou, Douze, Schmid
2011, *Product Quantization for Nearest Neighbor Search*).

``python scripts/word_vectors.py cc.de.300.vec.gz vectors-de`` writes a table of the first words of
a file in the format of word2vec, GloVe and fastText: ``spacy-decoders.WordVectors.v1`` reads it by
its `path`.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2, vq

from spacy_decoders.models.clusters.table import CENTROIDS, VectorTable, words_by_key
from spacy_decoders.readers.text_lines import text_lines

Floats = NDArray[np.float32]

#: What half precision holds.
LARGEST = 60_000.0
#: Passes of k-means; later ones change little.
PASSES = 12


def vector_table(vectors: Mapping[str, Sequence[float] | Floats], parts: int = 32) -> VectorTable:
    """Make a table of the vector of each word, in so many bytes."""
    words = words_by_key(vectors)
    rows = np.array([vectors[word] for word in words.values()], dtype=np.float32)
    if not np.abs(rows).max() <= LARGEST:
        raise ValueError(f"vectors: expected finite numbers up to {LARGEST:,.0f}.")
    return VectorTable(np.array(list(words), dtype=np.uint32), *quantised(rows, parts))


def quantised(
    vectors: Floats, parts: int, seed: int = 0
) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Quantise vectors by k-means on each part of their columns: codes and centroids.

    Columns are filled with zeros to a multiple of `parts`. Columns of principal components fall in
    variance: every part takes some of all.
    """
    rng = np.random.default_rng(seed)
    columns = -(-vectors.shape[1] // parts) * parts
    filled = np.zeros((len(vectors), columns), dtype=np.float32)
    filled[:, : vectors.shape[1]] = vectors
    codes = np.empty((len(vectors), parts), dtype=np.uint8)
    centroids = np.zeros((parts, CENTROIDS, columns // parts), dtype=np.float16)
    for part in range(parts):
        points = np.ascontiguousarray(filled[:, part::parts])
        means = _means(points, rng)
        centroids[part, : len(means)] = means
        codes[:, part] = vq(points, means, check_finite=False)[0]
    return codes, centroids


def _means(points: Floats, rng: np.random.Generator) -> Floats:
    """The means of k-means, from points drawn at random; one of no point stays where it is."""
    distinct = np.unique(points, axis=0)
    if len(distinct) <= CENTROIDS:
        return distinct
    first = distinct[rng.choice(len(distinct), CENTROIDS, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a mean has no point
        return kmeans2(points, first, PASSES, minit="matrix")[0]


def read_vectors(path: Path, most: int | None = None) -> tuple[list[str], Floats]:
    """Read words and their vectors: on each line a word and its numbers, apart by blanks.

    A first line of two numbers, as word2vec writes it, is left out; of a word that stands twice
    the first vector counts.
    """
    found: dict[str, Floats] = {}
    width = 0
    for number, line in enumerate(text_lines(path), start=1):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and len(numbers) == 1:
            continue
        if len(found) == most:
            break
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        width = width or len(vector)
        if not len(vector) or len(vector) != width or not np.isfinite(vector).all():
            raise ValueError(
                f"{path.name}, line {number}: expected a word and {width or 'its'} "
                f"numbers, all finite and apart by blanks; got {line.strip()!r:.60}."
            )
        found.setdefault(word, vector)
    if not found:
        raise ValueError(f"{path.name}: there are no vectors in it.")
    return list(found), np.array(list(found.values()))


def main(vectors: Path, output: Path, words: int = 50_000, parts: int = 32) -> None:
    """Write a table of the first words of a file of vectors, in so many bytes a word."""
    table = vector_table(dict(zip(*read_vectors(vectors, words), strict=True)), parts)
    output.write_bytes(table.content())
    print(f"{len(table):,} words, {output.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
