"""The recipes over a transformer train and load: with a tiny one of random weights."""

from pathlib import Path

import pytest

# PyTorch takes hundreds of megabytes: no part of the extra `dev`
pytest.importorskip("torch", reason="needs PyTorch: pip install spacy-decoders[transformers]")
pytest.importorskip("spacy_curated_transformers")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

import spacy  # noqa: E402
from spacy.training.initialize import init_nlp  # noqa: E402
from spacy.training.loop import train  # noqa: E402
from spacy.util import load_config  # noqa: E402

from tests.projects.test_projects import conllu  # noqa: E402

CONFIGS = Path(__file__).parents[2] / "configs"
SIZES = {
    "vocab_size": 300,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "max_position_embeddings": 200,
}


@pytest.fixture
def roberta(tmp_path):
    """The folder of a tiny RoBERTa of random weights, as one from the hub."""
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator([conllu()], SIZES["vocab_size"], 1, special_tokens=special)
    tokenizer.save_model(str(tmp_path))
    config = transformers.RobertaConfig(
        **SIZES, hidden_size=16, intermediate_size=16, pad_token_id=1, type_vocab_size=1
    )
    transformers.RobertaModel(config).save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["tagger", "parser"])
def test_a_recipe_trains_and_loads(name, tmp_path, roberta):
    treebank = tmp_path / "train.conllu"
    treebank.write_text(conllu(), encoding="utf8")
    config = load_config(CONFIGS / f"transformer_{name}.cfg")
    config["paths"] = {"train": str(treebank), "dev": str(treebank), "transformer": str(roberta)}
    config["system"]["gpu_allocator"] = None
    model = config["components"]["transformer"]["model"]
    model.update(SIZES, hidden_width=16, intermediate_width=16)
    config["training"].update(max_steps=12, eval_frequency=6, accumulate_gradient=1)
    config["training"]["optimizer"]["learn_rate"]["initial_rate"] = 0.01
    (tmp_path / "training").mkdir()
    train(init_nlp(config), tmp_path / "training")
    nlp = spacy.load(tmp_path / "training" / "model-last")
    doc = nlp("Kim sleeps")
    assert doc._.certificates[name][0]["status"] == "optimal"
    if name == "tagger":
        assert all(token.tag_ for token in doc)
    else:
        assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents))
