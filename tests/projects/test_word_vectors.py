"""Vectors of a user's own as a table of a few bytes a word."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_decoders.models.clusters.sources import WordVectors

sys.path.append(str(Path(__file__).parents[2] / "projects" / "english" / "scripts"))
from word_vectors import main, read_vectors, vector_table

TEXT = "3 4\nRome 1 0 0.5 0\noslo 0 1 0.5 0\nruns 0 0 0 2\nRome 9 9 9 9\n"


def test_few_vectors_are_kept_as_they_are(tmp_path):
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    main(path, tmp_path / "table", parts=3)
    table = WordVectors(path=tmp_path / "table").read()
    found = table.features(["Rome", "OSLO", "runs"])
    wanted = [[1, 0, 0.5, 0, 0, 0], [0, 1, 0.5, 0, 0, 0], [0, 0, 0, 2, 0, 0]]  # two columns a part
    np.testing.assert_array_equal(found, np.array(wanted, dtype=np.float32))
    main(path, tmp_path / "table", words=2)
    assert len(WordVectors(path=tmp_path / "table").read()) == 2


def test_many_vectors_are_near_what_they_were():
    vectors = np.random.default_rng(0).normal(size=(3000, 24)).astype(np.float32)
    words, errors = [f"w{i}" for i in range(3000)], []
    for parts in (3, 6, 12):
        table = vector_table(dict(zip(words, vectors, strict=True)), parts)
        found = table.features(words)
        errors.append(float(((found - vectors) ** 2).mean()))
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02


@pytest.mark.parametrize("line", ["c 1.0", "c 1.0 x", "c 1.0 nan", "c", "c 1.0 2.0 3.0"])
def test_lines_that_are_no_vectors_are_refused(line, tmp_path):
    (tmp_path / "v").write_text(f"a 1.0 2.0\nb 1.0 0.5\n{line}\n", encoding="utf8")
    with pytest.raises(ValueError, match="v, line 3: expected a word and 2 numbers"):
        read_vectors(tmp_path / "v")
