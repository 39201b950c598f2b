"""Lines are found again, every one, and nothing else is."""

import numpy as np
import pytest

from spacy_decoders.knowledge.building import names as naming
from spacy_decoders.knowledge.building.articles import ArticlePart
from spacy_decoders.knowledge.building.lines import LineIndex, as_lines
from spacy_decoders.knowledge.dumps.articles import Article


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 5000])
def test_all_are_found_and_no_other(size, rng):
    texts = [f"{rng.integers(10**9)} é {i}" for i in range(size)]
    lines = as_lines(texts)
    index = LineIndex.of(lines, size)
    assert index.find(lines, size).tolist() == list(range(size))
    assert (index.find(as_lines([text + "x" for text in texts]), size) == -1).all()


def test_of_repeated_lines_the_first_is_found():
    lines = as_lines(["a", "", "a", "b", ""])
    assert LineIndex.of(lines, 5).find(lines, 5).tolist() == [0, 1, 0, 3, 1]


def test_names_are_counted_once_in_each_text():
    names = ["big cat", "cat", "cat.", "A", "ca", "o. k."]
    texts = ["the big cat. a cat", "a scat", "o. k. cats", "a lion"]
    given = naming.Uses(names, np.zeros(6, int), np.ones(6), np.ones(6), True)
    parts = [
        ArticlePart.of([Article("", "", "", text, (), ()) for text in some])
        for some in (texts[:2], texts[2:])
    ]
    shares = naming.LinkShares.count([given, given], parts)
    # each is a link in two articles, and occurs in so many of the four
    assert shares.of(names) == pytest.approx([1, 1, 1, 2 / 3, None, 1])
