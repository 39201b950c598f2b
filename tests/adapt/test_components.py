"""The components over other models' scores, in pipelines of spaCy's."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import DocBin, Span, SpanGroup

from spacy_decoders import ProblemError


def scored_doc(nlp):
    doc = nlp.make_doc("the New York Times building in New York")
    spans = [Span(doc, *span) for span in [(1, 3, "GPE"), (1, 4, "ORG"), (4, 5, "FAC")]]
    spans.append(Span(doc, 6, 8, "GPE"))
    doc.spans["sc"] = SpanGroup(doc, spans=spans, attrs={"scores": [0.7, 0.9, 0.4, 0.95]})
    return doc


def entities(doc):
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def test_the_best_spans_become_entities():
    nlp = spacy.blank("en")
    nlp.add_pipe("best_spans")
    doc = nlp(scored_doc(nlp))
    assert entities(doc) == [(1, 4, "ORG"), (6, 8, "GPE")]
    assert [round(ent._.prob, 2) for ent in doc.ents] == [0.9, 0.95]
    again = next(DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab))
    assert again._.certificates["best_spans"][0]["status"] == "optimal"
    assert again.ents[0]._.prob == doc.ents[0]._.prob


def test_the_options_of_best_spans_are_checked_and_saved(tmp_path):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("best_spans", config={"output_key": "best"})
    doc = nlp(scored_doc(nlp))
    assert [(span.start, span.end) for span in doc.spans["best"]] == [(1, 4), (6, 8)]
    assert doc.spans["best"].attrs["scores"].tolist() == [0.9, 0.95]
    pipe.threshold = 0.25
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    doc = again(scored_doc(again))
    found = [(span.start, span.end) for span in doc.spans["best"]]
    assert found == [(1, 4), (4, 5), (6, 8)]
    same = spacy.blank("en")
    same.add_pipe("best_spans")
    assert same.from_bytes(nlp.to_bytes()).get_pipe("best_spans").threshold == 0.25
    with pytest.raises(ProblemError, match="threshold"):
        pipe.threshold = 1.0
    with pytest.raises(AttributeError, match="threshold"):
        pipe.treshold = 0.3


def test_documents_without_scored_spans():
    nlp = spacy.blank("en")
    nlp.add_pipe("best_spans")
    assert not nlp("nothing here").ents
    doc = nlp.make_doc("a b")
    doc.spans["sc"] = [doc[0:1]]
    with pytest.raises(ProblemError, match="scores"):
        nlp(doc)
