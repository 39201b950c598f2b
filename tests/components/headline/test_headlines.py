"""How headlines are put into words."""

from tests.components.headline.titled import blank


def test_auxiliaries_and_their_lack():
    text = "Sum of divisors. The sum of divisors is a function. We find the sum of divisors."
    assert blank(length=2)(text)._.headline == "Sum of divisors"
    words = blank(length=2, mode="words", auxiliaries=[])(text)
    assert words._.headlines[0]["auxiliaries"] == [""]


def test_words_are_written_as_the_text_writes_them():
    text = "the NASA probe. NASA sent the NASA probe. The NASA probe flew."
    assert blank(length=2)(text)._.headline == "NASA probe"
