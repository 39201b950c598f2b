"""Callbacks of configs: weights from another pipeline, products by another library."""

from __future__ import annotations

import numpy as np
import pytest
import spacy
from spacy.training import Example
from thinc.api import NumpyOps, get_current_ops, use_ops

from spacy_decoders import ProblemError
from spacy_decoders.models.layers import layers_of
from spacy_decoders.registry.callbacks import copy_tok2vec


def pipeline(width=16):
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": width, "depth": 1}
    tok2vec |= {"embed_size": 50, "window_size": 1, "maxout_pieces": 2, "subword_features": True}
    tok2vec["pretrained_vectors"] = None
    model = {"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": tok2vec}
    nlp.add_pipe("exact_tagger", config={"model": model})
    doc = nlp.make_doc("dogs bark")
    example = Example.from_dict(doc, {"tags": ["NNS", "VBP"]})
    nlp.initialize(lambda: [example])
    return nlp, example


def parameters(nlp):
    layers = nlp.get_pipe("exact_tagger").model.get_ref("tok2vec").walk()
    return [layer.get_param(name) for layer in layers for name in layer.param_names]


def test_weights_of_half_precision_are_copied_and_trained(tmp_path):
    source, _ = pipeline()
    for layer in source.get_pipe("exact_tagger").model.walk():
        for name in layer.param_names:
            layer.set_param(name, np.full_like(layer.get_param(name), 0.5, dtype=np.float16))
    source.to_disk(tmp_path / "half")
    nlp, example = pipeline()
    copy_tok2vec(str(tmp_path / "half"), "exact_tagger", "exact_tagger")(nlp)
    for value in parameters(nlp):
        assert value.dtype == np.float32
        assert (value == 0.5).all()
    before = [value.copy() for value in parameters(nlp)]
    nlp.update([example], sgd=nlp.resume_training())
    after = parameters(nlp)
    assert any((x != y).any() for x, y in zip(before, after, strict=True))


def test_another_shape_is_refused(tmp_path):
    pipeline(width=24)[0].to_disk(tmp_path / "wider")
    nlp, _ = pipeline()
    with pytest.raises(ProblemError, match="of another shape"):
        copy_tok2vec(str(tmp_path / "wider"), "exact_tagger", "exact_tagger")(nlp)


def test_nothing_to_copy_from_leaves_the_weights():
    nlp, _ = pipeline()
    assert copy_tok2vec(None, "exact_tagger", "exact_tagger")(nlp) is nlp


FAST = {"@callbacks": "spacy-decoders.FastProducts.v1"}


def test_fast_products_are_those_of_one_pipeline(tmp_path):
    config = pipeline()[0].config.copy()
    config["nlp"]["after_pipeline_creation"] = FAST
    nlp = spacy.blank("en").from_config(config)
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a b"), {"tags": ["X", "Y"]})])
    nlp.to_disk(tmp_path)
    for fast in (nlp, spacy.load(tmp_path)):
        assert not any(layer.ops.use_blis for layer in layers_of(fast))
    assert get_current_ops().use_blis and all(
        layer.ops.use_blis for layer in layers_of(pipeline()[0])
    )


def test_before_creation_fast_products_are_those_of_the_process():
    config = pipeline()[0].config.copy()
    config["nlp"]["before_creation"] = FAST
    with use_ops("numpy"):
        nlp = spacy.blank("en").from_config(config)
        assert not get_current_ops().use_blis
    assert not any(layer.ops.use_blis for layer in layers_of(nlp))
    assert isinstance(get_current_ops(), NumpyOps) and get_current_ops().use_blis
