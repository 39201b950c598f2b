"""The groups of words that ship, made again of other vectors."""

import sys
from pathlib import Path

import numpy as np

from spacy_decoders.models.clusters.sources import clusters_of_paths

sys.path.append(str(Path(__file__).parents[2] / "projects" / "english" / "scripts"))
from word_groups import cluster_vectors, main


def vectors(themes: int = 8, each: int = 60) -> tuple[list[str], np.ndarray]:
    """Words of some themes, whose vectors point into almost the same direction."""
    random = np.random.default_rng(0)
    directions = random.normal(size=(themes, 24))
    noise = random.normal(scale=0.15, size=(each, themes, 24))
    words = [f"w{theme}x{i}" for i in range(each) for theme in range(themes)]
    return words, np.float32(directions + noise + 3.0).reshape(-1, 24)


def test_words_with_like_vectors_share_a_cluster(tmp_path):
    words, rows = vectors()
    assert cluster_vectors(words, rows, tmp_path / "paths") == len(words)
    table = clusters_of_paths(tmp_path / "paths")
    paths = dict(zip(words, table.lookup(words)[:, 0].tolist(), strict=True))
    bits = (6, 14, 22, 31)
    levels = [{word: path & ((1 << n) - 1) for word, path in paths.items()} for n in bits]
    assert len(set(levels[0].values())) == 1  # 480 words have one cluster at the coarsest level
    assert 2 <= len(set(levels[1].values())) <= len(set(levels[2].values())) <= 30
    assert len(set(levels[3].values())) > 60
    of_themes = [
        {levels[2][word] for word in words if word.startswith(f"w{t}x")} for t in range(8)
    ]
    shared = sum(bool(a & b) for i, a in enumerate(of_themes) for b in of_themes[:i])
    assert shared <= 3  # of 28 pairs of themes
    again = tmp_path / "again"
    cluster_vectors(words, rows, again)
    assert again.read_bytes() == (tmp_path / "paths").read_bytes()


def test_a_file_of_vectors_becomes_a_file_of_paths(tmp_path):
    rows = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(*vectors(), strict=True))
    (tmp_path / "vectors.txt").write_text("".join(rows), encoding="utf8")
    main(tmp_path / "vectors.txt", paths=tmp_path / "paths")
    assert len(clusters_of_paths(tmp_path / "paths")) == 480
