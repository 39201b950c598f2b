"""A pipeline is distilled: what it says, our components say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import spacy

import spacy_decoders
from spacy_decoders import ProblemError
from tests.test_configs import can_be_trained_on

SCRIPTS = Path(__file__).parents[2] / "projects" / "distil" / "scripts"

TEXTS = [
    f"{name} lives in {place}. {other} works there, too."
    for name in ("Angela Merkel", "Kim", "Ann Smith", "Bob")
    for place in ("Berlin", "New York", "Paris")
    for other in ("Mr. Jones", "She")
]


sys.path.append(str(SCRIPTS))
from distillation import distil  # noqa: E402


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """The pipeline that is shipped, but for what can't be distilled."""
    path = tmp_path_factory.mktemp("teacher")
    spacy_decoders.load(exclude=["linker", "headline"]).to_disk(path)
    return path


@pytest.mark.filterwarnings("ignore:.*W:UserWarning")
def test_a_student_says_what_its_teacher_says(teacher, tmp_path):
    found = distil(teacher, TEXTS, tmp_path, max_steps=60)
    assert found.parts == ("tagger", "parser", "entities")
    assert found.held_out == 3 and found.texts == 21
    assert found.agreement["tag_acc"] > 0.9
    assert found.agreement["certified"] == 1.0
    assert found.teacher_words > 0 and found.student_words > 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf8"))
    assert report["agreement"] == found.agreement
    student = spacy.load(tmp_path / "student")
    doc = student("Ann lives in Paris.")
    assert set(doc._.certificates) == {"tagger", "parser", "entities"}
    assert "attribute_ruler" in student.pipe_names
    can_be_trained_on(student, tmp_path / "again")


def test_what_can_not_be_distilled_is_said(teacher, tmp_path):
    with pytest.raises(ProblemError, match="too few"):
        distil(teacher, TEXTS[:5], tmp_path)
    with pytest.raises(ProblemError, match="expected tagger"):
        distil(teacher, TEXTS, tmp_path, parts=["textcat"])
    blank = tmp_path / "blank"
    spacy.blank("en").to_disk(blank)
    with pytest.raises(ProblemError, match="none of them"):
        distil(blank, TEXTS, tmp_path)
