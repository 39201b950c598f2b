"""The parser with price-and-cut as its decoder, from a config file on."""

from __future__ import annotations

import pytest
import spacy
from spacy.util import load_config_from_str

from tests.components.parser.parsing import NAME, make_examples, parse, trees

CONFIG = """
[nlp]
lang = "en"
pipeline = ["branch_and_bound_parser"]

[components]

[components.branch_and_bound_parser]
factory = "branch_and_bound_parser"
factors = ["arcs", "grandparents"]
factors_start = 0
projective = false
seconds = null

[components.branch_and_bound_parser.decoder]
@decoders = "spacy-decoders.PriceAndCut.v1"
solver = "CBC"

[components.branch_and_bound_parser.model]
@architectures = "spacy-decoders.ArcScorer.v1"
lstm_width = 8
arc_width = 16
label_width = 8
factor_rows = 1024

[components.branch_and_bound_parser.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 24
depth = 1
embed_size = 200
window_size = 1
maxout_pieces = 2
subword_features = true
"""


@pytest.fixture(scope="module")
def nlp():
    pipeline = spacy.util.load_model_from_config(
        load_config_from_str(CONFIG), auto_fill=True, validate=True
    )
    batch = make_examples(pipeline)
    optimizer = pipeline.initialize(lambda: batch)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        pipeline.update(batch, sgd=optimizer)
    return pipeline


def test_learns_and_certifies(nlp):
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["dep_uas"] == scores["certified"] == 1.0
    doc = parse(nlp)
    assert {found["decoder"] for found in doc._.certificates[NAME]} == {"PriceAndCut"}
    again = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert trees(parse(again)) == trees(doc)
