"""The names of models in config files."""

import spacy


def test_every_model_has_a_name():
    tok2vec = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 8,
        "depth": 1,
        "embed_size": 10,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": False,
    }
    for name, options, model in (
        ("ChainScorer", {"tok2vec": tok2vec}, "chain_scorer"),
        ("ArcScorer", {"tok2vec": tok2vec, "factor_rows": 16}, "arc_scorer"),
        ("BiLSTM", {"width": 8, "lstm_width": 4}, "bilstm"),
        ("WordSelection", {}, "word_selection"),
        ("LinkWeights", {}, "link_weights"),
    ):
        block = {"@architectures": f"spacy-decoders.{name}.v1", **options}
        assert spacy.registry.resolve({"model": block})["model"].name == model
