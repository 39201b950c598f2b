"""Widths are estimated on the safe side."""

from spacy_decoders.display.measure import text_width


def test_wide_characters_are_wider():
    assert text_width("") == 0.0
    assert text_width("ab") == 2 * text_width("a")
    assert text_width("東京") > text_width("ab")
