"""Hand-made patterns in the component: decoded and saved."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.errors import ProblemError
from tests.components.parser.parsing import NAME, make_nlp, parse

#: "sees" with a token to its left that "the" modifies.
PATTERN = [
    {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"LOWER": {"IN": ["eats", "sees"]}}},
    {"LEFT_ID": "verb", "REL_OP": ">++", "RIGHT_ID": "noun", "RIGHT_ATTRS": {"TAG": "X"}},
    {"LEFT_ID": "noun", "REL_OP": ">--", "RIGHT_ID": "word", "RIGHT_ATTRS": {"LOWER": "red"}},
]
RED = {"name": "red object", "weight": -50.0, "pattern": PATTERN}


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(factors=[], patterns=[{"name": "it", "weight": 1.0, "pattern": PATTERN}])


@pytest.fixture
def pipe(nlp):
    pipe = nlp.get_pipe(NAME)
    patterns = pipe.patterns
    yield pipe
    pipe.patterns = patterns


def test_a_pattern_changes_the_tree(nlp, pipe):
    pipe.patterns = []
    assert [token.head.i for token in parse(nlp, [0])] == [1, 1, 4, 4, 1, 1]
    pipe.patterns = [RED]
    doc = parse(nlp, [0])
    assert (doc[4].head.i, doc[3].head.i) != (1, 4)
    assert doc._.certificates[NAME][0]["status"] == "optimal"
    pipe.patterns = [{**RED, "weight": 50.0}]
    assert [token.head.i for token in parse(nlp, [0])] == [1, 1, 4, 4, 1, 1]


def test_dollars_survive_saves(tmp_path):
    """spaCy doubles each dollar of a config that it writes."""
    sibling = {"LEFT_ID": "noun", "REL_OP": "$++", "RIGHT_ID": "mark", "RIGHT_ATTRS": {"TAG": "."}}
    mark = {**PATTERN[2], "RIGHT_ATTRS": {"ORTH": {"IN": ["$", "US$"]}}}
    patterns = [
        {"name": "stop", "weight": 1.0, "pattern": [*PATTERN[:2], sibling]},
        {"name": "US$", "weight": 1.0, "pattern": [*PATTERN[:2], mark]},
    ]
    nlp = make_nlp(steps=0, factors=[], patterns=patterns)
    before = nlp.get_pipe(NAME).patterns
    assert before[0]["pattern"][2] == sibling and before[1]["pattern"][2] == mark
    for _ in range(3):
        nlp.to_disk(tmp_path)
        nlp = spacy.load(tmp_path)
        assert nlp.get_pipe(NAME).patterns == before
        assert nlp.from_bytes(nlp.to_bytes()).get_pipe(NAME).patterns == before


def test_what_is_wrong_is_named(pipe):
    from spacy_decoders.decoders.tree import Eisner, PriceAndCut

    with pytest.raises(ProblemError, match="patterns: Eisner scores none"):
        pipe.decoder = Eisner()
    with pytest.raises(ProblemError, match=r'not siblings; set factors = \["arcs", "grandp'):
        make_nlp(steps=0).get_pipe(NAME).configure(decoder=PriceAndCut())
    wrong = [*PATTERN[:2], {**PATTERN[2], "RIGHT_ATTRS": {"DEP": "subject"}}]
    with pytest.raises(ProblemError, match="the parser has no label 'subject'; it has amod"):
        pipe.patterns = [{**RED, "pattern": wrong}]


def test_documents_of_two_vocabularies(nlp, pipe):
    pipe.patterns = [RED]
    other = Doc(spacy.blank("en").vocab, words=["he", "eats", "the", "red", "fish", "."])
    own = Doc(nlp.vocab, words=["he", "eats", "the", "red", "fish", "."])
    docs = [own.copy(), other, own]
    found = [[token.head.i for token in doc] for doc in pipe.pipe(docs)]
    assert found[0] == found[1] == found[2]
    assert [token.dep_ for token in other] == [token.dep_ for token in own]
