"""Sentences decoded together and apart, with margins and alternatives."""

import pytest

from tests.components.tagger.tagging import SENTENCES, annotated, bare, randomised, tags
from tests.oracles import chain_score

NAME = "exact_tagger"


def test_sentences_are_decoded_apart_where_they_are_set():
    nlp = randomised()
    whole = nlp(bare(nlp, " ".join(SENTENCES)))
    assert len(whole._.certificates[NAME]) == 1
    doc = annotated(nlp, SENTENCES)
    nlp(doc)
    assert len(doc._.certificates[NAME]) == len(SENTENCES)
    scores = nlp.get_pipe(NAME).model.predict([doc])
    total = sum(certificate["score"] for certificate in doc._.certificates[NAME])
    written = [nlp.get_pipe(NAME).labels.index(tag) for tag in tags(doc)]
    by_hand = sum(
        chain_score(
            scores.transitions,
            scores.start,
            scores.end,
            scores.emissions[0][sent.start : sent.end],
            written[sent.start : sent.end],
        )
        for sent in doc.sents
    )
    assert total == pytest.approx(by_hand, abs=1e-4)


def test_k_best_labellings_are_distinct_and_ordered():
    nlp = randomised(4, k_best=5)
    pipe = nlp.get_pipe(NAME)
    doc = annotated(nlp, SENTENCES[:2])
    nlp(doc)
    for sent in doc.sents:
        found = [tagging for tagging in doc._.taggings if tagging["start"] == sent.start]
        assert [tagging["end"] for tagging in found] == [sent.end] * 5
        assert found[0]["labels"] == [token.tag_ for token in sent]
        values = [tagging["score"] for tagging in found]
        assert values == sorted(values, reverse=True)
        assert len({tuple(tagging["labels"]) for tagging in found}) == 5
    assert set(doc._.taggings[0]["labels"]) <= set(pipe.labels)
