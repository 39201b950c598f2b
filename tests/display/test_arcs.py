"""Drawings of trees."""

from spacy_decoders.display.arcs import TreeDrawing, Word


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


def test_other_arcs_hang_below_in_the_same_columns():
    best = drawing([1, 1, 1], list("wrx"))
    (other,) = best.others({2: (0, "y")}).arcs
    centres = [x for _, x in best.words]
    assert centres[0] < other.x < centres[2]
    assert 10.0 < other.y < best.others({2: (0, "y")}).height


def test_only_a_small_margin_is_a_close_call():
    tree = {0: (1, "w"), 1: (1, "r")}
    words = [Word("a", "A", 2.0), Word("b", "B", 0.0)]
    arcs = TreeDrawing.of(words, tree, [0.5, None]).arcs
    assert [arc.is_close for arc in arcs] == [True, False]
    assert [word.is_close for word in words] == [False, True]
