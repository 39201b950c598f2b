"""``decoders calibrate``, and the callback of ``spacy train`` that does the same."""

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry

from tests.components.tagger.tagging import SENTENCES, annotated, randomised, trained

from .commands import run


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    nlp = spacy.blank("en")
    path = tmp_path_factory.mktemp("corpus") / "dev.spacy"
    DocBin(docs=[annotated(nlp, [sentence]) for sentence in SENTENCES * 5]).to_disk(path)
    return path


def test_a_pipeline_is_calibrated_and_saved(corpus, tmp_path):
    model = tmp_path / "model"
    randomised(3, target=["tag", "ent"]).to_disk(model)
    printed = run("calibrate", model, corpus)
    for said in ("tokens", "entities", "units", "ECE", "AUROC"):
        assert said in printed
    kinds = spacy.load(model).get_pipe("exact_tagger").calibration
    assert set(kinds) == {"tokens", "entities", "other_entities", "units"}


def test_another_folder_and_errors(corpus, tmp_path):
    model, output = tmp_path / "model", tmp_path / "calibrated"
    trained(5).to_disk(model)
    with pytest.warns(UserWarning, match="calibrated by 0 wrong answers of .* too few"):
        run("calibrate", model, corpus, "--output", output, "--components", "exact_tagger")
    assert not spacy.load(model).get_pipe("exact_tagger").calibration
    assert spacy.load(output).get_pipe("exact_tagger").calibration
    assert "can't be calibrated" in run("calibrate", model, corpus, "--components", "x", code=1)
    assert "there is no" in run("calibrate", model, tmp_path / "no.spacy", code=1)
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert "the pipeline can't be" in run("calibrate", tmp_path / "blank", corpus, code=1)
    judged = spacy.blank("en")
    judged.add_pipe("headline_generator")
    judged.to_disk(tmp_path / "judged")
    assert "the pipeline can't be" in run("calibrate", tmp_path / "judged", corpus, code=1)


def test_en_is_the_shipped_pipeline_unless_there_is_such_a_folder(corpus):
    said = run("calibrate", "en", corpus, code=1)
    assert "output: en is not a folder to save the pipeline in; give --output" in said
    spacy.blank("en").to_disk("en")
    assert "the pipeline can't be" in run("calibrate", "en", corpus, code=1)


def test_spacy_train_calibrates_what_it_saves(corpus, tmp_path):
    config = trained(0).config.copy()
    config["paths"] |= {"train": str(corpus), "dev": str(corpus)}
    config["training"]["max_steps"] = 2
    config["training"]["eval_frequency"] = 1
    held_out = {"@readers": "spacy.Corpus.v1", "path": str(corpus), "gold_preproc": False}
    config["training"]["before_to_disk"] = {
        "@callbacks": "spacy-decoders.Calibrate.v1",
        "corpus": held_out,
    }
    assert registry.has("callbacks", "spacy-decoders.Calibrate.v1")
    nlp = init_nlp(config)
    (tmp_path / "out").mkdir()
    train(nlp, tmp_path / "out")
    saved = spacy.load(tmp_path / "out" / "model-best")
    assert set(saved.get_pipe("exact_tagger").calibration) == {"tokens", "units"}
