"""Files of each format become annotated sentences."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_decoders import ProblemError
from spacy_decoders.readers.corpora import ConlluCorpus
from spacy_decoders.readers.sentences import read_columns, read_conllu

from .files import CONLLU, written


@pytest.mark.parametrize("name", ["tiny.conllu", "tiny.conllu.gz"])
def test_conllu_sentences_keep_words_layers_and_documents(tmp_path, name):
    first, second, third = read_conllu(written(tmp_path, name, CONLLU))
    assert first.words == ("Do", "n't", "go", "!")
    assert first.spaces == (False, True, False, True)
    assert first.tags == ("VBP", "RB", "VB", ".")
    assert first.pos == ("AUX", "PART", "VERB", "PUNCT")
    assert first.morphs == ("Mood=Imp", "", "VerbForm=Inf", "")
    assert first.heads == (3, 3, 0, 3)
    assert first.deps == ("aux", "advmod", "ROOT", "punct")
    # a missing fine-grained tag is replaced by the universal one
    assert second.words == ("#", "stay")
    assert second.tags == ("SYM", "VB")
    assert [s.starts_document for s in (first, second, third)] == [True, False, True]


#: "In the house, give me it": "nella" and "damelo" are not spelt by their words.
CONTRACTED = Path(__file__).parent / "contracted.conllu"


def test_contracted_words_are_read_as_in_the_text(tmp_path):
    (sentence,) = read_conllu(CONTRACTED, merge_subtokens=True)
    assert sentence.words == ("Nella", "casa", "dammelo", "!")
    assert sentence.spaces == (True, True, False, True)
    assert sentence.tags == ("E_RD", "S", "V_PC_PC", "FS")
    assert sentence.lemmas == ("in il", "casa", "dare mi lo", "!")
    assert sentence.pos == ("ADP", "NOUN", "VERB", "PUNCT")
    assert sentence.morphs == ("", "", "Mood=Imp", "")
    assert sentence.heads == (2, 3, 0, 3)
    assert sentence.deps == ("case", "obl", "ROOT", "punct")
    (example,) = ConlluCorpus(CONTRACTED, merge_subtokens=True)(spacy.blank("it"))
    assert example.reference.text.strip() == "Nella casa dammelo!"
    # words that spell their token stay apart, and others of a token beyond the last word
    spelt = written(
        tmp_path, "tiny.conllu", CONLLU.replace("4\t!", "4-9\t!" + 8 * "\t_" + "\n4\t!")
    )
    assert [*read_conllu(spelt, merge_subtokens=True)] == [*read_conllu(spelt)]


WORDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"), codec="utf8"), min_size=1
).filter(lambda word: word != "_" and not word.startswith("\ufeff") and word.strip() == word)
TAGS = st.sampled_from(["NN", "VB", "#", "O", "B-X"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.tuples(WORDS, TAGS), min_size=1, max_size=6), max_size=5))
def test_columns_read_back_what_was_written(sentences):
    """Whatever the words are, also those that look like comments."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tsv")
        text = "\n".join("".join(f"{w}\t{t}\n" for w, t in rows) for rows in sentences)
        path.write_text(text, encoding="utf8", newline="\n")
        found = list(read_columns(path, ["form", "tag"]))
    assert [list(zip(s.words, s.tags, strict=True)) for s in found] == sentences


def rows(*heads: str) -> str:
    return "".join(f"{i}\tw\tw\tX\tX\t_\t{head}\tdep\n" for i, head in enumerate(heads, start=1))


BAD = [
    ("conllu", "1\tCats\tcat\n", "line 1: 3 columns, without upos, xpos, feats, head, deprel"),
    (
        "conllu",
        rows("0") + "\n# b\n" + rows("0", "7"),
        "line 5: the head is word 7, but the last word is 2",
    ),
    ("conllu", rows("0", "3", "2"), "line 2: the heads of words 2, 3 form a cycle"),
    ("conllu", rows("1"), "line 1: the word is its own head"),
    ("conllu", rows("0", "-1"), "line 2: the head must be a number .*'-1'"),
    ("conllu", rows("0") + "2 Cats cat X X _ 1 dep\n", "line 2: 1 columns, .*tabs"),
    ("conllu", "_\tw\tw\tX\tX\t_\t0\tdep\n", "line 1: expected a word's number"),
    ("head", "a\t2\nb\t1\n", "line 1: the heads of words 1, 2 form a cycle"),
    ("pos", "Af\tNN\n", "line 1: 'NN' is no universal part of speech"),
    ("morph", "Af\tNC--U==-\n", "line 1: 'NC--U==-' is no list such as"),
]


@pytest.mark.parametrize(("column", "content", "message"), BAD)
def test_what_is_wrong_is_told_with_its_line(tmp_path, column, content, message):
    path = written(tmp_path, "x.conllu", content)
    with pytest.raises(ProblemError, match=f"^x.conllu, {message}"):
        list(read_conllu(path) if column == "conllu" else read_columns(path, ["form", column]))


def test_a_sentence_without_all_its_heads_has_no_tree(tmp_path):
    (sentence,) = read_conllu(written(tmp_path, "x.conllu", rows("2", "_")))
    assert sentence.heads is None and sentence.deps is None


@pytest.mark.parametrize("name", ["old.conllu", "old.conll"])
def test_tags_and_features_that_are_not_universal_are_kept_from_spacy(tmp_path, name):
    path = tmp_path / name
    path.write_text(
        "1\tAf\taf\tSP\tNCCSU==D\tNCCSU==D\t0\tROOT\t_\t_\n"
        "2\tdem\tdem\tPP\t_\tsg|nom\t1\tnobj\t_\t_\n"
    )
    (example,) = ConlluCorpus(path)(spacy.blank("da"))
    assert [token.tag_ for token in example.reference] == ["NCCSU==D", "PP"]
    assert not any(token.pos_ or str(token.morph) for token in example.reference)
