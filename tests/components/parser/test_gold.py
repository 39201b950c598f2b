"""What gold-standard trees teach."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.components.parser.gold import collect_labels, read_gold
from spacy_decoders.models.parser.losses import ROOT, UNKNOWN
from tests.components.parser.parsing import bare, make_gold


@pytest.mark.parametrize(("heads", "match"), [([1, 2, 0], "cycle"), ([0, 1, 0], "2 roots")])
def test_gold_that_is_no_tree_teaches_nothing(trained, heads, match):
    gold = Doc(trained.vocab, words=["a", "b", "c"])
    columns = np.array(
        [
            [(head - i) % 2**64 for i, head in enumerate(heads)],
            [trained.vocab.strings.add("det")] * 3,
        ],
        dtype=np.uint64,
    ).T
    gold.from_array(["HEAD", "DEP"], columns)
    gold.from_array(["SENT_START"], np.array([[1], [-1], [-1]]).astype(np.uint64))
    found, faults = read_gold([Example(bare(gold), gold)], ["det"], [])
    assert match in faults.trees[0] and not faults.labels
    assert (found.heads == UNKNOWN).all()


def test_gold_over_another_tokenization(trained):
    gold = make_gold(trained, [0, 1])
    words = ["she", "eats", "the", "red", "fish", ".he", "sleeps", "."]
    predicted = Doc(trained.vocab, words=words, spaces=[True] * 5 + [True, True, False])
    gold = Doc(
        trained.vocab,
        words=[token.text for token in gold],
        spaces=[True] * 5 + [False, True, True, False],
        heads=[token.head.i for token in gold],
        deps=[token.dep_ for token in gold],
    )
    found = read_gold([Example(predicted, gold)], ["det", "obj", "nsubj", "amod", "punct"], [])[0]
    assert found.heads.tolist() == [1, ROOT, 4, 4, 1, UNKNOWN, ROOT, 6]
    assert found.labels.tolist()[0] == 2
    assert (found.tags == UNKNOWN).all()


def test_tags_that_tell_no_morphology_come_with_it():
    nlp = spacy.blank("hu")
    morphs = ["Case=Nom|Definite=Def", "Case=Acc|Number=Sing", "", "Person=3|VerbForm=Fin"]

    def example(tags):
        gold = Doc(
            nlp.vocab,
            words=["a", "b", "c", "d"],
            pos=["NOUN", "NOUN", "NOUN", "VERB"],
            tags=tags,
            morphs=morphs,
            heads=[3, 3, 3, 3],
            deps=["nsubj", "obj", "obl", "root"],
        )
        return Example(bare(gold), gold)

    coarse, fine = example(["NOUN", "NOUN", "NOUN", "VERB"]), example(["N1", "N4", "N", "V"])
    _, tags, _ = collect_labels([coarse])
    assert tags == [
        "NOUN",
        "NOUN|Case=Acc|Number=Sing",
        "NOUN|Case=Nom",
        "VERB|Person=3|VerbForm=Fin",
    ]
    assert [tags[tag] for tag in read_gold([coarse], [], tags)[0].tags] == [
        tags[i] for i in (2, 1, 0, 3)
    ]
    # a tag that is known by itself alone still teaches
    assert read_gold([coarse], [], ["NOUN", "X=1"])[0].tags.tolist()[:3] == [0, 0, 0]
    _, tags, _ = collect_labels([fine])
    assert tags == ["N", "N1", "N4", "V"]
    assert read_gold([fine], [], tags)[0].tags.tolist() == [1, 2, 0, 3]
