"""The pipeline that ships: what it sets, and what `load` refuses."""

import re
import sys
from importlib.metadata import requires
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from confection import ConfigValidationError
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import is_compatible_version
from spacy.vocab import Vocab

import spacy_decoders
from spacy_decoders import ProblemError
from spacy_decoders.components.parser.noun_chunks import find_noun_chunks
from tests.tables import rows

sys.path.append(str(Path(__file__).parents[1] / "projects" / "english" / "scripts"))
from pack import pack

HERE = Path(__file__).parent
RULES = Path(__file__).parents[1] / "projects" / "english" / "configs" / "parts_of_speech.json"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"language": "de"}, ProblemError, "language: only the pipeline of 'en' is shipped"),
        ({"config": 3}, ProblemError, "config: expected a dict of settings"),
        ({"disable": ["parsr"]}, ProblemError, "the pipeline has no component 'parsr', only par"),
        ({"config": {"components.tagger.margin": True}}, ConfigValidationError, "margin"),
        ({"config": {"components.tager.margins": True}}, ConfigValidationError, "tager"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        spacy_decoders.load(**arguments)


def test_packing_loses_nothing_twice_and_names_every_release_of_spacy_3_8(tmp_path, monkeypatch):
    (taken,) = (line for line in requires("spacy-decoders") if line.startswith("spacy<"))
    assert sorted(re.findall(r"[<>=]+[\d.]+", taken)) == ["<3.9", ">=3.8"]
    pack(spacy_decoders.load(), tmp_path)
    monkeypatch.setattr(spacy_decoders.bundled, "FOLDER", tmp_path)
    again = spacy_decoders.load()
    monkeypatch.undo()
    shipped, packed_again = (
        pipeline.get_pipe("parser").model.walk() for pipeline in (spacy_decoders.load(), again)
    )
    for layer, packed in zip(shipped, packed_again, strict=True):
        for name in filter(layer.has_param, layer.param_names):
            np.testing.assert_array_equal(layer.get_param(name), packed.get_param(name))
    for meta in (spacy_decoders.bundled.meta(), srsly.read_json(tmp_path / "meta.json")):
        assert is_compatible_version("3.8.0", meta["spacy_version"])
        assert is_compatible_version("3.8.999", meta["spacy_version"])
        assert not is_compatible_version("3.9.0", meta["spacy_version"])


def test_what_spacy_load_takes(shipped):
    vocab = Vocab()
    only = spacy_decoders.load(
        "en",
        vocab=vocab,
        exclude=("linker", "headline"),
        disable="entities",
        config={
            "components": {"tagger": {"margins": True}, "attribute_ruler.validate": True},
            "nlp": {"batch_size": 7},
        },
    )
    assert only.batch_size == 7
    assert only.vocab is vocab
    assert only.component_names == [
        "parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer", "entities"
    ]  # fmt: skip
    assert only.disabled == ["entities"]
    weights = only.get_pipe("parser").model.walk(), dict(only.components)["entities"].model.walk()
    for layer in chain(*weights):
        for name in filter(layer.has_param, layer.param_names):
            assert layer.get_param(name).dtype != "float16"
            # vectors of weights are in one line of the processor's cache each
            assert layer.get_param(name).ctypes.data % 64 == 0
    assert only("The old man can fish.")[0]._.tag_margin > 0
    assert spacy_decoders.load(enable="tagger").pipe_names == ["tagger"]


def test_parts_of_speech_follow_the_rules_of_the_project(shipped):
    assert list(shipped.get_pipe("attribute_ruler").patterns) == [
        {**rule, "index": 0} for rule in srsly.read_json(RULES)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("If it rains, this dog sleeps.", "SCONJ PRON VERB PUNCT DET NOUN VERB PUNCT"),
        ("Everyone did not see this.", "PRON AUX PART VERB PRON PUNCT"),
        ("She  sees him.\n\n  ", "PRON SPACE VERB PRON PUNCT SPACE"),
    ],
)
def test_parts_of_speech(shipped, text, expected):
    doc = shipped(text)
    assert [token.pos_ for token in doc] == expected.split()
    assert not any(str(token.morph) for token in doc if token.is_space)


def test_noun_chunks(shipped, tmp_path):
    text = "She gave the old, rusty dog a big bone in the man's garden."
    expected = ["She", "the old, rusty dog", "a big bone", "the man's garden"]
    assert [chunk.text for chunk in shipped(text).noun_chunks] == expected
    joined = shipped("My neighbours know the research and development center.").noun_chunks
    assert [chunk.text for chunk in joined] == [
        "My neighbours", "the research and development center"
    ]  # fmt: skip
    shipped.to_disk(tmp_path / "nlp")
    loaded = spacy.load(tmp_path / "nlp")
    assert [chunk.text for chunk in loaded(text).noun_chunks] == expected
    (doc,) = shipped.pipe([text])
    assert [chunk.text for chunk in doc[2:].noun_chunks] == expected[1:]
    with pytest.raises(ValueError, match="E029"):
        list(find_noun_chunks(shipped.make_doc("Cats sleep.")))


