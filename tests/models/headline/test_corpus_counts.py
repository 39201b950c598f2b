"""Counts of a corpus."""

import numpy as np

from spacy_decoders.models.headline.corpus_counts import CorpusCounts
from tests.models.headline.texts import keys


def test_corpus_counts_leave_a_text_out():
    corpus = CorpusCounts.count([keys(1, 2, 2), keys(2, 3)], [keys(2, 9), keys(3)])
    texts, titles, size = corpus.look_up(keys(1, 2, 3, 9))
    assert (texts.tolist(), titles.tolist(), size) == ([1, 2, 1, 0], [0, 1, 1, 0], 2)
    texts, titles, size = corpus.look_up(keys(1, 2), without=np.array([False, True]))
    assert (texts.tolist(), titles.tolist(), size) == ([0, 1], [0, 0], 1)
    assert CorpusCounts.empty().look_up(keys(5))[2] == 0


def test_counts_are_saved_in_four_bytes_or_eight():
    corpus = CorpusCounts.count([keys(1, 2, 2), keys(2, 3)], [keys(2, 9), keys(3)])
    saved = corpus.arrays()
    assert saved["texts"].dtype == np.int32
    for given in (saved, {**saved, "texts": corpus.texts}):
        assert CorpusCounts.restored(given).texts.tolist() == corpus.texts.tolist()
        assert CorpusCounts.restored(given).texts.dtype == np.int64
