"""Vectors that the parser wrote to ``doc.tensor``, read by a tagger behind it."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_decoders import ProblemError
from spacy_decoders.models.tagger.tensors import build_tensor_vectors
from tests.components.parser.parsing import bare, make_examples, make_nlp

WIDTH = 16  # both directions of the LSTM of `parsing.SMALL`


def with_tagger(nlp, steps=15, **model):
    """Add a wide and deep tagger over the vectors of a trained parser."""
    model = {"@architectures": "spacy-decoders.SparseChainScorer.v1", "bits": 12, **model}
    model["tok2vec"] = {"@architectures": "spacy-decoders.TensorVectors.v1", "width": WIDTH}
    nlp.add_pipe("exact_tagger", config={"model": model})
    golds = make_examples(nlp)
    with nlp.select_pipes(enable=["exact_tagger"]):
        nlp.initialize(lambda: golds)
    for example in golds:
        nlp.get_pipe("branch_and_bound_parser")(example.predicted)
    for _ in range(steps):
        nlp.update(golds, sgd=Adam(0.01), exclude=["branch_and_bound_parser"])
    return nlp


def test_a_tagger_reads_the_vectors_of_the_parser(tmp_path):
    nlp = with_tagger(make_nlp(tensor=True), templates=["kind[0]"])  # which tells no word
    golds = [example.reference for example in make_examples(nlp)]
    docs = [nlp(bare(gold)) for gold in golds]
    assert [[t.tag_ for t in doc] for doc in docs] == [[t.tag_ for t in gold] for gold in golds]
    assert docs[0].tensor.shape == (len(docs[0]), WIDTH)
    assert docs[0].tensor.base is None  # and not the whole batch's
    docs[0].tensor = np.zeros((len(docs[0]) + 1, WIDTH), "float32")  # as `retokenize` leaves it
    assert nlp(docs[0]).tensor.any()
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    found = list(again.pipe(bare(gold) for gold in golds))
    assert [[t.tag_ for t in doc] for doc in found] == [[t.tag_ for t in doc] for doc in docs]
    with pytest.warns(UserWarning, match="in training, name it in annotating_components"):
        nlp.update(make_examples(nlp), exclude=["branch_and_bound_parser"])


def test_without_the_parser_the_hashed_features_stand_alone():
    nlp = with_tagger(make_nlp(tensor=True), steps=30, templates=["lower[0]"])
    gold = make_examples(nlp)[0].reference
    with nlp.select_pipes(enable=["exact_tagger"]):
        with pytest.warns(UserWarning, match="exact_tagger: doc.tensor is missing.* Enable that"):
            doc = nlp(bare(gold))
        list(nlp.pipe([bare(gold)]))  # said once
        other = bare(gold)
        other.tensor = np.ones((len(other), 3), dtype="float32")
        sourced = spacy.blank("en")
        sourced.add_pipe("exact_tagger", source=nlp)
        with pytest.warns(UserWarning, match=rf"3\), not .*{WIDTH}\).* behind it"):
            sourced(Doc(sourced.vocab).from_bytes(other.to_bytes()))
    assert not doc.tensor.size
    assert [t.tag_ for t in doc] == [t.tag_ for t in gold]


def test_a_listener_without_its_tok2vec_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    model = {"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": listener}
    nlp.add_pipe("exact_tagger", config={"model": model})
    golds = make_examples(nlp)
    nlp.initialize(lambda: golds)
    assert nlp("They fish.")[0].tag_
    with (
        nlp.select_pipes(disable=["tok2vec"]),
        pytest.warns(UserWarning, match=r"guesses without. Enable that component \(tok2vec"),
    ):
        nlp("They fish.")


def test_vectors_are_left_out_by_chance_in_training_only():
    doc = Doc(spacy.blank("en").vocab, words=["a", "b"])
    doc.tensor = np.ones((2, 8), dtype="float32")
    model = build_tensor_vectors(8, absent=0.5)
    assert all((model.predict([doc])[0] == 1).all() for _ in range(5))
    shown = [bool(model([doc], True)[0][0].any()) for _ in range(40)]
    assert any(shown) and not all(shown)
    model.attrs.update(absent=0.0, dropout_rate=0.5)
    (rows,), backprop = model([doc], True)
    assert set(np.unique(rows)) == {0.0, 2.0}
    assert backprop([rows]) == [doc]
    assert not build_tensor_vectors(9).predict([doc])[0].any()  # of another width
    doc.tensor[1, 0] = np.nan
    with pytest.raises(ProblemError, match=r"doc\.tensor: "):
        model.predict([doc])
