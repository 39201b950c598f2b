"""Partially annotated documents: what the tagger learns from them."""

from __future__ import annotations

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_decoders import ProblemError
from spacy_decoders.components.tagger.label_space import LabelSpace
from spacy_decoders.components.tagger.partial_labels import gold_labels
from spacy_decoders.components.tagger.scorer import score_tagger
from spacy_decoders.models.tagger.losses import UNKNOWN
from spacy_decoders.readers.partial import EntityTypes, annotate_partially
from spacy_decoders.registry.readers import column_corpus, joined_corpus
from tests.components.tagger.tagging import MODEL

LABELS = ["B-MISC", "B-ORG", "B-PER", "I-MISC", "I-ORG", "I-PER", "O"]


def example(words, ents=None, **partial):
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=words.split(), ents=ents.split() if ents else None)
    annotate_partially(doc, **partial)
    return Example(Doc(vocab, words=words.split()), doc)


def known(given, labels=LABELS, targets=("ent",)):
    """The labels that each token may have."""
    space = LabelSpace(given.reference.vocab, targets, labels)
    gold, allowed, _ = gold_labels([given], space)
    return [
        {labels[y]}
        if y != UNKNOWN
        else {label for label, may in zip(labels, allowed[i], strict=True) if may}
        for i, y in enumerate(gold)
    ]


def test_a_corpus_without_misc_says_nothing_of_misc():
    given = example("Kim saw Alien", "B-PER O O", types=["PER", "ORG"])
    misc = {"O", "B-MISC", "I-MISC"}
    assert known(given) == [{"B-PER"}, misc, misc]


def test_one_of_several_labels():
    given = example(
        "IBM Research saw", "O O O", allowed={"ent": [["B-ORG", "O"], ["I-ORG", "O"], None]}
    )
    assert known(given) == [{"B-ORG", "O"}, {"I-ORG", "O"}, {"O"}]
    # a label that the component does not have says nothing
    given = example("IBM saw", "O O", allowed={"ent": [["B-FIRM"], None]})
    assert known(given)[0] == set(LABELS)


def test_joint_labels_are_known_by_their_parts():
    labels = ["NN B-ORG", "NN O", "VB O", "NNP B-ORG"]
    given = example("IBM saw", "B-ORG O", allowed={"tag": [["NN", "VB"], ["VB"]]})
    assert known(given, labels, ("tag", "ent")) == [{"NN B-ORG"}, {"VB O"}]


def test_other_tokens_in_the_prediction():
    vocab = spacy.blank("en").vocab
    gold = Doc(vocab, words=["IBM's", "Kim", "Lee", "saw"], spaces=[True, True, True, False])
    rows = [["O"], ["B-PER", "O"], ["I-PER", "O"], ["O"]]
    annotate_partially(gold, allowed={"ent": rows}, negative=[(1, 3, "ORG"), (0, 2, "")])
    predicted = Doc(
        vocab, words=["IBM", "'s", "Kim", "Lee", "saw"], spaces=[False, True, True, True, False]
    )
    given = Example(predicted, gold)
    assert known(given) == [set(LABELS), set(LABELS), {"B-PER", "O"}, {"I-PER", "O"}, {"O"}]
    _, _, negative = gold_labels([given], LabelSpace(vocab, ("ent",), LABELS))
    assert [span[:2] for span in negative.spans] == [(2, 4)]


def test_it_survives_files():
    given = example("Kim saw", "B-PER O", types=["PER"], negative=[(0, 1, "ORG")])
    saved = DocBin([*["ENT_IOB", "ENT_TYPE"]], store_user_data=True, docs=[given.reference])
    (again,) = DocBin().from_bytes(saved.to_bytes()).get_docs(given.reference.vocab)
    assert known(Example(given.predicted, again)) == known(given)


