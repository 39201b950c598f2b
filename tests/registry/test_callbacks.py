"""Callbacks of configs: products by another library."""

from __future__ import annotations

import spacy
from spacy.training import Example
from thinc.api import get_current_ops

from spacy_decoders.models.layers import layers_of


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
