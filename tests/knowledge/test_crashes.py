"""Bases whose building is killed anywhere, or runs out of room: no half of one is left."""

import os
import shutil

import pytest

from spacy_decoders import ConceptBase
from spacy_decoders.knowledge.contents import write_concept_base
from spacy_decoders.knowledge.sources.wordnet import WordNet
from spacy_decoders.knowledge.wikipedia import WikipediaDumps

from ..campaigns.crashes import content, file_operations, forked, killed_at, limited_files, moments
from ..campaigns.dumps import LMF, formats

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="builds are killed in a fork")


@pytest.fixture
def builds(tmp_path):
    """Two ways to build a base in one place."""
    dumps = {name: tmp_path / f"{name}.sql" for name in ("page", "redirect", "pagelinks")}
    dumps["articles"] = tmp_path / "articles.xml"
    for name, data in formats()["wikipedia"].files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "wn.xml").write_text(LMF)
    place = tmp_path / "bases" / "kb"

    def old():
        write_concept_base(place, WordNet(tmp_path / "wn.xml"))

    def new():
        WikipediaDumps(**dumps).build(place)

    old()  # compiles
    new()
    shutil.rmtree(place)
    return old, new, place


@pytest.mark.parametrize("wanted", [5, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("before", [False, True])
def test_killed_at_any_moment(builds, before, wanted):
    old, new, place = builds
    old()
    first = content(place)
    total = file_operations(new, place.parent)
    second = content(place)
    for moment in moments(total, wanted):
        shutil.rmtree(place.parent)
        if before:
            old()
        assert killed_at(new, place.parent, moment)
        if place.exists():
            ConceptBase.open(place).verify()
            assert content(place) in (first, second)
        else:
            assert not before, "the base that was there is gone"
        new()
        assert content(place) == second
        assert [path.name for path in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize("size", [0, 3000])
def test_a_full_disk_leaves_what_was_there(builds, size):
    old, new, place = builds
    old()
    first = content(place)

    def squeezed():
        with limited_files(size), pytest.raises(OSError, match="kb"):
            new()

    assert forked(squeezed) == 0
    assert content(place) == first
    assert [path.name for path in place.parent.iterdir()] == [place.name]