@pytest.mark.parametrize(
    ("partial", "message"),
    [
        ({"allowed": {"ent": [["O"]]}}, "an entry for each of 2 tokens; got 1"),
        ({"allowed": {"dep": []}}, "allowed: expected tag, pos, morph or ent"),
        ({"allowed": {"ent": ["O", "O"]}}, "a list of labels for each token"),
        ({"negative": [(1, 3, "")]}, r"the span \(1, 3\) is outside the 2 tokens"),
        ({"negative": [(0, 1)]}, "negative: expected first token, token behind, and a type"),
        ({"negative": [(0, 1, 7)]}, "negative: expected first token, token behind, and a type"),
        ({"types": "PER"}, "types: expected a list of types"),
    ],
)
def test_what_is_wrong_is_named(partial, message):
    with pytest.raises(ProblemError, match=message):
        example("Kim saw", **partial)


def test_corpora_whose_types_differ(tmp_path):
    (tmp_path / "a.tsv").write_text("Kim\tB-PER\nsaw\tO\n\n")
    (tmp_path / "b.tsv").write_text("IBM\tB-group\nsaw\tO\nAlien\tB-film\n\n")
    columns = ["form", "ent"]
    corpus = joined_corpus(
        {
            "a": column_corpus(tmp_path / "a.tsv", columns),
            "b": column_corpus(
                tmp_path / "b.tsv",
                columns,
                types={"group": ["ORG", "O"], "film": []},
                complete=["PER"],
            ),
        }
    )
    first, second = corpus(spacy.blank("en"))
    everything = set(LABELS)
    assert known(first) == [{"B-PER"}, {"O"}]
    assert known(second)[0] == {"B-ORG", "O"}
    assert known(second)[1] == everything - {"B-PER", "I-PER"}
    assert known(second)[2] == everything
    with pytest.raises(ProblemError, match="corpora: expected at least one"):
        joined_corpus({})
    with pytest.raises(ProblemError, match="types: expected a type or a list of types for 'a'"):
        EntityTypes({"a": [1]}, None)


def test_a_tagger_learns_from_what_is_known():
    """Two corpora, each of which knows one type: the words of both are entities then."""
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("exact_tagger", config={"model": MODEL, "target": "ent"})

    def gold(words, ents, **partial):
        doc = Doc(nlp.vocab, words=words.split(), ents=ents.split())
        annotate_partially(doc, **partial)
        return Example(Doc(nlp.vocab, words=words.split()), doc)

    examples = [
        gold("Kim saw IBM", "B-PER O O", types=["PER"]),
        gold("IBM saw Kim", "B-ORG O O", types=["ORG"]),
        gold("Lee saw", "B-PER O", types=["PER", "ORG"]),
    ]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    doc = nlp(Doc(nlp.vocab, words=["Kim", "saw", "IBM"]))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Kim", "PER"), ("IBM", "ORG")]


def test_a_tagger_learns_from_negative_spans():
    nlp = spacy.blank("en")
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("exact_tagger", config={"model": MODEL, "target": "ent"})
    whole = Doc(nlp.vocab, words=["New", "York", "saw"], ents=["B-LOC", "I-LOC", "O"])
    unsure = Doc(nlp.vocab, words=["Old", "York", "saw"])
    annotate_partially(unsure, negative=[(0, 2, "LOC"), (0, 1, None), (1, 2, "")])
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in of]), of) for of in (whole, unsure)]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    docs = [nlp(of.predicted.copy()) for of in examples]
    assert [ent.text for ent in docs[0].ents] == ["New York"]
    assert not {"Old York", "Old", "York"} & {ent.text for ent in docs[1].ents}


def test_types_that_gold_does_not_annotate_are_not_scored():
    vocab = spacy.blank("en").vocab
    gold = Doc(vocab, words=["Kim", "saw", "Alien"], ents=["B-PER", "O", "O"])
    annotated = Doc(vocab, words=["Kim", "saw", "Alien"], ents=["B-PER", "O", "B-MISC"])
    assert (
        score_tagger([Example(annotated, gold)], targets=["ent"], component="x")["ents_p"] == 0.5
    )
    annotate_partially(gold, types=["PER"])
    assert (
        score_tagger([Example(annotated, gold)], targets=["ent"], component="x")["ents_p"] == 1.0
    )
