"""Headlines of the shipped pipeline do not claim what the text denies, asks or supposes."""

import pytest

import spacy_decoders
from tests.components.headline.claims import SENTENCES, claims


@pytest.fixture(scope="module")
def nlp():
    return spacy_decoders.load(exclude=["linker", "entities", "lemmatizer"])


@pytest.mark.parametrize("mode", ["phrases", "sentence"])
def test_no_headline_claims_what_the_text_does_not(nlp, mode):
    nlp.get_pipe("headline").configure(mode=mode, min_prob=0.0, n_best=3)
    texts = [text for text, _, _ in SENTENCES]
    assert len(texts) == 200
    false = [
        (text, headline["text"])
        for doc, (text, proposition, cue) in zip(nlp.pipe(texts), SENTENCES, strict=True)
        for headline in doc._.headlines
        if claims(headline["text"], proposition, cue)
    ]
    assert not false
