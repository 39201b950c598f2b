"""exact_tagger: what it writes, on any input, is the best; sentences together and apart."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.decoders.chain import Viterbi
from spacy_decoders.errors import InfeasibleError, UndecidedError
from tests.components.tagger import tagging
from tests.oracles import all_chains, chain_score

NAME = "exact_tagger"


def forbidding(labels, transitions, start):
    """BIO by its definition: I-X may only follow B-X or I-X."""
    transitions, start = transitions.copy(), start.copy()
    for j, label in enumerate(labels):
        if label.startswith("I-"):
            start[j] = -np.inf
            for i, before in enumerate(labels):
                if before not in (label, "B" + label[1:]):
                    transitions[i, j] = -np.inf
    return transitions, start


#: The score of each target, and what is written.
WRITTEN = {
    "tag": ("tag_acc", tagging.tags),
    "pos": ("pos_acc", lambda doc: [token.pos_ for token in doc]),
    "morph": ("morph_acc", lambda doc: [str(token.morph) for token in doc]),
    "ent": ("ents_f", lambda doc: [(ent.text, ent.label_) for ent in doc.ents]),
}


@pytest.mark.parametrize(
    "target", ["tag", "pos", "morph", "ent", ["tag", "ent"], ["pos", "morph"]]
)
def test_every_target_is_written_where_users_look(target):
    nlp = tagging.trained(60, target=target)
    gold = tagging.annotated(nlp, tagging.SENTENCES[2:3])
    # a vocabulary that knows none of the labels
    doc = nlp.get_pipe(NAME)(Doc(spacy.blank("xx").vocab, words=tagging.SENTENCES[2].split()))
    targets = [target] if isinstance(target, str) else target
    assert [ent.label_ for ent in gold.ents] == ["CITY"]
    scores = nlp.evaluate(tagging.examples(nlp))
    weights = nlp.config["training"]["score_weights"]  # by which spaCy keeps the best model
    for name in targets:
        key, written = WRITTEN[name]
        assert written(doc) == written(gold)
        assert scores[key] == 1.0
        assert weights[key] > 0
    assert doc.has_annotation("TAG") == ("tag" in targets)


@pytest.mark.parametrize("target", ["tag", "ent"])
def test_what_is_written_is_the_best_labelling(target):
    nlp = tagging.randomised(target=target)
    pipe = nlp.get_pipe(NAME)
    for seed in range(30):
        tagging.randomise(nlp, seed)
        doc = tagging.bare(nlp, "Mercury sees York .")
        scores = pipe.model.predict([doc])
        transitions, start = scores.transitions, scores.start
        if target == "ent":
            transitions, start = forbidding(pipe.labels, transitions, start)
        weights = (transitions, start, scores.end, scores.emissions[0])
        best = all_chains(*weights)[0][0]
        nlp(doc)
        if target == "tag":
            written = [pipe.labels.index(tag) for tag in tagging.tags(doc)]
        else:
            bio = [
                token.ent_iob_ + (f"-{token.ent_type_}" if token.ent_type_ else "")
                for token in doc
            ]
            written = [pipe.labels.index(label) for label in bio]
        assert chain_score(*weights, written) == pytest.approx(best)
        (certificate,) = doc._.certificates[NAME]
        assert certificate["status"] == "optimal"
        assert certificate["score"] == pytest.approx(best, abs=1e-4)
        assert certificate["decoder"] == "ForwardDominance"


@pytest.mark.parametrize("decoder", ["Viterbi", "ColumnGeneration"])
def test_any_chain_decoder_may_be_configured(decoder):
    nlp = tagging.randomised(1, k_best=2, decoder={"@decoders": f"spacy-decoders.{decoder}.v1"})
    reference = tagging.randomised(1)
    doc, expected = (pipe(tagging.bare(pipe, tagging.SENTENCES[0])) for pipe in (nlp, reference))
    assert tagging.tags(doc) == tagging.tags(expected)
    assert doc._.certificates[NAME][0]["decoder"] == decoder
    # the k best always come from forward dominance
    assert {of["certificate"]["decoder"] for of in doc._.taggings} == {"ForwardDominance"}


@pytest.mark.parametrize(
    ("error", "status"), [(UndecidedError, "heuristic"), (InfeasibleError, "infeasible")]
)
def test_a_sentence_without_labels_does_not_affect_the_others(error, status):
    class Failing(Viterbi):
        def decode_batch(self, *given):
            raise error

        def decode(self, model, emissions):
            if len(emissions) < 6:
                raise error
            return Viterbi().decode(model, emissions)

    nlp = tagging.randomised()
    nlp.get_pipe(NAME).decoder = Failing()
    doc = nlp(tagging.annotated(nlp, tagging.SENTENCES[:2]))
    of = doc._.certificates[NAME]
    assert [one["status"] for one in of] == ["optimal", status]
    assert of[1]["score"] is None


def test_weights_that_change_are_noticed():
    nlp = tagging.randomised(0)
    before = nlp(tagging.bare(nlp, tagging.SENTENCES[0]))._.certificates[NAME][0]["score"]
    model = nlp.get_pipe(NAME).model
    model.get_ref("chain").get_param("transitions")[:] += 1.0
    after = nlp(tagging.bare(nlp, tagging.SENTENCES[0]))._.certificates[NAME][0]["score"]
    assert after == pytest.approx(before + 5.0, abs=1e-4)


def test_sentences_are_decoded_apart_where_they_are_set():
    nlp = tagging.randomised()
    whole = nlp(tagging.bare(nlp, " ".join(tagging.SENTENCES)))
    assert len(whole._.certificates[NAME]) == 1
    doc = tagging.annotated(nlp, tagging.SENTENCES)
    nlp(doc)
    assert len(doc._.certificates[NAME]) == len(tagging.SENTENCES)
    scores = nlp.get_pipe(NAME).model.predict([doc])
    total = sum(certificate["score"] for certificate in doc._.certificates[NAME])
    written = [nlp.get_pipe(NAME).labels.index(tag) for tag in tagging.tags(doc)]
    weights, (rows,) = (scores.transitions, scores.start, scores.end), scores.emissions
    places = [slice(sent.start, sent.end) for sent in doc.sents]
    by_hand = sum(chain_score(*weights, rows[of], written[of]) for of in places)
    assert total == pytest.approx(by_hand, abs=1e-4)


def test_k_best_labellings_are_distinct_and_ordered():
    nlp = tagging.randomised(4, k_best=5)
    pipe = nlp.get_pipe(NAME)
    doc = tagging.annotated(nlp, tagging.SENTENCES[:2])
    nlp(doc)
    for sent in doc.sents:
        found = [one for one in doc._.taggings if one["start"] == sent.start]
        assert [one["end"] for one in found] == [sent.end] * 5
        assert found[0]["labels"] == [token.tag_ for token in sent]
        values = [one["score"] for one in found]
        assert values == sorted(values, reverse=True)
        assert len({tuple(one["labels"]) for one in found}) == 5
    assert set(doc._.taggings[0]["labels"]) <= set(pipe.labels)
