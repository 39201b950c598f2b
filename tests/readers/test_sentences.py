"""Files of each format become annotated sentences."""

from __future__ import annotations

import pytest

from spacy_decoders.readers.sentences import read_conllu

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
