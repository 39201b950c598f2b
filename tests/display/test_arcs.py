"""Drawings of trees."""

from spacy_decoders.display.arcs import TreeDrawing, Word, text_width


def drawing(heads, labels):
    tree = dict(enumerate(zip(heads, labels, strict=True)))
    words = [Word(letter, "", None) for letter in "abcdefgh"[: len(heads)]]
    return TreeDrawing.of(words, tree, [None] * len(words))


def test_crossing_arcs_run_at_different_heights():
    heights = {arc.label: arc.y for arc in drawing([2, 3, 2, 2], list("wxrz")).arcs}
    assert set(heights) == set("wxrz")
    assert heights["w"] != heights["x"]


def test_the_root_stands_above_all_arcs():
    heights = {arc.label: arc.y for arc in drawing([1, 1, 1, 2], list("wrxz")).arcs}
    assert heights["r"] == min(heights.values())


def test_only_a_small_margin_is_a_close_call():
    tree = {0: (1, "w"), 1: (1, "r")}
    words = [Word("a", "A", 2.0), Word("b", "B", 0.0)]
    arcs = TreeDrawing.of(words, tree, [0.5, None]).arcs
    assert [arc.is_close for arc in arcs] == [True, False]
    assert [word.is_close for word in words] == [False, True]


def test_wide_characters_are_wider():
    assert text_width("") == 0.0
    assert text_width("東京") > text_width("ab") == 2 * text_width("a")
