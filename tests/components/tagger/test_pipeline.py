"""exact_tagger as part of a spaCy pipeline: files, workers, configs, commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from typer.testing import CliRunner

from tests.components.tagger.tagging import (
    MODEL,
    SENTENCES,
    WORDS,
    annotated,
    bare,
    examples,
    randomised,
    trained,
)
from tests.processes import python

NAME = "exact_tagger"
CONFIGS = Path(__file__).parents[3] / "configs"


def result(doc):
    return [token.tag_ for token in doc], doc._.certificates


# --- files ---------------------------------------------------------------------------


def test_it_survives_disk_bytes_and_sourcing(tmp_path):
    nlp = trained()
    expected = result(nlp(bare(nlp, SENTENCES[0])))
    nlp.to_disk(tmp_path)
    from_disk = spacy.load(tmp_path)
    from_bytes = spacy.blank("en")
    from_bytes.add_pipe(NAME, config={"model": MODEL})
    from_bytes.from_bytes(nlp.to_bytes())
    sourced = spacy.blank("en")
    sourced.add_pipe(NAME, source=nlp, name="words")
    for other in (from_disk, from_bytes):
        assert result(other(bare(other, SENTENCES[0]))) == expected
    doc = sourced(bare(sourced, SENTENCES[0]))
    assert result(doc) == (expected[0], {"words": expected[1][NAME]})
    scores = sourced.evaluate(examples(sourced))
    assert scores["certified"] == 1.0


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


# --- workers --------------------------------------------------------------------------

WORKERS = """
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    nlp = spacy.load(sys.argv[1])
    texts = sys.argv[2:] * 3

    def results(docs):
        return [([t.tag_ for t in doc], doc._.certificates, doc._.taggings) for doc in docs]

    alone = results(nlp.pipe(texts))
    for method in ("fork", "spawn"):
        multiprocessing.set_start_method(method, force=True)
        assert results(nlp.pipe(texts, n_process=2, batch_size=4)) == alone, method
    print(len(alone))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_worker_processes_give_what_one_process_gives(tmp_path):
    trained(k_best=2).to_disk(tmp_path / "model")
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    done = python(script, tmp_path / "model", *SENTENCES, PYTHONWARNINGS="ignore")
    assert done.stdout.strip() == "12"


# --- the pipeline around it --------------------------------------------------------------


def test_it_listens_to_a_shared_tok2vec():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": MODEL["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
    model = {"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": listener}
    nlp.add_pipe(NAME, config={"model": model})
    golds = examples(nlp)
    optimizer = nlp.initialize(lambda: golds)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(golds, sgd=optimizer)
    assert nlp.evaluate(golds)["tag_acc"] == 1.0
    assert nlp.get_pipe("tok2vec").listening_components == [NAME]


def test_weights_that_change_are_noticed():
    nlp = randomised(0)
    before = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    model = nlp.get_pipe(NAME).model
    model.get_ref("chain").get_param("transitions")[:] += 1.0
    after = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    assert after == pytest.approx(before + 5.0, abs=1e-4)


# --- configs and commands -----------------------------------------------------------------


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


def test_the_commands_of_spacy_know_it(tmp_path):
    config = tmp_path / "full.cfg"
    run = CliRunner()
    filled = run.invoke(
        app, ["init", "fill-config", str(CONFIGS / "exact_tagger.cfg"), str(config)]
    )
    assert filled.exit_code == 0, filled.output
    assert "overwrite = true" in config.read_text()
    path = str(corpus(tmp_path, ".conllu"))
    paths = ["--paths.train", path, "--paths.dev", path]
    checked = run.invoke(app, ["debug", "config", str(config), *paths])
    assert checked.exit_code == 0, checked.output
    wrong = config.read_text().replace('loss = "crf"', 'loss = "rough"')
    (tmp_path / "wrong.cfg").write_text(wrong)
    refused = run.invoke(app, ["debug", "config", str(tmp_path / "wrong.cfg"), *paths])
    assert refused.exit_code == 1
    assert "loss" in refused.output

    trained().to_disk(tmp_path / "model")
    assembly = tmp_path / "assembly.cfg"
    assembly.write_text(
        '[nlp]\nlang = "en"\npipeline = ["tagger"]\n[components]\n[components.tagger]\n'
        f'source = "{(tmp_path / "model").as_posix()}"\ncomponent = "{NAME}"\n'
    )
    assembled = run.invoke(app, ["assemble", str(assembly), str(tmp_path / "assembled")])
    assert assembled.exit_code == 0, assembled.output
    nlp = spacy.load(tmp_path / "assembled")
    assert nlp(bare(nlp, SENTENCES[0]))[0].tag_ == "DT"
