"""Models of CRFsuite: the labels of CRFsuite itself, and what can be asked beyond them."""

import random
import struct
from pathlib import Path

import probablepeople
import pycrfsuite
import pytest
import spacy
import usaddress

from spacy_decoders import ProblemError
from spacy_decoders.adapt.crfsuite import CrfSuiteModel, read_model_file
from spacy_decoders.adapt.crfsuite.model import HEADER, attributes_of
from spacy_decoders.decoders.chain import marginals
from tests.adapt.addresses import addresses, names

PEOPLE = Path(probablepeople.__file__).parent
MODELS = {
    "addresses": (usaddress.MODEL_PATH, usaddress),
    "generic": (PEOPLE / "generic_learned_settings.crfsuite", probablepeople),
    "person": (PEOPLE / "person_learned_settings.crfsuite", probablepeople),
    "company": (PEOPLE / "company_learned_settings.crfsuite", probablepeople),
}


def sequences_of(package, count, seed=0):
    texts = (addresses if package is usaddress else names)(count, seed)
    return [package.tokens2features(package.tokenize(text)) for text in texts]


def tagger_of(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


@pytest.mark.parametrize("name", MODELS)
def test_the_labels_are_those_of_crfsuite(name):
    path, package = MODELS[name]
    model, tagger = CrfSuiteModel.open(path), tagger_of(path)
    sequences = sequences_of(package, 300)
    found = model.decode(model.encode(sequences))
    ours = [model.file.labels[label] for label in found.labels.tolist()]
    assert ours == [label for sequence in sequences for label in tagger.tag(sequence)]
    assert {certificate.status for certificate in found.certificates} == {"optimal"}
    assert model.tag(sequences[0]) == tagger.tag(sequences[0])


def train(path, sequences, **options):
    """Train a model on pairs of items and labels."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in sequences:
        trainer.append(items, labels)
    trainer.set_params(options)
    trainer.train(str(path))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model of our own, whose features python-crfsuite can list."""
    rng, sequences = random.Random(0), []
    for _ in range(50):
        labels = [rng.choice("ABC") for _ in range(rng.randint(1, 6))]
        items = [
            {"bias": True, "word": f"w{rng.randint(0, 9)}", "label": f"é{label}", "size": 0.5}
            for label in labels
        ]
        sequences.append((items, labels))
    path = tmp_path_factory.mktemp("model") / "own.crfsuite"
    return train(path, sequences, max_iterations=30, c2=0.1)


def test_every_weight_is_read(trained):
    file = read_model_file(trained)
    info = tagger_of(trained).info()
    assert {label: str(number) for number, label in enumerate(file.labels)} == info.labels
    assert {name: str(number) for name, number in file.attributes.items()} == info.attributes
    names, weights = list(file.attributes), file.weights.tocoo()
    states = {
        (names[source], file.labels[target]): weight
        for source, target, weight in zip(weights.row, weights.col, weights.data, strict=True)
    }
    assert states == pytest.approx(info.state_features, abs=1e-6)  # printed to six digits
    for (before, after), weight in info.transitions.items():
        read = file.transitions[file.labels.index(before), file.labels.index(after)]
        assert read == pytest.approx(weight, abs=1e-6)


def test_probabilities_are_those_of_crfsuite(trained):
    model, tagger = CrfSuiteModel.open(trained), tagger_of(trained)
    items = [{"word": "w1", "label": "éA"}, {"word": "w2"}, {"bias": True, "size": 2.0}]
    tagger.set(items)
    found = marginals(model.chain_model, model.emissions(model.encode([items])))
    for token in range(3):
        for number, label in enumerate(model.labels()):
            assert found[token, number] == pytest.approx(tagger.marginal(label, token), abs=1e-5)


def test_items_are_read_as_python_crfsuite_reads_them():
    items = [
        {"a": "b", "c": True, "d": 2.5, "e": {"f": "g", "h": 1.5}, "l": ["x", "y"], "s": {"p"}},
        ["z", "w"],
        {"a:b": 1.0, "é": False},
    ]
    for item, theirs in zip(items, pycrfsuite.ItemSequence(items).items(), strict=True):
        assert dict(attributes_of(item)) == theirs
    with pytest.raises(ProblemError, match="type NoneType"):
        list(attributes_of({"a": None}))


def test_a_fitted_model_of_sklearn_crfsuite_is_read():
    crf = pytest.importorskip("sklearn_crfsuite").CRF(max_iterations=20)
    items = [[{"word": "a"}, {"word": "b"}], [{"word": "b"}]]
    crf.fit(items, [["A", "B"], ["B"]])
    model = CrfSuiteModel.open(crf)
    assert [model.tag(sequence) for sequence in items] == [list(y) for y in crf.predict(items)]


def test_damaged_files_are_refused(trained):
    content = trained.read_bytes()
    files = [b"", b"no model" * 10, content[:-1], b"x" + content[1:], content[:100]]
    offsets = HEADER.unpack_from(content)[8:10]
    counts = [(20, 0x7FFFFFFF), (24, 0x7FFFFFFF)]  # of labels and attributes
    sizes = [(offset + 4, size) for offset in offsets for size in (0, 24, 2071, 0xFFFFFFFF)]
    lists = [(offset + place, 0xFFFFFFFF) for offset in offsets for place in (16, 20)]
    for place, number in counts + sizes + lists:
        changed = bytearray(content)
        struct.pack_into("<I", changed, place, number)
        files.append(bytes(changed))
    for damaged in files:
        with pytest.raises(ProblemError, match="model file"):
            read_model_file(damaged)
    with pytest.raises(ProblemError, match="source"):
        CrfSuiteModel.open(3)


def test_a_damaged_file_never_does_worse_than_be_refused(trained):
    """Any byte may be wrong: what is read then is a model, or an error of ours."""
    content = trained.read_bytes()
    rng = random.Random(0)
    for _ in range(600):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            model = CrfSuiteModel.open(bytes(changed))
        except ProblemError:
            continue
        model.tag([{"word": "w1"}])


# --- the component


def word_features():
    return lambda doc: [{"word": token.text, "label": f"é{token.shape_}"} for token in doc]


@pytest.fixture(scope="module")
def entity_model(tmp_path_factory):
    """A model of BIO labels that hardly knows which may follow which."""
    path = tmp_path_factory.mktemp("entities") / "own.crfsuite"
    items = [{"word": word} for word in ("Ann", "Smith", "saw", "Rome")]
    sequences = [(items, ["B-PER", "I-PER", "O", "B-LOC"]), (items[2:3], ["O"])]
    return train(path, sequences * 10, max_iterations=20)


@pytest.fixture
def registered():
    spacy.registry.misc("test_word_features.v1")(lambda: word_features())
    return {"@misc": "test_word_features.v1"}


def test_a_pipeline_tags_with_a_model(trained, registered, tmp_path):
    nlp = spacy.blank("en")
    config = {"path": str(trained), "features": registered, "margins": True}
    nlp.add_pipe("crfsuite_tagger", config=config)
    doc = nlp("w1 w2 w3")
    theirs = tagger_of(trained).tag(word_features()(doc))
    assert [token.tag_ for token in doc] == theirs
    assert doc._.certificates["crfsuite_tagger"][0]["status"] == "optimal"
    assert doc[0]._.tag_margin > 0
    spaced = nlp("w1  w2\nw3 \n")
    words = [token for token in spaced if token.tag_ != "_SP"]
    assert [(token.text, token.tag_) for token in words] == [(t.text, t.tag_) for t in doc]
    assert [token._.tag_margin for token in words] == [token._.tag_margin for token in doc]
    assert nlp(" ")[0].tag_ == "_SP"
    nlp.config["components"]["crfsuite_tagger"]["path"] = "gone"
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert [token.tag_ for token in again("w1 w2 w3")] == theirs
    same = spacy.blank("en")
    same.add_pipe("crfsuite_tagger", config={"features": registered})
    assert [token.tag_ for token in same.from_bytes(nlp.to_bytes())("w1 w2 w3")] == theirs


def test_entities_of_a_pipeline_are_legal(entity_model, registered):
    nlp = spacy.blank("en")
    config = {"path": str(entity_model), "features": registered, "target": "ent"}
    nlp.add_pipe("crfsuite_tagger", config=config)
    doc = nlp("Ann Smith saw Rome")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Ann Smith", "PER"), ("Rome", "LOC")]
    # by itself a surname is the end of a name that did not begin
    assert tagger_of(entity_model).tag([{"word": "Smith"}]) == ["I-PER"]
    assert nlp("Smith")[0].ent_iob_ != "I"
    assert nlp("").ents == nlp(" ").ents == ()
    # the features of white space are those of a place
    component = nlp.get_pipe("crfsuite_tagger")
    component.features = lambda doc: [{"word": token.text.strip() or "Rome"} for token in doc]
    assert [ent.text for ent in nlp("\n\nRome  ").ents] == ["Rome"]
    nlp.get_pipe("crfsuite_tagger").margins = True
    assert nlp("saw")[0]._.tag_margin > 0