@pytest.mark.parametrize(
    ("words", "heads", "deps", "pos", "expected"),
    [
        ("Mary Smith arrived", [2, 0, 2], "nsubj flat ROOT", "PROPN PROPN VERB", ["Mary Smith"]),
        ("cats and big dogs sleep", [4, 3, 3, 0, 4], "nsubj cc amod conj ROOT",
         "NOUN CCONJ ADJ NOUN VERB", ["cats", "big dogs"]),
        ("he sings and dances", [1, 1, 3, 1], "nsubj ROOT cc conj", "PRON VERB CCONJ NOUN",
         ["he", "dances"]),
        ("she is a doctor", [3, 3, 3, 3], "nsubj cop det ROOT", "PRON AUX DET NOUN",
         ["she", "a doctor"]),
    ],
)  # fmt: skip
def test_noun_chunks_of_given_trees(shipped, words, heads, deps, pos, expected):
    doc = Doc(shipped.vocab, words=words.split(), heads=heads, deps=deps.split(), pos=pos.split())
    assert [chunk.text for chunk in doc.noun_chunks] == expected


@pytest.mark.parametrize(
    ("text", "lemmas"),
    rows(HERE / "shipped_lemmas.tsv"),
)
def test_lemmas(shipped, text, lemmas):
    assert [token.lemma_ for token in shipped(text)] == lemmas.split()


def plain_sentences():
    """Sentences of a primer and names that everybody knows: words, tags and entities."""
    for line in (HERE / "plain_english.txt").read_text("utf8").splitlines():
        tagged, names = line.split("|")
        words, tags = zip(*(pair.rsplit("/", 1) for pair in tagged.split()), strict=True)
        yield words, tags, {name.replace("_", " ") for name in names.split()}


def test_plain_sentences(shipped):
    """What a user sees first; no part of the pipeline has been trained or tuned on them."""
    gold = list(plain_sentences())
    tags = right = found = wanted = hits = 0
    for words, of_words, names in gold:
        doc = shipped(Doc(shipped.vocab, words=words))
        named = {f"{e.text}={e.label_}" for e in doc.ents if e.label_ in ("PER", "LOC", "ORG")}
        tags += len(of_words)
        right += sum(token.tag_ == tag for token, tag in zip(doc, of_words, strict=True))
        found, wanted, hits = found + len(named), wanted + len(names), hits + len(named & names)
    assert right / tags > 0.955
    assert 2 * hits / (found + wanted) > 0.8


def test_emojis_are_symbols(shipped):
    doc = shipped("I love it ❤️ and 🇫🇷 👍🏽")
    assert [(doc[place].pos_, str(doc[place].morph)) for place in (3, 5, 6)] == [("SYM", "")] * 3


def test_white_space_parts_sentences():
    nlp = spacy_decoders.load(enable=["parser"])
    for space in ("  ", "\n"):
        doc = nlp(f"We waited for an hour.{space}Then the food came.{space}It was  cold.")
        assert len(list(doc.sents)) == 3


@pytest.mark.parametrize(
    ("text", "last"),
    rows(HERE / "web_tokens.tsv"),
)
def test_tokens_are_those_of_web_treebanks(text, last, shipped):
    tokens = [token.text for token in shipped.make_doc(text)]
    assert tokens[-len(last.split()) :] == last.split()


def test_a_few_more_examples_undo_nothing():
    nlp = spacy_decoders.load(exclude=["linker", "headline"])
    text = (
        "Apple and Microsoft met in Paris. The committee agreed. She left Lagos with John Smith."
    )
    known = [(ent.text, ent.label_) for ent in nlp(text).ents]
    assert len(known) == 5
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": [entity]})
        for text, entity in [
            ("Acme Widgets hired a manager.", (0, 12, "ORG")),
            ("We flew to Flimville.", (11, 20, "LOC")),
            ("Zorblax Quen smiled.", (0, 12, "PER")),
        ]
    ]
    with nlp.select_pipes(enable="entities"):
        nlp.update(examples, sgd=nlp.resume_training())
    assert [(ent.text, ent.label_) for ent in nlp(text).ents] == known
    assert all([*map(str, nlp(of.text).ents)] == [*map(str, of.reference.ents)] for of in examples)
