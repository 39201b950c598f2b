"""How long headlines are, and how many."""

import pytest

from tests.components.headline.titled import TEXTS, blank


def test_n_best_are_different_and_ranked(trained):
    headlines = trained(TEXTS["Hash tables"])._.headlines
    assert len({headline["text"] for headline in headlines}) == 3
    scores = [headline["score"] for headline in headlines]
    assert scores == sorted(scores, reverse=True)
    assert [headline["certificate"]["status"] for headline in headlines] == [
        "optimal",
        "bounded",  # by how much each is worse than the best
        "bounded",
    ]


@pytest.mark.parametrize("length", ["auto", [1, 3], 2])
def test_lengths(length):
    doc = blank(length=length)(TEXTS["Shortest paths in graphs"])
    words = len(doc._.headlines[0]["tokens"])
    assert {"auto": 2 <= words <= 5, 2: words == 2}.get(str(length), 1 <= words <= 3)
    if length == 2:
        assert words == 2


def test_the_longest_headline_there_is_where_fewer_words_are():
    doc = blank(length=9)("Heaps sort arrays.")
    assert sorted(doc._.headlines[0]["tokens"]) == [0, 1, 2]


def test_max_chars():
    text = TEXTS["Shortest paths in graphs"]
    doc = blank(length=4, max_chars=20)(text)
    assert 0 < len(doc._.headline) <= 20
    with pytest.warns(UserWarning, match="relax max_chars"):
        assert blank(length=4, max_chars=1)(text)._.headlines == []
