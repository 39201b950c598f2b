"""The components over other models' scores, in pipelines of spaCy's."""

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin, Span, SpanGroup
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Config

from spacy_decoders import ProblemError
from spacy_decoders.adapt.pipelines import beam_entities, exact_senter_from, exact_tagger_from
from spacy_decoders.components.factories.factory import HASH_EMBED_CNN


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


def test_no_entity_begins_or_ends_with_white_space():
    nlp = spacy.blank("en")
    chooser = nlp.add_pipe("best_spans")
    doc = nlp.make_doc("New  York\n ")
    spans = [Span(doc, *span, "X") for span in [(0, 2), (1, 3), (2, 4), (3, 4), (0, 3)]]
    doc.spans["sc"] = SpanGroup(doc, spans=spans, attrs={"scores": [0.9, 0.9, 0.9, 0.9, 0.6]})
    assert entities(chooser(doc)) == [(0, 3, "X")]


def test_documents_without_scored_spans():
    nlp = spacy.blank("en")
    nlp.add_pipe("best_spans")
    assert not nlp("nothing here").ents
    doc = nlp.make_doc("a b")
    doc.spans["sc"] = []  # as spancat writes it
    assert not nlp.get_pipe("best_spans")(doc).ents
    doc.spans["sc"] = [doc[0:1]]
    with pytest.raises(ProblemError, match="scores"):
        nlp(doc)


def tagged_examples(nlp, seed, count=60):
    """Words that have two tags, of which the one before tells the right one."""
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(count):
        tags = ["D" if rng.random() < 0.5 else "P"]
        while len(tags) < 9:
            tags.append({"D": "N", "P": "V"}.get(tags[-1]) or str(rng.choice(["D", "P"])))
        choose = {"D": ["the", "a"], "P": ["they", "we"], "N": ["fish"], "V": ["fish"]}
        words = [str(rng.choice(choose[tag])) for tag in tags]
        doc = spacy.tokens.Doc(nlp.vocab, words=words)
        examples.append(Example.from_dict(doc, {"words": words, "tags": tags}))
    return examples


@pytest.fixture(params=["own", "shared"])
def tagging(request):
    """A trained tagger that sees single words only, with vectors of its own or shared ones."""
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    tok2vec = {**HASH_EMBED_CNN, "width": 16, "depth": 1, "embed_size": 200, "window_size": 0}
    tok2vec |= {"maxout_pieces": 2, "subword_features": False}
    if request.param == "shared":
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
    nlp.add_pipe(
        "tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}}
    )
    examples = tagged_examples(nlp, 0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(8):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_a_tagger_gets_transitions(tagging, tmp_path):
    nlp = tagging
    test = tagged_examples(nlp, 1)
    before = nlp.evaluate(tagged_examples(nlp, 1))["tag_acc"]
    learned = exact_tagger_from(nlp, "tagger", tagged_examples(nlp, 2), margins=True)
    after = nlp.evaluate(test)["tag_acc"]
    assert before < 0.85 and after > 0.99
    assert learned.after < learned.before
    doc = nlp("the fish")
    assert [token.tag_ for token in doc] == ["D", "N"]
    assert doc._.certificates["tagger"][0]["status"] == "optimal"
    assert doc[1]._.tag_margin > 0
    nlp.to_disk(tmp_path)
    assert [token.tag_ for token in spacy.load(tmp_path)("they fish")] == ["P", "V"]


def test_a_listener_whose_width_is_a_variable_is_kept():
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    nlp.add_pipe("tagger", config={"model": {"tok2vec": listener}})
    config = Config(nlp.config, is_interpolated=False)
    width = "${components.tok2vec.model.width}"
    config["components"]["tagger"]["model"]["tok2vec"]["width"] = width
    nlp = load_model_from_config(config)
    nlp.initialize(lambda: tagged_examples(nlp, 0))
    before = [token.tag_ for token in nlp("we fish a fish they")]
    exact_tagger_from(nlp)
    assert [token.tag_ for token in nlp("we fish a fish they")] == before
    assert nlp.pipe_names == ["tok2vec", "tagger"]


def test_without_examples_the_tags_stay(tagging):
    docs = ["the fish", "we fish a fish they"]
    before = [[token.tag_ for token in doc] for doc in tagging.pipe(docs)]
    assert exact_tagger_from(tagging, "tagger") is None
    assert [[token.tag_ for token in doc] for doc in tagging.pipe(docs)] == before


def test_other_components_are_refused(tagging):
    with pytest.raises(ProblemError, match="no component"):
        exact_tagger_from(tagging, "parser")
    tagging.add_pipe("sentencizer")
    with pytest.raises(ProblemError, match="Tagger"):
        exact_tagger_from(tagging, "sentencizer")
    untrained = spacy.blank("en")
    untrained.add_pipe("tagger")
    with pytest.raises(ProblemError, match="not trained"):
        exact_tagger_from(untrained)
    with pytest.raises(ProblemError, match="nlp: expected a pipeline of spaCy; got NoneType"):
        exact_tagger_from(None)


def sentences(nlp, count=30):
    """Texts of sentences that have two words at least."""
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(count):
        lengths = rng.integers(2, 5, size=3)
        starts = [int(k == 0) for length in lengths for k in range(length)]
        words = [str(rng.choice(["Big", "fish"])) if start else "swim" for start in starts]
        doc = spacy.tokens.Doc(nlp.vocab, words=words)
        gold = {"words": words, "sent_starts": [1 if start else -1 for start in starts]}
        examples.append(Example.from_dict(doc, gold))
    return examples


def test_a_senter_gets_transitions(tmp_path):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    examples = sentences(nlp)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(2):  # scores that tell all boundaries alone leave transitions nothing to learn
        nlp.update(examples, sgd=optimizer)
    learned = exact_senter_from(nlp, "senter", sentences(nlp))
    # a sentence of one word was never seen
    assert learned.transitions[1, 1] < learned.transitions[1, 0] - 1.0
    doc = nlp("swim swim Big swim swim fish swim")
    assert doc[0].is_sent_start
    assert doc._.certificates["senter"][0]["status"] == "optimal"
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)("swim swim Big swim swim fish swim")
    assert [token.is_sent_start for token in again] == [token.is_sent_start for token in doc]
    assert len(nlp("")) == 0
    assert nlp.evaluate(sentences(nlp))["sents_f"] > 0.9


def test_entities_of_a_beam(tmp_path):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("beam_ner")
    texts = [("Ann saw Bob", [(0, 3, "PER"), (8, 11, "PER")]), ("in Rome", [(3, 7, "LOC")])]
    examples = [Example.from_dict(nlp.make_doc(t), {"entities": e}) for t, e in texts] * 5
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(15):
        nlp.update(examples, sgd=optimizer)
    docs = [nlp.make_doc(text) for text, _ in texts]
    found = beam_entities(ner, docs)
    assert [span.text for span, _ in found[0][0]] == ["Ann", "Bob"]
    assert [(span.text, span.label_) for span, _ in found[1][0]] == [("Rome", "LOC")]
    for chosen, certificate in found:
        assert certificate.status == "optimal"
        assert all(0.5 < likely <= 1.0 for _, likely in chosen)
