"""The recipes over a transformer train and load: with a tiny one of random weights."""

import json
from pathlib import Path

import pytest

# PyTorch takes hundreds of megabytes: no part of the extra `dev`
pytest.importorskip("torch", reason="needs PyTorch: pip install spacy-decoders[transformers]")
pytest.importorskip("spacy_curated_transformers")
pytestmark = pytest.mark.filterwarnings("ignore")

import spacy  # noqa: E402
from spacy.training.initialize import init_nlp  # noqa: E402
from spacy.training.loop import train  # noqa: E402
from spacy.util import load_config  # noqa: E402

from tests.projects.test_projects import conllu  # noqa: E402

CONFIGS = Path(__file__).parents[2] / "configs"
TINY = {
    "vocab_size": 260,
    "hidden_width": 16,
    "intermediate_width": 16,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "max_position_embeddings": 200,
}


@pytest.fixture
def pieces(tmp_path):
    """A byte-level vocabulary without merges, and what loads it."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = [chr(byte) for byte in printable]
    letters += [chr(256 + n) for n in range(256 - len(printable))]
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    vocabulary.update({letter: number for number, letter in enumerate(letters, start=4)})
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n", encoding="utf8")
    return {
        "@model_loaders": "spacy-curated-transformers.ByteBpeLoader.v1",
        "vocab_path": str(tmp_path / "vocab.json"),
        "merges_path": str(tmp_path / "merges.txt"),
    }


@pytest.mark.parametrize("name", ["tagger", "parser"])
def test_a_recipe_trains_and_loads(name, tmp_path, pieces):
    treebank = tmp_path / "train.conllu"
    treebank.write_text(conllu(), encoding="utf8")
    config = load_config(CONFIGS / f"transformer_{name}.cfg")
    config["paths"].update(train=str(treebank), dev=str(treebank))
    config["system"]["gpu_allocator"] = None
    config["components"]["transformer"]["model"].update(TINY)
    loaders = config["initialize"]["components"]["transformer"]
    loaders.update(encoder_loader=None, piecer_loader=pieces)
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
