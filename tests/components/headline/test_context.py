"""The headline generator with token vectors."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.models.headline.phrase_scorer import context_scorer_of
from tests.components.headline.titled import TEXTS, blank, examples, plain

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 16,
    "depth": 1,
    "embed_size": 200,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
TENSORS = {"@architectures": "spacy-decoders.TensorVectors.v1", "width": 3, "absent": 0.0}
LISTENER = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": 16,
    "upstream": "*",
}


def model_of(tok2vec) -> dict:
    return {"@architectures": "spacy-decoders.PhraseSelection.v1", "tok2vec": tok2vec}


def fitted(**config):
    nlp = blank(model=model_of(TOK2VEC), **config)
    nlp.initialize(lambda: examples(nlp))
    return nlp


@pytest.fixture(scope="module")
def with_vectors():
    return fitted(n_best=3)


def test_vectors_are_fitted_with_the_rest(with_vectors):
    context = context_scorer_of(with_vectors.get_pipe("headline_generator").model)
    assert np.abs(context.get_param("output")).max() > 0
    scores = with_vectors.evaluate(examples(with_vectors))
    assert scores["headline_rougeL"] > 0.6
    assert scores["certified"] == 1.0


def test_training_twice_gives_the_same(with_vectors):
    again = fitted(n_best=3)
    for text in TEXTS.values():
        assert plain(again(text)) == plain(with_vectors(text))


def test_bytes_disk_and_worker_processes(with_vectors, tmp_path):
    texts = list(TEXTS.values())
    expected = [plain(with_vectors(text)) for text in texts]
    with_vectors.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [plain(doc) for doc in loaded.pipe(texts, n_process=2)] == expected
    other = blank(model=model_of(TOK2VEC), n_best=3)
    assert other(texts[0])._.headline  # by features alone, until it is trained
    other.from_bytes(with_vectors.to_bytes())
    assert [plain(doc) for doc in other.pipe(texts)] == expected


def test_spans_and_empty_documents(with_vectors):
    text = TEXTS["Hash tables"]
    assert [doc._.headline for doc in with_vectors.pipe(["", ". .", text])][:2] == ["", ""]
    nlp = fitted(spans_key="parts")
    doc = nlp.make_doc(text + " " + TEXTS["Binary search"])
    doc.spans["parts"] = [doc[:18], doc[18:], doc[:2]]
    doc = nlp(doc)
    assert all(span._.headline for span in doc.spans["parts"])


def test_updating_with_vectors_lowers_the_loss():
    nlp = blank(model=model_of(TOK2VEC))
    optimizer = nlp.initialize(lambda: examples(nlp))
    context = context_scorer_of(nlp.get_pipe("headline_generator").model)
    rng = np.random.default_rng(0)
    context.set_param("output", rng.normal(size=96).astype("f"))
    vectors = context.get_ref("tok2vec").predict([nlp.make_doc("heap")])[0]
    first = nlp.update(examples(nlp), sgd=optimizer, drop=0.1)["headline_generator"]
    for _ in range(50):
        last = nlp.update(examples(nlp), sgd=optimizer)["headline_generator"]
    assert 0 < last < first < 1
    after = context.get_ref("tok2vec").predict([nlp.make_doc("heap")])[0]
    assert np.abs(vectors - after).max() > 1e-3


def test_a_shared_network_learns_from_headlines():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("headline_generator", config={"model": model_of(LISTENER)})
    batch = examples(nlp)
    batch[1].reference._.headline = ""
    optimizer = nlp.initialize(lambda: examples(nlp))
    before = nlp.get_pipe("tok2vec").model.predict([nlp.make_doc("heap")])[0]
    first = nlp.update(batch, sgd=optimizer)["headline_generator"]
    for _ in range(30):
        last = nlp.update(batch, sgd=optimizer)["headline_generator"]
    assert last < first
    after = nlp.get_pipe("tok2vec").model.predict([nlp.make_doc("heap")])[0]
    assert np.abs(before - after).max() > 1e-3
    assert nlp(TEXTS["Hash tables"])._.headline


def test_the_parsers_vectors_are_read_from_the_tensor():
    nlp = blank(model=model_of(TENSORS))
    made = examples(nlp)
    for example in made:
        example.predicted.tensor = np.ones((len(example.predicted), 3), dtype="f")
    nlp.initialize(lambda: made)
    pipe = nlp.get_pipe("headline_generator")
    assert np.abs(context_scorer_of(pipe.model).get_param("output")).max() > 0

    def score(value: float) -> float:
        doc = Doc(nlp.vocab, words=["hash", "tables"])
        doc.tensor = np.full((2, 3), value, dtype="f")
        (scored,) = pipe.predict([doc])[0]
        return float(scored.phrases.scores[0])

    assert score(1.0) != score(-1.0)
    assert nlp(TEXTS["Hash tables"])._.headline
