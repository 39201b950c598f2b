"""Headlines that are sentences shortened along their trees."""

import numpy as np
import pytest
from spacy.tokens import Doc

from spacy_decoders import ProblemError
from spacy_decoders.components.headline.sentences import ShortSentences
from tests.components.headline.titled import blank

TEXT = "A judge in Boston did not block the proposed merger on Tuesday , shares fell ."
HEADS = [1, 6, 3, 1, 6, 6, 6, 9, 9, 6, 11, 6, 6, 14, 6, 6]
RELATIONS = [
    "det", "nsubj", "case", "nmod", "aux", "advmod", "ROOT", "det", "amod", "obj", "case", "obl",
    "punct", "nsubj", "parataxis", "punct",
]  # fmt: skip


@pytest.fixture
def parsed():
    nlp = blank()
    return Doc(nlp.vocab, words=TEXT.split(), heads=HEADS, deps=RELATIONS)


def shortened(doc, most, **options):
    chances = np.full(len(doc), 0.3)
    given = {"least": 1, "max_chars": None, "required": (), **options}
    return ShortSentences(doc, chances, most=most, **given).write(1)


def test_what_grammar_needs_stays(parsed):
    (headline,) = shortened(parsed, 5)
    assert headline.text == "Judge did not block merger"
    assert headline.certificate.is_optimal
    assert [parsed[i].text for i in headline.tokens][-1] == "merger"


def test_more_words_say_more(parsed):
    (headline,) = shortened(parsed, 8)
    assert headline.text.startswith("Judge")
    assert 5 < len(headline.text.split()) <= 8
    # a preposition comes with its noun
    for preposition, noun in (("in", "Boston"), ("on", "Tuesday")):
        assert (preposition in headline.text.split()) == (noun in headline.text)


def test_required_words(parsed):
    (headline,) = shortened(parsed, 7, required=("tuesday",))
    assert headline.text.endswith("on Tuesday")
    assert headline.certificate.is_optimal
    assert shortened(parsed, 7, required=("london",)) == []


def test_characters(parsed):
    (headline,) = shortened(parsed, 12, max_chars=30)
    assert len(headline.text) <= 30
    assert shortened(parsed, 12, max_chars=10) == []


def test_as_a_mode(parsed):
    nlp = blank(mode="sentence", length=5, required=["merger"])
    doc = nlp.get_pipe("headline_generator")(parsed)
    assert doc._.headline == "Judge did not block merger"
    assert doc._.headlines[0]["certificate"]["status"] == "optimal"
    with pytest.raises(ProblemError, match="parser"):
        nlp("No tree here.")
