"""exact_tagger as part of a spaCy pipeline: files, changes, configs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from tests.components.tagger.tagging import (
    SENTENCES,
    WORDS,
    annotated,
    bare,
    randomised,
    trained,
)

NAME = "exact_tagger"
CONFIGS = Path(__file__).parents[3] / "configs"


def result(doc):
    return [token.tag_ for token in doc], doc._.certificates


def test_results_survive_docbin_and_bytes():
    nlp = trained(target="ent", k_best=2, probabilities=True, entity_alternatives=0.05)
    docs = list(nlp.pipe(bare(nlp, sentence) for sentence in SENTENCES))
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    restored = list(DocBin().from_bytes(stored).get_docs(nlp.vocab))
    copies = [spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs]
    for doc, *others in zip(docs, restored, copies, strict=True):
        for other in others:
            assert [(ent.text, ent._.prob) for ent in other.ents] == [
                (ent.text, ent._.prob) for ent in doc.ents
            ]
            one, another = (
                [of._.certificates, of._.taggings, of._.probabilities, of._.entity_alternatives]
                for of in (doc, other)
            )
            assert json.dumps(another) == json.dumps(one, allow_nan=False)


def test_a_label_may_be_added_to_a_trained_component():
    nlp = trained()
    pipe = nlp.get_pipe(NAME)
    before = [result(nlp(bare(nlp, sentence)))[0] for sentence in SENTENCES]
    assert pipe.add_label("UH") == 1
    assert pipe.add_label("UH") == 0
    assert [result(nlp(bare(nlp, sentence)))[0] for sentence in SENTENCES] == before
    gold = annotated(nlp, SENTENCES[:1])
    gold[0].tag_ = "UH"
    example = spacy.training.Example(bare(nlp, gold.text), gold)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.02
    for _ in range(40):
        nlp.update([example], sgd=optimizer)
    assert nlp(bare(nlp, SENTENCES[0]))[0].tag_ == "UH"


def test_weights_that_change_are_noticed():
    nlp = randomised(0)
    before = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    model = nlp.get_pipe(NAME).model
    model.get_ref("chain").get_param("transitions")[:] += 1.0
    after = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    assert after == pytest.approx(before + 5.0, abs=1e-4)


def corpus(folder: Path, suffix: str) -> Path:
    """The tiny language as a treebank or as columns."""
    lines = []
    for sentence in SENTENCES:
        for i, word in enumerate(sentence.split(), start=1):
            tag, pos, morph, ent = WORDS[word]
            if suffix == ".conllu":
                lines.append(f"{i}\t{word}\t_\t{pos}\t{tag}\t{morph or '_'}\t_\t_\t_\t_")
            else:
                lines.append(f"{word}\t{pos}\t{tag}\t{ent}\t-")
        lines.append("")
    path = folder / f"tiny{suffix}"
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.mark.parametrize(
    ("name", "suffix", "keys"),
    [
        ("exact_tagger.cfg", ".conllu", ["tag_acc"]),
        ("joint_tagger.cfg", ".tsv", ["tag_acc", "ents_f"]),
    ],
)
def test_configs_train_as_they_are(tmp_path, name, suffix, keys, capsys):
    path = str(corpus(tmp_path, suffix))
    config = spacy.util.load_config(
        CONFIGS / name,
        overrides={
            "paths.train": path,
            "paths.dev": path,
            "training.max_steps": 30,
            "training.eval_frequency": 30,
            "training.optimizer.learn_rate.warmup_steps": 5,
        },
    )
    nlp = init_nlp(spacy.util.load_model_from_config(config, auto_fill=True).config)
    (tmp_path / "out").mkdir()
    train(nlp, tmp_path / "out")
    loaded = spacy.load(tmp_path / "out" / "model-best")
    assert loaded.meta["performance"]["certified"] == 1.0
    assert all(loaded.meta["performance"][key] > 0.5 for key in keys)
    capsys.readouterr()
