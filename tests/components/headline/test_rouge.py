"""ROUGE is what the package that everybody uses makes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_decoders.components.headline.scorer import rouge

WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "cats", "sat", "Größe", "42", "—", "don't"])
).map(" ".join)


class Tokenizer:
    def tokenize(self, text):
        return "".join(c if c.isalnum() else " " for c in text.lower()).split()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(WORDS, WORDS)
def test_the_numbers_are_those_of_rouge_score(reference, text):
    scorers = pytest.importorskip("rouge_score.rouge_scorer")
    kinds = ["rouge1", "rouge2", "rougeL"]
    expected = scorers.RougeScorer(kinds, tokenizer=Tokenizer()).score(reference, text)
    assert rouge(reference, text) == pytest.approx([expected[kind].fmeasure for kind in kinds])
