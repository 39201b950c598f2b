"""Files of each format become annotated sentences."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


WORDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"), codec="utf8"), min_size=1
).filter(lambda word: word != "_" and not word.startswith("\ufeff") and word.strip() == word)
TAGS = st.sampled_from(["NN", "VB", "#", "O", "B-X"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.tuples(WORDS, TAGS), min_size=1, max_size=6), max_size=5))
def test_columns_read_back_what_was_written(sentences):
    """Whatever the words are, also those that look like comments."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tsv")
        text = "\n".join("".join(f"{w}\t{t}\n" for w, t in rows) for rows in sentences)
        path.write_text(text, encoding="utf8", newline="\n")
        found = list(read_columns(path, ["form", "tag"]))
    assert [list(zip(s.words, s.tags, strict=True)) for s in found] == sentences
