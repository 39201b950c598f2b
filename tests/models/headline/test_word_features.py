"""Features of words, by hand."""

import numpy as np
import pytest

from spacy_decoders.models.headline.corpus_counts import CorpusCounts
from spacy_decoders.models.headline.word_features import FEATURES, word_features
from spacy_decoders.models.headline.words import Vertices
from tests.models.headline.texts import text


def test_features_of_a_text_by_hand():
    words = text(5, 100, 3, 9, 5, 3, cuts=[3], sentences=[0, 0, 0, 0, 1, 1])
    table = word_features(words, Vertices.of(words), CorpusCounts.empty())
    column = {name: table[:, place] for place, name in enumerate(FEATURES)}
    assert column["bias"].tolist() == [1, 1]
    assert column["frequency"] == pytest.approx(np.log([3, 3]))
    assert column["spread"].tolist() == [1, 1]
    assert column["first_sentence_index"].tolist() == [0, 0]
    assert column["form_share"].tolist() == [0, 0]
    assert column["first_position"][0] == 0.0 < column["first_position"][1]
    assert np.isfinite(table).all()
    assert word_features(text(), Vertices.of(text()), CorpusCounts.empty()).shape == (
        0,
        len(FEATURES),
    )
