"""The thinc model: shapes, exact gradients, and regularisation."""

import numpy as np
import pytest
import spacy
from thinc.api import Model

from spacy_decoders.components.factories.factory import HASH_EMBED_CNN
from spacy_decoders.models.tagger.scorer import ChainScores, build_chain_scorer

TOK2VEC = {**HASH_EMBED_CNN, "width": 8, "depth": 1, "embed_size": 50, "maxout_pieces": 2}
SIZE = 3


def scorer(**options) -> Model:
    model = build_chain_scorer(spacy.registry.resolve({"tok2vec": TOK2VEC})["tok2vec"], **options)
    zeros = np.zeros(SIZE, dtype="f")
    shape = ChainScores([], np.zeros((SIZE, SIZE), dtype="f"), zeros, zeros)
    model.initialize(X=docs(), Y=shape)
    return model


def docs():
    nlp = spacy.blank("en")
    return [nlp("Mercury shines brightly ."), nlp(""), nlp("It does")]


def filled(scores: ChainScores, value: float) -> ChainScores:
    emissions = [np.full_like(of_doc, value) for of_doc in scores.emissions]
    others = (scores.transitions, scores.start, scores.end)
    return ChainScores(emissions, *(np.full_like(of, value) for of in others))


def test_backprop_reaches_all_weights():
    model = scorer()
    model.get_ref("output_layer").set_param("W", np.ones((SIZE, 8), dtype="f"))
    scores, backprop = model.begin_update(docs())
    backprop(filled(scores, 1.0))
    assert (model.get_ref("chain").get_grad("transitions") == 1.0).all()
    assert (model.get_ref("chain").get_grad("start") == 1.0).all()
    # six tokens, each with a gradient of one
    assert model.get_ref("output_layer").get_grad("b").tolist() == [6.0] * SIZE
    embedding = next(node for node in model.walk() if node.name == "hashembed")
    assert embedding.get_grad("E").any()


def test_regularisation_is_paid_by_the_token():
    model = scorer(transition_l2=0.25)
    model.get_ref("chain").set_param("transitions", np.full((SIZE, SIZE), 2.0, dtype="f"))
    model.get_ref("output_layer").set_param("W", np.full((SIZE, 8), 3.0, dtype="f"))
    scores, backprop = model.begin_update(docs())
    backprop(filled(scores, 0.0))
    assert model.get_ref("chain").get_grad("transitions") == pytest.approx(6 * 0.25 * 2.0)
    assert model.get_ref("chain").get_grad("start") == pytest.approx(0.0)
    assert model.get_ref("output_layer").get_grad("W") == pytest.approx(0.0)
