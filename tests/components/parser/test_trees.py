"""Trees written to a Doc, and read back by spaCy."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.parser.trees import attach_spaces, tree_faults, write_trees
from spacy_decoders.errors import ProblemError
from tests.components.parser.parsing import NAME


def test_non_projective_trees_keep_their_sentence():
    """Crossing arcs that spaCy's own edges get wrong: heads and boundaries stay right."""
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=list("abcdef"))
    heads = np.array([0, 3, 0, 1, 4, 4])
    label = nlp.vocab.strings.add("dep")
    deps = np.full(6, label, dtype=np.uint64)
    crossing, starts = np.array([0, 2, 0, 1, 4, 4]), np.array([0, 4])
    assert not write_trees(doc, crossing, deps, starts)
    assert [token.head.i for token in doc] == [0, 2, 0, 1, 4, 4]
    assert [sentence.start for sentence in doc.sents] == [0, 4]
    assert write_trees(doc, crossing, deps, starts, projective=True)
    with pytest.raises(ProblemError, match="no tree"):
        write_trees(doc, heads, deps, np.array([0]))


def test_deep_crossing_tree_is_not_cut():
    """An inside-out zigzag: spaCy gives up on it and would make two sentences."""
    n = 41
    order = [20]
    for step in range(1, 21):
        order += [20 + step, 20 - step]
    heads = np.zeros(n, dtype=np.int64)
    for child, head in zip(order, [order[0], *order], strict=False):
        heads[child] = head
    doc = Doc(spacy.blank("en").vocab, words=["w"] * n)
    deps = np.full(n, doc.vocab.strings.add("dep"), dtype=np.uint64)
    assert not write_trees(doc, heads, deps, np.array([0]))
    assert len(list(doc.sents)) == 1
    assert [token.head.i for token in doc] == heads.tolist()


@pytest.mark.parametrize(
    ("heads", "fault"),
    [
        ([0], None),
        ([1, 1, 1], None),
        ([1, 0], "cycle"),
        ([0, 2, 1], "cycle"),
        ([0, 1], "2 roots"),
        ([5, 1], "outside"),
    ],
)
def test_tree_faults(heads, fault):
    found = tree_faults(np.array(heads), np.array([0]))
    assert not found if fault is None else fault in found[0]
    # each sentence of two has faults of its own
    both = np.array([0, *(np.array(heads) + 1)])
    assert tree_faults(both, np.array([0, 1])).keys() == ({1} if found else set())


def test_white_space_hangs_on_words(trained):
    doc = trained("\n she eats\n the  red fish . he sleeps .  \n")
    assert [sentence.root.text for sentence in doc.sents] == ["eats", "sleeps"]
    for token in doc:
        assert not token.head.is_space
        assert (token.dep_ == "dep") == token.is_space


def test_sentences_without_any_label_are_kept_by_serialisation(trained):
    doc, again = trained.make_doc("she eats .\n\nhe sleeps . \n"), Doc(trained.vocab)
    for token in doc:
        token._.fixed_dep = "nsubj"  # none is a root
    with pytest.warns(UserWarning):
        starts = [token.is_sent_start for token in trained(doc)]
    assert sum(starts) > 1 and not doc.has_annotation("DEP")
    assert [token.is_sent_start for token in again.from_bytes(doc.to_bytes())] == starts


def test_the_component_says_once_what_spacy_gets_wrong(trained):
    parser = trained.get_pipe(NAME)
    doc = trained.make_doc("a b c d e f")
    (decoded,) = parser.decode_together([doc], parser.predict([doc]))
    decoded.heads[:], decoded.labels[:] = [0, 2, 0, 1, 4, 4], 0
    decoded.starts = np.array([0, 4])
    parser.projective = False
    with pytest.warns(UserWarning, match="a non-projective tree") as caught:
        parser.annotate(doc, decoded)
        parser.annotate(doc, decoded)
    parser.projective = True
    assert len(caught) == 1


def test_white_space_hangs_on_the_word_before_it_within_its_sentence():
    blank = np.array([True, False, True, True, True, True, True, False, False, True])
    heads = np.array([0, 1, 2, 3, 4, 5, 6, 8, 8, 9])
    attach_spaces(heads, blank, np.array([0, 4, 6]))
    assert heads.tolist() == [1, 1, 1, 1, 4, 4, 7, 8, 8, 8]
