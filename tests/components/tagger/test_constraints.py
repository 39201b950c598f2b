"""What users rule out, or have set already."""

import numpy as np
import pytest
import spacy

from tests.components.tagger.tagging import SENTENCES, bare, randomise, randomised, tags, trained
from tests.oracles import all_chains

NAME = "exact_tagger"


def test_tags_that_are_set_are_kept_on_request():
    nlp = trained(overwrite=False)
    doc = bare(nlp, SENTENCES[0])
    doc[1].tag_ = "NN"
    doc[2].tag_ = "UNHEARD-OF"
    nlp(doc)
    assert tags(doc) == ["DT", "NN", "UNHEARD-OF", "VBZ", "NNP", "."]
    overwriting = trained()
    doc = bare(overwriting, SENTENCES[0])
    doc[1].tag_ = "NN"
    assert tags(overwriting(doc))[1] == "JJ"


def test_kept_tags_condition_the_others_exactly():
    nlp = randomised(overwrite=False)
    pipe = nlp.get_pipe(NAME)
    for seed in range(20):
        randomise(nlp, seed)
        doc = bare(nlp, "Mercury sees York .")
        scores = pipe.model.predict([doc])
        doc[1].tag_ = "JJ"
        kept = pipe.labels.index("JJ")
        weights = (scores.transitions, scores.start, scores.end, scores.emissions[0])
        best = max(score for score, labels in all_chains(*weights) if labels[1] == kept)
        nlp(doc)
        assert doc[1].tag_ == "JJ"
        assert doc._.certificates[NAME][0]["score"] == pytest.approx(best, abs=1e-4)


def test_entities_that_are_set_are_kept_and_not_continued():
    nlp = randomised(5, target="ent", overwrite=False)
    # random scores that love I-CITY everywhere
    output = nlp.get_pipe(NAME).model.get_ref("output_layer")
    output.set_param("W", 0 * output.get_param("W"))
    inside = nlp.get_pipe(NAME).labels.index("I-CITY")
    output.set_param("b", (np.arange(len(output.get_param("b"))) == inside) * np.float32(50))
    doc = bare(nlp, "the old man sees New York .")
    doc.set_ents([spacy.tokens.Span(doc, 1, 3, label="CITY", kb_id="Q1")], default="unmodified")
    nlp(doc)
    kept = doc.ents[0] if doc.ents[0].start == 1 else doc.ents[1]
    assert (kept.start, kept.end, kept.label_, kept.kb_id_) == (1, 3, "CITY", "Q1")
