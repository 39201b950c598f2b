"""exact_tagger as part of a spaCy pipeline: files, changes, configs."""

import json

import pytest
import spacy
from spacy.tokens import DocBin

from tests.components.tagger.tagging import (
    SENTENCES,
    bare,
    randomised,
    trained,
)

NAME = "exact_tagger"


def test_results_survive_docbin_and_bytes():
    nlp = trained(target="ent", k_best=2, probabilities=True, entity_alternatives=0.05)
    docs = list(nlp.pipe(bare(nlp, sentence) for sentence in SENTENCES))
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    restored = list(DocBin().from_bytes(stored).get_docs(nlp.vocab))
    copies = [spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs]
    for doc, *others in zip(docs, restored, copies, strict=True):
        for other in others:
            assert [(ent.text, ent._.prob) for ent in other.ents] == [
                (ent.text, ent._.prob) for ent in doc.ents
            ]
            one, another = (
                [of._.certificates, of._.taggings, of._.probabilities, of._.entity_alternatives]
                for of in (doc, other)
            )
            assert json.dumps(another) == json.dumps(one, allow_nan=False)


def test_weights_that_change_are_noticed():
    nlp = randomised(0)
    before = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    model = nlp.get_pipe(NAME).model
    model.get_ref("chain").get_param("transitions")[:] += 1.0
    after = nlp(bare(nlp, SENTENCES[0]))._.certificates[NAME][0]["score"]
    assert after == pytest.approx(before + 5.0, abs=1e-4)
