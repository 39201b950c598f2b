"""Clusters of word vectors, and what a sparse model makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_decoders.cli import app
from spacy_decoders.errors import ProblemError
from spacy_decoders.models.clusters.shipped import FOLDER
from spacy_decoders.models.clusters.sources import WordClusters, clusters_of_paths
from spacy_decoders.models.clusters.vector_clusters import cluster_vectors
from spacy_decoders.models.clusters.vector_files import read_vectors


def vectors(themes: int = 8, each: int = 60) -> tuple[list[str], np.ndarray]:
    """Words of some themes, whose vectors point into almost the same direction."""
    random = np.random.default_rng(0)
    directions = random.normal(size=(themes, 24))
    noise = random.normal(scale=0.15, size=(each, themes, 24))
    words = [f"w{theme}x{i}" for i in range(each) for theme in range(themes)]
    return words, np.float32(directions + noise + 3.0).reshape(-1, 24)


def written(path, words, rows):
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, rows, strict=True)]
    path.write_text("".join(lines), encoding="utf8")
    return path


def test_words_with_like_vectors_share_a_cluster(tmp_path):
    words, rows = vectors()
    assert cluster_vectors(words, rows, tmp_path / "paths") == len(words)
    table = clusters_of_paths(tmp_path / "paths")
    paths = dict(zip(words, (path for path, _ in table.lookup_all(words)), strict=True))
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


def test_files_of_vectors_are_read(tmp_path):
    words, rows = vectors(each=2)
    plain = written(tmp_path / "vectors.txt", words, rows)
    headed = tmp_path / "headed.txt"
    headed.write_text(f"{len(words)} 24\n" + plain.read_text(encoding="utf8"), encoding="utf8")
    for file in (plain, headed):
        found, numbers = read_vectors(file)
        assert found == words
        np.testing.assert_allclose(numbers, rows, rtol=1e-5)


@pytest.mark.parametrize("line", ["c 1.0", "c 1.0 x", "c 1.0 nan", "c", "c 1.0 2.0 3.0"])
def test_lines_that_are_no_vectors_are_refused(line, tmp_path):
    (tmp_path / "v").write_text(f"a 1.0 2.0\nb 1.0 0.5\n{line}\n", encoding="utf8")
    with pytest.raises(ProblemError, match="v, line 3: expected a word and 2 numbers"):
        read_vectors(tmp_path / "v")


def test_too_few_words_are_refused(tmp_path):
    words, rows = vectors(each=5)
    with pytest.raises(ProblemError, match="words: expected 256 or more"):
        cluster_vectors(words, rows, tmp_path / "paths")
    words, rows = vectors()
    with pytest.raises(ProblemError, match="each with a vector"):
        cluster_vectors(words[1:], rows, tmp_path / "paths")


def test_the_command_makes_them(tmp_path):
    file = written(tmp_path / "vectors.txt", *vectors())
    given = ["clusters", "--vectors", str(file), "--output", str(tmp_path / "made")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert "480 words" in result.output
    assert "model.groups]" in result.output
    assert len(clusters_of_paths(tmp_path / "made")) == 480
    result = CliRunner().invoke(app, ["clusters"])
    assert result.exit_code != 0
    assert "text files, or a file of vectors" in f"{result.output}{result.exception}"


def test_groups_of_english_ship():
    table = WordClusters("en", kind="groups").read()
    (iraq, _), (also_iraq, _), (city, _) = table.lookup_all(["Fallujah", "basra", "Toronto"])
    assert iraq & 63 == also_iraq & 63
    assert iraq != city
    assert len(table) > 150_000
    # a saved model names the table, it has no copy
    assert table.to_bytes().startswith(b"table:")
    assert next(FOLDER.glob("groups-en-*")).name.split("-")[-1].encode() in table.to_bytes()
    with pytest.raises(ProblemError, match="groups: none ship for 'de'"):
        WordClusters("de", kind="groups").read()
    with pytest.raises(ProblemError, match='kind: expected "clusters" or "groups"'):
        WordClusters("en", kind="vectors")


class Themes:
    """Clusters as a config's source gives them: cities have one path, verbs another."""

    def read(self):
        from spacy_decoders.models.clusters.table import ClusterTable

        return ClusterTable.of({"rome": 0b11 << 24, "oslo": 0b11 << 24, "ran": 0b1 << 24})


@pytest.mark.parametrize("template", ["group[0]", "group6[0]"])
def test_a_group_lends_its_weights_to_unseen_words(template, tmp_path):
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy-decoders.SparseChainScorer.v1",
        "templates": [template, "form[0]"],
        "bits": 12,
    }
    tagger = nlp.add_pipe("exact_tagger", config={"model": model, "target": "ent"})
    tagger.model.layers[0].attrs["groups"] = Themes()
    docs = [nlp.make_doc(text) for text in ("I ran from Rome", "I ran by Rome", "I ran")]
    examples = []
    for doc in docs:
        gold = doc.copy()
        gold.ents = (
            [gold.char_span(doc.text.index("Rome"), len(doc.text), "LOC")]
            if "Rome" in (doc.text)
            else []
        )
        examples.append(spacy.training.Example(doc, gold))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path)
    for loaded in (nlp, spacy.load(tmp_path)):
        found = [ent.text for ent in loaded("I ran from Oslo").ents]
        # the coarsest level has 6 turns, which are the same for all these words
        assert found == (["Oslo"] if template == "group[0]" else [])
