"""Saved components that are damaged, or made up, are refused by their place or merely used."""

import json
import os

import pytest
import spacy

import spacy_decoders
from spacy_decoders.components.decoding_pipe import CHECKSUMS
from spacy_decoders.errors import StorageError

from ..campaigns.components import COMPONENTS, check_component

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials run in forked processes")


@pytest.mark.parametrize("trials", [12, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMPONENTS)
def test_damaged_and_made_up_components(name, trials, tmp_path):
    for sealed in (True, False):
        outcomes = check_component(name, tmp_path / "pipe", trials, sealed=sealed)
        assert not outcomes.faults, "\n".join(outcomes.faults)
        assert outcomes.counts["refused"] > trials // 4
        assert outcomes.counts.total() == trials


def test_a_changed_file_is_named_with_what_to_do(tmp_path):
    pipe = spacy_decoders.load().get_pipe("linker")
    pipe.to_disk(tmp_path)
    model = tmp_path / "model"
    model.write_bytes(model.read_bytes()[:-1] + b"\x91")
    with pytest.raises(StorageError, match=rf"linker.*changed|{model}.*changed.*{CHECKSUMS}"):
        pipe.from_disk(tmp_path)
    (tmp_path / CHECKSUMS).unlink()
    with pytest.raises(StorageError, match=str(tmp_path)):
        pipe.from_disk(tmp_path)


def test_components_of_earlier_releases_have_no_checksums(tmp_path):
    nlp = spacy_decoders.load()
    nlp.to_disk(tmp_path)
    for name in COMPONENTS:
        assert {"cfg", "model"} <= set(json.loads((tmp_path / name / CHECKSUMS).read_text()))
        (tmp_path / name / CHECKSUMS).unlink()
    spacy.load(tmp_path)
