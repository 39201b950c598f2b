"""Groups of words, and vectors of a few bytes a word, made of a user's own vectors."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_decoders.models.clusters.sources import WordVectors, clusters_of_paths

sys.path.append(str(Path(__file__).parents[2] / "projects" / "english" / "scripts"))
import word_groups
import word_vectors


def vectors(themes: int = 8, each: int = 60) -> tuple[list[str], np.ndarray]:
    """Words of some themes, whose vectors point into almost the same direction."""
    random = np.random.default_rng(0)
    directions = random.normal(size=(themes, 24))
    noise = random.normal(scale=0.15, size=(each, themes, 24))
    words = [f"w{theme}x{i}" for i in range(each) for theme in range(themes)]
    return words, np.float32(directions + noise + 3.0).reshape(-1, 24)


def test_words_with_like_vectors_share_a_cluster(tmp_path):
    words, rows = vectors()
    assert word_groups.cluster_vectors(words, rows, tmp_path / "paths") == len(words)
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
    word_groups.cluster_vectors(words, rows, again)
    assert again.read_bytes() == (tmp_path / "paths").read_bytes()


def test_a_file_of_vectors_becomes_a_file_of_paths(tmp_path):
    rows = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(*vectors(), strict=True))
    (tmp_path / "vectors.txt").write_text("".join(rows), encoding="utf8")
    word_groups.main(tmp_path / "vectors.txt", paths=tmp_path / "paths")
    assert len(clusters_of_paths(tmp_path / "paths")) == 480


TEXT = "3 4\nRome 1 0 0.5 0\noslo 0 1 0.5 0\nruns 0 0 0 2\nRome 9 9 9 9\n"


def test_few_vectors_are_kept_as_they_are(tmp_path):
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    word_vectors.main(path, tmp_path / "table", parts=3)
    table = WordVectors(path=tmp_path / "table").read()
    found = table.features(["Rome", "OSLO", "runs"])
    wanted = [[1, 0, 0.5, 0, 0, 0], [0, 1, 0.5, 0, 0, 0], [0, 0, 0, 2, 0, 0]]  # two columns a part
    np.testing.assert_array_equal(found, np.array(wanted, dtype=np.float32))
    word_vectors.main(path, tmp_path / "table", words=2)
    assert len(WordVectors(path=tmp_path / "table").read()) == 2


def test_many_vectors_are_near_what_they_were():
    vectors = np.random.default_rng(0).normal(size=(3000, 24)).astype(np.float32)
    words, errors = [f"w{i}" for i in range(3000)], []
    for parts in (3, 6, 12):
        table = word_vectors.vector_table(dict(zip(words, vectors, strict=True)), parts)
        found = table.features(words)
        errors.append(float(((found - vectors) ** 2).mean()))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02


@pytest.mark.parametrize("line", ["c 1.0", "c 1.0 x", "c 1.0 nan", "c", "c 1.0 2.0 3.0"])
def test_lines_that_are_no_vectors_are_refused(line, tmp_path):
    (tmp_path / "v").write_text(f"a 1.0 2.0\nb 1.0 0.5\n{line}\n", encoding="utf8")
    with pytest.raises(ValueError, match="v, line 3: expected a word and 2 numbers"):
        word_vectors.read_vectors(tmp_path / "v")
