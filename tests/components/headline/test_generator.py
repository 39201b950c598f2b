"""The headline generator as spaCy users meet it."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_decoders import ProblemError
from spacy_decoders.decoders.path import ExactPath
from spacy_decoders.models.headline.phrase_scorer import phrase_scorer_of
from spacy_decoders.readers.headlines import HeadlineCorpus
from tests.components.headline.titled import CONFIGS, TEXTS, blank, examples, plain


def test_works_at_once_and_explains_itself():
    doc = blank(length=2)(TEXTS["Binary search"])
    (headline,) = doc._.headlines
    assert doc._.headline == headline["text"] == "Binary search"
    assert [doc[i].lower_ for i in headline["tokens"]] == ["binary", "search"]
    assert headline["kind"] == "phrases"
    assert 0.0 < headline["prob"] < 1.0
    assert headline["certificate"]["status"] == "optimal"
    assert headline["certificate"]["score"] == headline["score"]
    assert doc._.certificates["headline_generator"] == [headline["certificate"]]


def test_importing_the_component_loads_nothing_heavy():
    script = (
        "import spacy, sys; spacy.blank('en');"
        "import spacy_decoders.components.headline.generator;"
        "print([m for m in ('numba', 'mip', 'networkx', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_training_learns_the_titles(trained):
    titles = [trained(text)._.headline.lower() for text in TEXTS.values()]
    shared = [
        len(set(title.split()) & set(gold.lower().split()))
        for title, gold in zip(titles, TEXTS, strict=True)
    ]
    assert sum(shared) >= 6
    scores = trained.evaluate(examples(trained))
    assert scores["headline_rougeL"] > 0.6
    assert scores["certified"] == 1.0
    assert set(scores) >= {"headline_rouge1", "headline_rouge2", "speed"}


def test_phrases_are_fitted_to_texts_that_are_not_counted():
    alone, both = blank(), blank()
    alone.initialize(lambda: examples(alone)[:2])
    pipe = both.get_pipe("headline_generator")
    pipe.initialize(lambda: examples(both)[:2], more=lambda: examples(both)[2:])
    other = alone.get_pipe("headline_generator")
    assert pipe.knowledge.titles.size == other.knowledge.titles.size == 2
    assert pipe.knowledge.corpus.stems.tolist() == other.knowledge.corpus.stems.tolist()
    fitted, without = (phrase_scorer_of(one.model).get_param("linear") for one in (pipe, other))
    assert not np.array_equal(fitted, without)


def test_models_with_fewer_features_still_score(trained):
    nlp = blank().from_bytes(trained.to_bytes())
    scorer = phrase_scorer_of(nlp.get_pipe("headline_generator").model)
    for name in ("mean", "scale", "linear", "hidden"):
        scorer.set_param(name, scorer.get_param(name)[:-5])
    assert nlp(TEXTS["Hash tables"])._.headlines[0]["certificate"]["status"] == "optimal"


def test_updating_lowers_the_loss():
    nlp = blank()
    optimizer = nlp.initialize(lambda: examples(nlp))
    scorer = phrase_scorer_of(nlp.get_pipe("headline_generator").model)
    for name in ("linear", "output"):
        scorer.set_param(name, np.zeros_like(scorer.get_param(name)))
    first = nlp.update(examples(nlp), sgd=optimizer)["headline_generator"]
    for _ in range(50):
        last = nlp.update(examples(nlp), sgd=optimizer)["headline_generator"]
    assert 0 < last < first < 1


def test_calibrating_tells_good_headlines_from_others(trained):
    nlp = blank().from_bytes(trained.to_bytes())
    pipe = nlp.get_pipe("headline_generator")
    good, bad = examples(nlp), examples(nlp)
    for example in bad:
        example.reference._.headline = "Quite another matter"
    pipe.calibrate([*good, *good, *good, *bad])
    sure = nlp(TEXTS["Hash tables"])._.headlines[0]["prob"]
    pipe.calibrate([*bad, *bad, *bad, *good])
    doubtful = nlp(TEXTS["Hash tables"])._.headlines[0]["prob"]
    assert 0.0 < doubtful < sure < 1.0
    pipe.min_prob = sure
    doc = nlp(TEXTS["Hash tables"])
    assert doc._.headline == ""
    assert doc._.headlines[0]["prob"] == doubtful


def test_numbers_are_finite():
    pipe = blank().get_pipe("headline_generator")
    with pytest.raises(ProblemError, match="contiguity"):
        pipe.contiguity = float("nan")


def test_a_model_of_words_alone_needs_the_mode_of_words():
    model = {"@architectures": "spacy-decoders.WordSelection.v1"}
    doc = blank(model=model, mode="words", length=2)(TEXTS["Binary search"])
    assert doc._.headline == "Binary search"
    with pytest.raises(ProblemError, match="PhraseSelection"):
        blank(model=model)(TEXTS["Binary search"])


def test_the_number_of_headlines_can_be_changed_later():
    nlp = blank(length=2)
    pipe = nlp.get_pipe("headline_generator")
    assert pipe.n_best == len(nlp(TEXTS["Sorting by heaps"])._.headlines) == 1
    pipe.n_best = 3
    assert pipe.n_best == len(nlp(TEXTS["Sorting by heaps"])._.headlines) == 3


def test_spans_get_their_own():
    nlp = blank(spans_key="sections", length=2)
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp.make_doc(" ".join([TEXTS["Binary search"], TEXTS["Hash tables"]]))
    cut = len(nlp.make_doc(TEXTS["Binary search"]))
    doc.spans["sections"] = [doc[:cut], doc[cut:]]
    doc = nlp(doc)
    first, second = doc.spans["sections"]
    assert first._.headline == "Binary search"
    assert second._.headline == "Hash tables"
    assert all(cut <= i for i in second._.headlines[0]["tokens"])
    assert len(doc._.certificates["headline_generator"]) == 2
    assert nlp("No sections here.")._.certificates["headline_generator"] == []


def test_bytes_and_disk(trained, tmp_path):
    text = TEXTS["Sorting by heaps"]
    expected = plain(trained(text))
    trained.to_disk(tmp_path / "nlp")
    assert plain(spacy.load(tmp_path / "nlp")(text)) == expected
    other = blank(length=2, n_best=3)
    other.from_bytes(trained.to_bytes())
    assert plain(other(text)) == expected


def test_docs_survive_serialisation(trained):
    doc = trained(TEXTS["Binary search"])
    again = Doc(trained.vocab).from_bytes(doc.to_bytes())
    assert plain(again) == plain(doc)
    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(stored).get_docs(trained.vocab)
    assert plain(again) == plain(doc)


def test_worker_processes(trained):
    texts = list(TEXTS.values())
    expected = [doc._.headline for doc in trained.pipe(texts)]
    assert [doc._.headline for doc in trained.pipe(texts, n_process=2)] == expected


def test_worker_processes_that_are_spawned(tmp_path, trained):
    trained.to_disk(tmp_path / "nlp")
    script = tmp_path / "run.py"
    script.write_text(
        "import multiprocessing, spacy, sys, json\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method('spawn')\n"
        f"    nlp = spacy.load({str(tmp_path / 'nlp')!r})\n"
        f"    texts = {list(TEXTS.values())!r}\n"
        "    docs = nlp.pipe(texts, n_process=2)\n"
        "    print(json.dumps([doc._.headline for doc in docs]))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = [trained(text)._.headline for text in TEXTS.values()]
    assert json.loads(done.stdout) == expected


def test_one_bad_document_costs_one_document(trained, monkeypatch):
    pipe = trained.get_pipe("headline_generator")
    decode = pipe.decode

    def fail_on_hash(doc, scores):
        if doc.text.startswith("Hash"):
            raise ValueError("bad document")
        return decode(doc, scores)

    monkeypatch.setattr(pipe, "decode", fail_on_hash)
    seen = []
    monkeypatch.setattr(
        pipe, "error_handler", lambda name, proc, docs, error: seen.append(str(error)), False
    )
    docs = list(pipe.pipe(trained.make_doc(text) for text in TEXTS.values()))
    assert len(docs) == 3
    assert seen == ["bad document"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"length": 0}, "length"),
        ({"length": [3, 1]}, "length"),
        ({"max_chars": 0}, "max_chars"),
        ({"auxiliaries": ["New York"]}, "auxiliaries.*New York"),
        ({"n_best": 0}, "n_best"),
        ({"max_vertices": 1}, "max_vertices"),
        ({"ordering": -1.0}, "ordering"),
    ],
)
def test_bad_options(config, message):
    with pytest.raises(ProblemError, match=message):
        blank(**config)


def test_json_lines(tmp_path):
    path = tmp_path / "train.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf8") as file:
        for title, text in TEXTS.items():
            file.write(json.dumps({"title": title, "text": text}) + "\n")
    nlp = spacy.blank("en")
    read = list(HeadlineCorpus(tmp_path)(nlp))
    assert [example.reference._.headline for example in read] == list(TEXTS)
    assert len(list(HeadlineCorpus(path, limit=2)(nlp))) == 2
    (tmp_path / "bad.jsonl").write_text('{"title": "x"}\n')
    with pytest.raises(ProblemError, match=r"bad.jsonl, line 1"):
        list(HeadlineCorpus(tmp_path / "bad.jsonl")(nlp))
    with pytest.raises(ProblemError, match="path"):
        list(HeadlineCorpus(tmp_path / "missing")(nlp))


@pytest.mark.parametrize("kind", ["jsonl", "spacy"])
def test_the_config_trains(tmp_path, kind):
    nlp = spacy.blank("en")
    overrides = []
    if kind == "jsonl":
        path = tmp_path / "train.jsonl"
        lines = [json.dumps({"title": t, "text": x}) for t, x in TEXTS.items()]
        path.write_text("\n".join(lines))
    else:
        path = tmp_path / "train.spacy"
        docs = [example.reference for example in examples(nlp)]
        DocBin(store_user_data=True, docs=docs).to_disk(path)
        for corpus in ("train", "dev"):
            overrides += [f"--corpora.{corpus}.@readers", "spacy.Corpus.v1"]
    command = [
        sys.executable, "-m", "spacy", "train", str(CONFIGS / "headline_generator.cfg"),
        "--output", str(tmp_path / "out"), "--paths.train", str(path), "--paths.dev", str(path),
        *overrides,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    loaded = spacy.load(tmp_path / "out" / "model-best")
    assert loaded(TEXTS["Binary search"])._.headlines
    assert loaded.meta["performance"]["headline_rougeL"] > 0.5


def test_broken_weights_are_named_not_decoded():
    nlp = blank(length=2)
    model = nlp.get_pipe("headline_generator").model
    model.set_param("weights", np.full_like(model.get_param("weights"), np.nan))
    with pytest.raises(ProblemError, match="model"):
        nlp(TEXTS["Hash tables"])


def test_a_sourced_component_writes_the_same(trained):
    other = spacy.blank("en", vocab=trained.vocab)
    other.add_pipe("headline_generator", source=trained)
    text = TEXTS["Hash tables"]
    assert other(text)._.headline == trained(text)._.headline


def test_the_default_budget_counts_work_not_seconds():
    given = []

    class Noting(ExactPath):
        def decode_lengths(self, problem, lengths, *, budget):
            given.append(budget)
            return super().decode_lengths(problem, lengths, budget=budget)

    pipe = spacy.blank("en").add_pipe("headline_generator", config={"mode": "words"})
    pipe.decoder = Noting()
    pipe(spacy.blank("en")(TEXTS["Sorting by heaps"]))
    assert given[0].seconds is None
    assert given[0].iterations == 200
