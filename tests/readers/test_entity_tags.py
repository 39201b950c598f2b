"""Entity tags of other schemes become BIO."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.training import iob_to_biluo

from spacy_decoders.errors import ProblemError
from spacy_decoders.readers.corpora import ColumnCorpus
from spacy_decoders.readers.words import as_bio


def random_bio(rng: random.Random) -> list[str]:
    tags: list[str] = []
    for _ in range(rng.randrange(1, 8)):
        kind = rng.choice(["PER", "ORG", "A-B"])
        entity = [f"B-{kind}", *[f"I-{kind}"] * rng.randrange(3)]
        tags += entity if rng.random() < 0.6 else ["O"]
    return tags


def iob(tags: list[str]) -> list[str]:
    """IOB: an entity begins with B only behind one of its type."""
    previous = ["O", *tags]
    return [
        f"I{tag[1:]}" if tag[0] == "B" and before[2:] != tag[2:] else tag
        for before, tag in zip(previous, tags, strict=False)
    ]


def test_every_scheme_says_the_same():
    rng = random.Random(0)
    for _ in range(300):
        tags = random_bio(rng)
        biluo = iob_to_biluo(tags)
        bioes = [{"U": "S", "L": "E"}.get(tag[0], tag[0]) + tag[1:] for tag in biluo]
        for given in (tags, iob(tags), biluo, bioes):
            assert as_bio(given) == tuple(tags)


@pytest.mark.parametrize("tag", ["PER", "X-PER", "B-", "B", "o"])
def test_other_tags_are_refused(tag):
    with pytest.raises(ProblemError, match="is not an entity tag in IOB, BIO, BILOU or BIOES"):
        as_bio(["O", tag])


def test_unknown_labels_of_a_file_are_missing(tmp_path: Path):
    (tmp_path / "part.iob").write_text("Bo\tU-PER\nof\t_\nRio\tI-LOC\nis\tO\n")

    (example,) = ColumnCorpus(tmp_path / "part.iob", ["form", "ent"])(spacy.blank("en"))
    assert [token.ent_iob_ for token in example.reference] == ["B", "", "B", "O"]
    assert example.get_aligned_ner() == ["U-PER", None, "U-LOC", "O"]
