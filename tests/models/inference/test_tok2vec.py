"""Token vectors without training are those of thinc's layers, whatever changes in between."""

import numpy as np
import pytest
import spacy
from spacy.ml import models
from thinc.api import Adam, fix_random_seed

from spacy_decoders.models.bilstm import BiLSTM
from spacy_decoders.models.clusters.embed import build_cluster_embed
from spacy_decoders.models.clusters.table import ClusterTable
from spacy_decoders.models.inference.tok2vec import Tok2VecInference
from spacy_decoders.models.parser.arc_scorer import ArcScorer, set_sizes

WIDTH = 8
TEXTS = ["So it goes.", "", "I can't say that it goes so well in Rome, can I?", "Rome", " \n\n so"]


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def docs(nlp):
    return [nlp(text) for text in TEXTS]


def hashed():
    attributes = ["NORM", "PREFIX", "SHAPE", "ORTH"]
    return models.MultiHashEmbed(WIDTH, attributes, [50] * 4, include_static_vectors=False)


class Clusters:
    def read(self):
        return ClusterTable.of({"Rome": 0b1011, "goes": 0b0110})


EMBED = {
    "hashes": (hashed, True),
    "clusters": (lambda: build_cluster_embed(hashed(), Clusters(), WIDTH, 20, 4), True),
    "characters": (lambda: models.CharacterEmbed(WIDTH, 20, 4, 5, False), False),
}
ENCODE = {
    "maxout": (lambda: models.MaxoutWindowEncoder(WIDTH, 1, 3, 3), True),
    "one layer": (lambda: models.MaxoutWindowEncoder(WIDTH, 1, 2, 1), True),
    "wide": (lambda: models.MaxoutWindowEncoder(WIDTH, 2, 3, 2), True),
    "mish": (lambda: models.MishWindowEncoder(WIDTH, 1, 2), False),
    "lstm": (lambda: BiLSTM(WIDTH, WIDTH // 2), False),
}


def built(docs, embed="clusters", encode="maxout"):
    fix_random_seed(0)
    tok2vec = models.build_Tok2Vec_model(EMBED[embed][0](), ENCODE[encode][0]())
    tok2vec.initialize(X=docs)
    rng = np.random.default_rng(1)
    for node in tok2vec.walk():  # no parameter stays at zero or one
        for name in node.param_names:
            given = node.get_param(name)
            node.set_param(name, given + 0.2 * rng.normal(size=given.shape).astype("f"))
    return tok2vec


def assert_same(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, atol=2e-4)  # a matrix unit has five digits


@pytest.mark.parametrize("encode", ENCODE)
@pytest.mark.parametrize("embed", EMBED)
def test_vectors_are_those_of_the_layers(docs, embed, encode):
    tok2vec, inference = built(docs, embed, encode), Tok2VecInference()
    for given in (docs, docs[::-1], docs[:1], docs[2:]):
        assert_same(inference.predict(tok2vec, given), tok2vec.predict(given))
    assert [array.shape for array in inference.predict(tok2vec, docs[1:2])] == [(0, WIDTH)]
    assert inference.predict(tok2vec, []) == []
    plan = inference._plan
    assert (plan.words is not None) == EMBED[embed][1]
    assert (plan.encoder is not None) == ENCODE[encode][1]


def test_documents_of_several_vocabularies(docs):
    tok2vec = built(docs)
    others = [spacy.blank("en")("Nobody knows Zhubania."), spacy.blank("en")("Rome goes west.")]
    found = Tok2VecInference().predict(tok2vec, [docs[0], *others])
    expected = [Tok2VecInference().predict(tok2vec, [doc])[0] for doc in others]
    for given, alone in zip(found[1:], expected, strict=True):
        np.testing.assert_allclose(given, alone, atol=1e-5)


def changed_by_training(tok2vec, inference, docs):
    _, backprop = tok2vec.begin_update(docs)
    inference.predict(tok2vec, docs)  # as an annotating component does, before the optimizer
    backprop([np.ones((len(doc), WIDTH), "f") for doc in docs])
    tok2vec.finish_update(Adam(0.5))


def changed_by_loading(tok2vec, inference, docs):
    other = built(docs)
    for node in other.walk():
        if node.has_param("E"):
            node.set_param("E", node.get_param("E") * 2)
    tok2vec.from_bytes(other.to_bytes())


def changed_for_a_while(tok2vec, inference, docs):
    averages = {
        (node.id, name): node.get_param(name) * 0.5
        for node in tok2vec.walk()
        for name in node.param_names
    }
    with tok2vec.use_params(averages):
        assert_same(inference.predict(tok2vec, docs), tok2vec.predict(docs))


def changed_clusters(tok2vec, inference, docs):
    for node in tok2vec.walk():
        for shim in node.shims:
            shim.table = ClusterTable.of({"Rome": 0b01, "so": 0b10})


@pytest.mark.parametrize(
    "change", [changed_by_training, changed_by_loading, changed_for_a_while, changed_clusters]
)
def test_vectors_follow_the_parameters(docs, change):
    tok2vec, inference = built(docs), Tok2VecInference()
    before = [array.copy() for array in inference.predict(tok2vec, docs)]
    change(tok2vec, inference, docs)
    found = inference.predict(tok2vec, docs)
    assert_same(found, tok2vec.predict(docs))
    same = all(np.allclose(a, b, atol=1e-4) for a, b in zip(found, before, strict=True))
    assert same == (change is changed_for_a_while)


def test_a_parser_predicts_by_what_it_has_learnt(docs):
    given = docs[:1]
    model = ArcScorer(built(given), lstm_width=4, factor_rows=16)
    set_sizes(model, 3, 3)
    model.initialize()
    for node in model.walk():
        if "dropout_rate" in node.attrs:
            node.attrs["dropout_rate"] = 0.0
    optimizer = Adam(0.5)
    for _ in range(3):
        found = model.predict(given)
        expected, backprop = model.begin_update(given)
        np.testing.assert_allclose(found, expected, atol=1e-4)
        model.predict(given)  # as an annotating component does, before the optimizer
        backprop(np.ones_like(expected))
        model.finish_update(optimizer)
