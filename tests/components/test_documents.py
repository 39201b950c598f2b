"""Every component of the pipeline that ships takes every document and every way to call it."""

import gc
import threading
from contextlib import contextmanager

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from threadpoolctl import threadpool_info, threadpool_limits

import spacy_decoders
from spacy_decoders import one_thread
from spacy_decoders.components import decoding_pipe

from .parser.parsing import NAME as PARSER
from .parser.parsing import SMALL, make_examples
from .test_sourcing import read, saved_and_read

TEXTS = {
    "empty": "",
    "one token": "Rome",
    "one blank": " ",
    "white space only": " \n\n\t  \r\n ",
    "emoji": "🎉🎉 👩‍👩‍👧 love Rome ❤️ and 🇮🇹 !!",
    "right to left": "ذهب محمد إلى القاهرة. שלום עולם.",
    "mixed scripts": "Владимир met 村上春樹 in Αθήνα, said Mary Smith.",
    "no words": "... !!! --- ???",
    "control characters": "Mary\x00Smith \x07 \u200b\u202e saw \ufeffRome.",
    "combining marks": "Z" + "\u0301" * 200 + " in Rome",
    "one long word": "a" * 20_000,
    "white space inside": "Mary    Smith \n\n\n saw   \t Rome .",
    "repeated": "Rome Rome Rome Rome. " * 20,
    "plain": "Mary Smith flew from Rome to London. She bought a jaguar there.",
}


@pytest.fixture(scope="module")
def expected(shipped):
    return {name: read(shipped(text)) for name, text in TEXTS.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text(shipped, name):
    doc = shipped(TEXTS[name])
    assert doc.text == TEXTS[name]
    for component, certificates in doc._.certificates.items():
        for certificate in certificates:
            assert certificate["status"] in {"optimal", "bounded", "heuristic", "infeasible"}, (
                component
            )
    assert read(saved_and_read(doc)) == read(doc)
    assert read(Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())) == read(doc)


@pytest.mark.parametrize("batch_size", [1, 1000])
def test_any_batch_size(shipped, expected, batch_size):
    docs = shipped.pipe(list(TEXTS.values()) * 2, batch_size=batch_size)
    assert [read(doc) for doc in docs] == list(expected.values()) * 2


@pytest.mark.parametrize("foreign", [None, "x", 5, ["x"]])
def test_foreign_values_of_our_attributes_cost_no_annotation(shipped, expected, foreign):
    doc = shipped.make_doc(TEXTS["plain"])
    for name in ("conflicts", "certificates", "margins"):
        doc._.set(name, foreign)
    assert read(shipped(doc)) == expected["plain"]


@pytest.mark.filterwarnings("ignore:.*W108")  # the lemmatizer misses the parts of speech
@pytest.mark.filterwarnings("ignore:.*doc.tensor is missing")
def test_each_component_alone(shipped):
    for name in shipped.pipe_names:
        with shipped.select_pipes(enable=name):
            for text in TEXTS.values():
                assert shipped(text).text == text


@pytest.mark.parametrize("step", ["predict", "annotate"])
@pytest.mark.parametrize("component", ["tagger", "entities", "parser", "linker", "headline"])
def test_one_bad_document_of_many_costs_one(shipped, component, step, monkeypatch):
    pipe = shipped.get_pipe(component)
    failed: list[str] = []
    whole = getattr(type(pipe), step)

    def sometimes(self, given, *decoded):
        docs = given if step == "predict" else [given]
        if self is pipe and any("poison" in doc.text for doc in docs):
            raise ValueError("bad document")
        return whole(self, given, *decoded)

    monkeypatch.setattr(type(pipe), step, sometimes)
    monkeypatch.setattr(
        pipe, "error_handler", lambda name, proc, docs, error: failed.extend(map(str, docs))
    )
    texts = [f"Mary Smith saw Rome {number} times." for number in range(30)]
    texts[17] = "This is poison."
    assert [doc.text for doc in shipped.pipe(texts)] == texts[:17] + texts[18:]
    assert failed == ["This is poison."]


@pytest.mark.parametrize("name", ["exact_tagger", "branch_and_bound_parser"])
def test_documents_without_words_behind_a_shared_tok2vec(name):
    """In training, in scoring, alone, and in the middle of a batch: they have no rows."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": SMALL["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 24, "upstream": "*"}
    tagger = {"@architectures": "spacy-decoders.ChainScorer.v1"}
    model = {**(SMALL if name == PARSER else tagger), "tok2vec": listener}
    nlp.add_pipe(name, config={"model": model, "probabilities": True, "k_best": 2})
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    none = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("", " ", "\n\n")]
    for batch in (none, none[:1], [*examples, *none, *examples]):
        nlp.update(batch, sgd=optimizer)
    assert nlp.evaluate(none)["certified"] in (None, 1.0)
    texts = ["", "he sleeps .", " ", "she eats", "\n\n"]
    assert [read(doc) for doc in nlp.pipe(texts)] == [read(nlp(text)) for text in texts]


def test_threads_share_a_pipeline(shipped, expected):
    found: list[dict] = [{} for _ in range(4)]

    def work(mine):
        for name, text in TEXTS.items():
            mine[name] = read(shipped(text))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_a_batch_takes_one_turn_on_one_thread(shipped, monkeypatch):
    turns = []

    @contextmanager
    def turn():
        turns.append("begins")
        with one_thread.one_thread():
            yield
        turns.append("ends")

    def threads():
        assert not gc.isenabled()
        return max(of["num_threads"] for of in threadpool_info() if of["user_api"] == "blas")

    entities = shipped.get_pipe("entities")
    docs = [shipped.make_doc("Rome") for _ in range(5)]
    annotate = entities.annotate
    monkeypatch.setattr(decoding_pipe, "one_thread", turn)
    monkeypatch.setattr(entities, "annotate", lambda *of: turns.append(threads()) or annotate(*of))
    one_thread._libraries.cache_clear()  # of all that are loaded by now
    with threadpool_limits(limits=2, user_api="blas"):
        assert list(entities.pipe(docs)) == docs
    assert turns == ["begins", *[1] * 5, "ends"] and gc.isenabled()


def test_batches_end_at_some_thousand_words(monkeypatch):
    """So that memory does not depend on `batch_size`; and the answers stay the same."""
    nlp = spacy_decoders.load(enable=["parser"])
    texts = ["The old man can fish.", "", "Cats chase mice.", "Dogs sleep."] * 3
    expected = [doc.to_json() for doc in nlp.pipe(texts, batch_size=50)]
    parser, sizes = nlp.get_pipe("parser"), []
    predict = parser.predict
    monkeypatch.setattr(type(parser), "batch_words", 10)
    parser.predict = lambda docs: sizes.append(sum(map(len, docs))) or predict(docs)
    assert [doc.to_json() for doc in nlp.pipe(texts, batch_size=50)] == expected
    assert len(sizes) > 3 and max(sizes) < 10 + 6
