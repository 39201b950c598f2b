"""Stemmers."""

import pickle

from spacy_decoders.models.headline.stems import Stemmer


def test_a_stemmer_survives_pickling():
    stemmer = Stemmer("en")
    assert stemmer.stems(["sorting"]) == ["sort"]
    again = pickle.loads(pickle.dumps(stemmer))
    assert again.stems(["sorting", "sorting"]) == ["sort", "sort"]
