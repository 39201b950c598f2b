"""Drawings of trees."""

from spacy_decoders.display.arcs import TreeDrawing, Word, text_width


def drawing(heads, labels):
    tree = dict(enumerate(zip(heads, labels, strict=True)))
    words = [Word(letter, "", None) for letter in "abcdefgh"[: len(heads)]]
    return TreeDrawing.of(words, tree, [None] * len(words))


def test_crossing_arcs_run_at_different_heights_and_the_root_above_all():
    heights = {arc.label: arc.y for arc in drawing([2, 3, 2, 2], list("wxrz")).arcs}
    assert heights["w"] != heights["x"]
    assert heights["r"] == min(heights.values())


def test_wide_characters_are_wider():
    assert text_width("") == 0.0
    assert text_width("東京") > text_width("ab") == 2 * text_width("a")
