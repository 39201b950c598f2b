"""``listed_lemmatizer``: spaCy's rules for English, listed words first, names as written."""

from typing import Any

import numpy as np
from spacy.attrs import LEMMA, MORPH, ORTH, POS, TAG
from spacy.lang.en.lemmatizer import EnglishLemmatizer
from spacy.tokens import Doc, Token

__all__ = ["WORDS", "ListedLemmatizer"]

#: The table of listed words: lemmas by tag and word in small letters.
WORDS = "lemma_words"
#: The table of known words, by part of speech.
INDEX = "lemma_index"
#: Tags of names.
NAMES = ("NNP", "NNPS")
#: Parts of speech whose words have no capitals that are not of a name or an abbreviation.
INFLECTED = ("NOUN", "VERB", "ADJ", "ADV")
#: Tags of words that are their own lemmas, unless they are listed, as "are" is.
BASE_FORMS = ("VB", "VBP", "NN")
#: Abbreviated numbers, listed as "thousand" and "million": only behind a number, as in "$5m", and
#: not before what is said of metres, as in "5m tall".
NUMBERS = ("k", "m", "b", "bn", "t")
OF_METRES = ("tall", "long", "wide", "high", "deep", "thick", "away", "apart", "above", "below")
#: Letters of the longest part of a name that is no name itself.
_PARTICLE = 3
#: Lemmas kept before the cache is emptied.
CACHE_SIZE = 20_000


class ListedLemmatizer(EnglishLemmatizer):
    """spaCy's rule lemmatizer for English, which looks into a list of words first.

    The list, the table ``lemma_words``, has lemmas by tag ("PRP$") and word: of "her", of
    "Palestinian", of "p.m.". What has the tag of a name keeps its capitals, also where its part of
    speech is another ("New" in "New York"); plurals of names and comparatives lose their endings.
    So do words with capitals inside ("iPhone") and single capitals ("X"); numbers lose their
    commas.
    """

    def _validate_tables(self, *given: Any) -> None:
        """Check tables that were just set or loaded, and forget what was found by those before."""
        super()._validate_tables(*given)
        self.cache.clear()
        index = self.lookups.get_table(INDEX, {})
        for part, words in index.items():
            # spaCy's rules ask a list of 57,000 nouns six times
            index[part] = dict.fromkeys(words)

    def __call__(self, doc: Doc) -> Doc:
        """Set the lemmas of a document; those of words that were met before all at once."""
        if self.mode == "rule" and not self.overwrite and len(doc):
            words: Any = doc.to_array([ORTH, POS, TAG, MORPH, LEMMA])
            add, known = doc.vocab.strings.add, self.cache.get
            found = [known(tuple(kind)) for kind in words[:, :4].tolist()]
            lemmas = np.array([add(forms[0]) if forms else 0 for forms in found], dtype=np.uint64)
            words[:, 4] = np.where(words[:, 4], words[:, 4], lemmas)
            doc.from_array([LEMMA], words[:, 4:])
        return super().__call__(doc)

    def rule_lemmatize(self, token: Token) -> list[str]:
        """Return the lemma of a token, by the list or by rules."""
        if token.lower_ in NUMBERS and token.tag_ == "CD":  # what stands around it tells
            return [self._lemma(token) if _counts(token) else token.text]
        key = (token.orth, token.pos, token.tag, token.morph.key)  # type: ignore[attr-defined]
        found: list[str] | None = self.cache.get(key)
        if found is None:
            if len(self.cache) >= CACHE_SIZE:
                self.cache.clear()
            found = self.cache[key] = [self._lemma(token)]
        return found

    def _lemma(self, token: Token) -> str:
        words = self.lookups.get_table(WORDS, {}).get(token.tag_, {})
        text = token.text
        if token.lower_ in words:
            return str(words[token.lower_])
        if token.pos_ == "PROPN":
            plural = token.tag_ == "NNPS" and text[-1:] in "sS"
            # particles, such as "al", are in small letters
            small = text.isalpha() and text.islower() and len(text) > _PARTICLE
            small = small and token.tag_ in NAMES
            name = text.capitalize() if small else text
            return _cased(self._singular(token.lower_), name) if plural else name
        if token.pos_ == "NUM":
            return text.replace(",", "") if text[0].isdigit() else token.lower_
        has_capitals = text[1:] != text[1:].lower() and not text.isupper()
        if token.tag_ in BASE_FORMS:
            # a capital that stands alone names something: "X", "Z", "vitamin C"
            return text if has_capitals or len(text) == 1 else token.lower_
        lemma: str = super().rule_lemmatize(token)[0]
        if token.tag_ in NAMES or has_capitals:
            return _cased(lemma, text)
        return lemma.lower() if token.pos_ in INFLECTED else lemma

    def _singular(self, word: str) -> str:
        """The word without the ending of a plural, by the rules of nouns; it need not be known."""
        known = self.lookups.get_table(INDEX, {}).get("noun", ())
        rules = self.lookups.get_table("lemma_rules", {}).get("noun", ())
        forms = [word[: -len(old)] + new for old, new in rules if word.endswith(old)]
        return next((form for form in forms if form in known), forms[0] if forms else word)


def _counts(token: Token) -> bool:
    """Whether the abbreviation of a number stands behind one, and of no metres."""
    around = token.doc[max(0, token.i - 1) : token.i + 2]
    metres = token.lower_ == "m" and around[-1].lower_ in OF_METRES
    return around[0].like_num and not metres


def _cased(lemma: str, text: str) -> str:
    """A lemma with the capitals of its word."""
    if text.isupper():
        return lemma.upper()
    common = 0
    while common < min(len(lemma), len(text)) and lemma[common].lower() == text[common].lower():
        common += 1
    return text[:common] + lemma[common:]
