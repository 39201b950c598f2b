"""Which of several forms of the same words is preferred."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_decoders.models.headline.forms import (
    BEHIND,
    CLOSE,
    prefer_fuller_phrases,
    prefer_longest_forms,
)
from tests.components.headline.titled import blank


def test_a_form_far_behind_stays_there():
    scores, kinds = np.array([1.0, 0.9 - CLOSE, 0.7]), np.array([0, 0, 0])
    assert prefer_longest_forms(scores, kinds, np.array([5, 9, 6])).tolist() == [
        1.0 - CLOSE,
        0.9 - CLOSE,
        1.0,
    ]


def test_no_phrases():
    nothing = np.zeros(0, dtype=np.int64)
    assert len(prefer_longest_forms(np.zeros(0), nothing, nothing)) == 0


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 3), st.integers(1, 6)), min_size=1))
def test_each_kind_keeps_its_best_score(rows):
    scores, kinds, lengths = (np.array(column) for column in zip(*rows, strict=True))
    kinds = np.unique(kinds, return_inverse=True)[1]
    found = prefer_longest_forms(scores, kinds, lengths)
    for kind in range(kinds.max() + 1):
        own = kinds == kind
        best = scores[own].max()
        assert found[own].max() == best
        near = own & (scores >= best - CLOSE)
        assert lengths[own & (found == best)].max() == lengths[near].max()
        assert (found[own & ~near] == scores[own & ~near]).all()


def test_headlines_take_the_plural():
    text = "A hash table stores pairs. Hash tables are fast. A hash table is simple."
    pipe = blank().get_pipe("headline_generator")
    assert pipe(blank().make_doc(text))._.headline == "Hash tables"


def test_a_fuller_phrase_is_rare_or_far_behind():
    phrases, fuller = np.array([0, 0, 0, 1]), np.array([1, 0, 0, 1])
    scores = np.array([1.0, 0.5])
    rare = prefer_fuller_phrases(scores, np.array([3, 1]), phrases, fuller)
    assert rare.tolist() == scores.tolist()
    scores = np.array([1.0, 0.9 - BEHIND])
    far = prefer_fuller_phrases(scores, np.array([1, 1]), phrases[[0, 3]], fuller[[0, 3]])
    assert far.tolist() == scores.tolist()
    none = np.zeros(0, dtype=np.int64)
    assert len(prefer_fuller_phrases(np.zeros(0), none, none, none)) == 0
