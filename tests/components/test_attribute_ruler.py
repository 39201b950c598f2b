"""``cached_attribute_ruler`` does what spaCy's attribute ruler does."""

import random

import pytest
import spacy
from spacy.tokens import Doc

WORDS = ["The", "the", "fishes", "swim", "42", "\n", "not", "This", "x"]
TAGS = ["NN", "NNS", "VB", "DT", "CD", ""]
RELATIONS = ["det", "nsubj", "ROOT", "mark"]
MORPHS = ["", "Number=Sing", "Number=Plur|Person=3"]
SINGLE = [
    ([[{"TAG": {"IN": ["NN", "NNS"]}}]], {"POS": "NOUN"}, 0),
    ([[{"TAG": "VB"}], [{"LOWER": "swim"}]], {"POS": "VERB", "MORPH": "VerbForm=Inf"}, -1),
    ([[{"LOWER": {"IN": ["this", "the"]}, "DEP": {"NOT_IN": ["det"]}}]], {"POS": "PRON"}, 0),
    ([[{"MORPH": {"REGEX": "^(?!.*Number=)"}, "TAG": "NNS"}]], {"MORPH": "Number=Plur"}, 0),
    ([[{"TEXT": {"REGEX": "^T"}}]], {"LEMMA": "capital"}, 0),
    ([[{"IS_SPACE": True}]], {"POS": "SPACE", "MORPH": ""}, 0),
    ([[{"POS": "NUM"}]], {"TAG": "CD"}, 0),
    ([[{"LENGTH": {">=": 6}}]], {"LEMMA": "long"}, 0),
]
BEYOND = [
    ([[{"LOWER": "the"}, {"TAG": "NN"}]], {"POS": "PROPN"}, 1),
    ([[{"LOWER": "not", "OP": "+"}]], {"POS": "PART"}, 0),
    ([[{"ENT_TYPE": "PER"}]], {"POS": "PROPN"}, 0),
    ([[{"LOWER": "x"}]], {"DEP": "dep"}, 0),
]


def documents(vocab, count: int = 60) -> list[Doc]:
    rng = random.Random(3)
    docs = []
    for _ in range(count):
        size = rng.randrange(9)
        docs.append(
            Doc(
                vocab,
                words=rng.choices(WORDS, k=size),
                tags=rng.choices(TAGS, k=size),
                pos=rng.choices(["", "NUM", "VERB"], k=size),
                morphs=rng.choices(MORPHS, k=size),
                deps=rng.choices(RELATIONS, k=size),
                heads=[max(0, place - 1) for place in range(size)],
            )
        )
    return docs


def outcome(doc: Doc) -> list[tuple[str, ...]]:
    return [(t.tag_, t.pos_, str(t.morph), t.lemma_, t.dep_) for t in doc]


@pytest.mark.parametrize("rules", [SINGLE, *([*SINGLE, rule] for rule in BEYOND)])
def test_results_are_those_of_spacy(rules):
    nlp = spacy.blank("en")
    pipes = [nlp.add_pipe(name) for name in ("cached_attribute_ruler", "attribute_ruler")]
    for pipe in pipes:
        for patterns, attrs, index in rules:
            pipe.add(patterns, attrs, index)
    assert pipes[0].patterns == pipes[1].patterns
    changed = 0
    for ours, theirs, given in zip(*(documents(nlp.vocab) for _ in range(3)), strict=True):
        assert outcome(pipes[0](ours)) == outcome(pipes[1](theirs))
        assert [t.has_morph() for t in ours] == [t.has_morph() for t in theirs]
        changed += outcome(ours) != outcome(given)
    assert changed > 40


def test_a_pattern_added_later_counts():
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("cached_attribute_ruler")
    ruler.add([[{"LOWER": "fish"}]], {"POS": "NOUN"})
    assert nlp("fishes")[0].pos_ == ""
    ruler.add([[{"LOWER": "fishes"}]], {"POS": "NOUN"})
    assert nlp("fishes")[0].pos_ == "NOUN"
    ruler.add([[{"LOWER": "fishes"}]], {"POS": "VERB"})
    assert nlp("fishes")[0].pos_ == "VERB"
    ruler.clear()
    ruler.add([[{"LOWER": "fish"}]], {"POS": "NOUN"})
    assert nlp("fishes")[0].pos_ == ""


def test_it_is_saved_with_its_patterns_and_errors_go_to_the_handler(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("cached_attribute_ruler").add([[{"TAG": "NN"}]], {"POS": "NOUN"}, 0)
    nlp.to_disk(tmp_path)
    ruler = spacy.load(tmp_path).get_pipe("cached_attribute_ruler")
    assert ruler.patterns == nlp.get_pipe("cached_attribute_ruler").patterns
    failed = []
    ruler.set_error_handler(lambda name, pipe, docs, error: failed.append((name, error)))
    ruler.match = None
    doc = Doc(ruler.vocab, words=["fish"])
    assert ruler(doc) is doc and failed[0][0] == "cached_attribute_ruler"
