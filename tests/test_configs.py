"""The configs that ship are valid as they are, and what they make can be trained on."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import spacy
from spacy.cli.debug_config import debug_config
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from typer.testing import CliRunner

from spacy_decoders import ProblemError
from tests.corpora import columns, conllu, iob2

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.cfg"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_spacy_finds_nothing_to_debug(path, capsys):
    if path.stem.startswith("transformer") and find_spec("spacy_curated_transformers") is None:
        pytest.skip("needs the extra 'transformers'")
    debug_config(path)
    assert "Config is valid" in capsys.readouterr().out


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A few sentences in each of the formats that configs read."""
    folder = tmp_path_factory.mktemp("corpora")
    for ending, text in (("conllu", conllu()), ("tsv", columns()), ("iob2", iob2())):
        (folder / f"corpus.{ending}").write_text(text)
    nlp = spacy.blank("en")
    doc = nlp("Jaguar builds cars in Coventry.")
    doc.ents = [doc.char_span(0, 6, "ORG", kb_id="jaguar_cars")]
    DocBin(docs=[doc] * 10).to_disk(folder / "corpus.spacy")
    text = "Cats sleep in the house. Old cats sleep more than mice do."
    line = json.dumps({"title": "Cats sleep", "text": text})
    (folder / "corpus.jsonl").write_text(f"{line}\n" * 10)
    return folder


def can_be_trained_on(nlp, folder):
    """Save what a config made, load it, and go on training as spaCy's documentation says."""
    nlp.to_disk(folder)
    found = CliRunner().invoke(spacy.cli.app, ["debug", "data", str(folder / "config.cfg")])
    assert isinstance(found.exception, SystemExit | None), found.output  # it finds data too few
    loaded = spacy.load(folder)
    loaded.create_optimizer()
    optimizer = loaded.resume_training()
    heads, deps, tags = [1, 1, 3, 1], ["nsubj", "root", "amod", "obj"], ["NNP", "VBZ", "JJ", "NNS"]
    gold = {"heads": heads, "deps": deps, "tags": tags, "entities": ["U-PER", "O", "O", "O"]}
    example = Example.from_dict(loaded.make_doc("Kim wakes old cats"), gold)
    example.reference._.headline = "Kim wakes cats"
    loaded.update([example], sgd=optimizer)


ENDINGS = {"joint_tagger": "tsv", "fast_joint": "tsv", "fast_entities": "iob2"}
ENDINGS |= {"graph_entity_linker": "spacy", "headline_generator": "jsonl"}


@pytest.mark.filterwarnings("ignore:.*W:UserWarning")
@pytest.mark.parametrize(
    "path",
    [path for path in CONFIGS if not path.stem.startswith("transformer")],
    ids=lambda path: path.stem,
)
def test_training_goes_on_from_what_a_config_made(path, corpora, tmp_path):
    corpus = str(corpora / f"corpus.{ENDINGS.get(path.stem, 'conllu')}")
    overrides = {"paths.train": corpus, "paths.dev": corpus}
    nlp = init_nlp(spacy.util.load_config(path, overrides=overrides))
    can_be_trained_on(nlp, tmp_path / "model")
    weights = nlp.config["training"]["score_weights"]  # of nothing that is not tagged
    scores = {"tag": "tag_acc", "pos": "pos_acc", "morph": "morph_acc", "ent": "ents_f"}
    for name in nlp.pipe_names:
        target = nlp.get_pipe_config(name).get("target", list(scores))
        others = scores.keys() - ({target} if isinstance(target, str) else set(target))
        assert not any(weights.get(scores[of]) for of in others)


@pytest.mark.parametrize(
    "path",
    [path for path in CONFIGS if path.stem.startswith(("fast", "wide"))],
    ids=lambda p: p.stem,
)
def test_other_languages_train_without_clusters(path, corpora):
    corpus = str(corpora / f"corpus.{ENDINGS.get(path.stem, 'conllu')}")
    overrides = {"paths.train": corpus, "paths.dev": corpus, "nlp.lang": "da"}
    config = spacy.util.load_config(path, overrides=overrides)
    with pytest.raises(ProblemError, match=r"none ship for 'da'.*`clusters = null`"):
        init_nlp(config)
    name = config["nlp"]["pipeline"][0]
    overrides[f"components.{name}.model.clusters"] = None
    nlp = init_nlp(spacy.util.load_config(path, overrides=overrides))
    assert nlp.get_pipe(name).labels
