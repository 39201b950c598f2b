"""Gold labels read without alignment are those that spaCy's alignment finds."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders import ProblemError
from spacy_decoders.components.tagger.gold_layers import aligned_labels
from tests.components.tagger.tagging import SENTENCES, annotated, bare, trained


def aligned_by_spacy(example: Example, target: str) -> list[str | None]:
    if target != "ent":
        return [v or None for v in example.get_aligned(target.upper(), as_string=True)]
    bio = {"U": "B", "L": "I"}
    tags = example.get_aligned_ner()
    return [t if t in (None, "O") else bio.get(t[0], t[0]) + t[1:] for t in tags]


@pytest.mark.parametrize("target", ["tag", "pos", "ent"])
def test_labels_of_equal_tokens(target):
    nlp = spacy.blank("en")
    for sentence in (*SENTENCES, " ".join(SENTENCES)):
        gold = annotated(nlp, sentence.replace(" .", " .\n").strip().split("\n"))
        example = Example(bare(nlp, gold.text), gold)
        assert aligned_labels(example, [target]) == aligned_by_spacy(example, target)


def test_labels_that_are_missing():
    vocab = spacy.blank("en").vocab
    words = ["New", "York", "sees", "Bo"]
    gold = Doc(vocab, words=words, tags=["NNP", "", "VBZ", ""], ents=["B-GPE", "I-GPE", "", "O"])
    example = Example(Doc(vocab, words=words), gold)
    assert aligned_labels(example, ["tag"]) == ["NNP", None, "VBZ", None]
    assert aligned_labels(example, ["ent"]) == ["B-GPE", "I-GPE", None, "O"]
    assert aligned_labels(example, ["tag", "ent"]) == ["NNP B-GPE", None, None, None]


def test_labels_that_the_component_lacks_are_told_once():
    nlp = trained(0)
    words = ["Bo", "sees"]
    gold = Doc(nlp.vocab, words=words, tags=["NOVEL", "VBZ"])
    examples = [Example(Doc(nlp.vocab, words=words), gold)]
    with pytest.warns(UserWarning, match=r"lacks \(NOVEL; .*none of them is learnt"):
        nlp.update(examples)
    nlp.update(examples)


def test_a_type_of_entities_is_added_as_both_its_labels():
    tagger = spacy.blank("en").add_pipe("exact_tagger", config={"target": "ent"})
    assert [tagger.add_label(label) for label in ("DRUG", "DRUG", "B-DRUG", "O")] == [1, 0, 0, 1]
    assert tagger.labels == ("B-DRUG", "I-DRUG", "O")
    with pytest.raises(ProblemError, match="BIO"):
        tagger.add_label("")
