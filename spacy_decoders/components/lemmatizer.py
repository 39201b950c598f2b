"""``listed_lemmatizer``: spaCy's rules for English, listed words first, names as written."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.attrs import LEMMA, MORPH, ORTH, POS, TAG
from spacy.lang.en.lemmatizer import EnglishLemmatizer
from spacy.tokens import Doc, Token

__all__ = ["WORDS", "ListedLemmatizer"]

#: The table of listed words: lemmas by tag and lower-case word.
WORDS = "lemma_words"
#: The table of known words, by part of speech.
INDEX = "lemma_index"
#: Tags of names.
NAMES = ("NNP", "NNPS")
#: Parts of speech whose lemmas are in lower case.
INFLECTED = ("NOUN", "VERB", "ADJ", "ADV")
#: Tags of words that are their own lemmas, unless they are listed, as "are" is.
BASE_FORMS = ("VB", "VBP", "NN")
#: Abbreviated numbers, listed as "thousand" and "million", only after a number, as in "$5m"; and
#: words that follow metres, as in "5m tall".
NUMBERS = ("k", "m", "b", "bn", "t")
OF_METRES = ("tall", "long", "wide", "high", "deep", "thick", "away", "apart", "above", "below")
#: "is" or "has".
CLITICS = ("'s", "’s", "s")
#: The most letters of a particle in a name, such as "van".
_PARTICLE = 3
#: A doubled consonant, which an ending may be the reason of ("vlogging").
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")
#: A number whose commas part thousands, or, in India, hundreds of them; no list and no decimal.
_THOUSANDS = re.compile(r"(?<![\d:.,])\d{1,3}(,\d\d)*(,\d{3})+(?![\d,])")
#: A decade, which is a plural without a singular.
_DECADE = re.compile(r"(['’]?\d*0)['’]?s")
#: Lemmas that are cached before the cache is cleared.
CACHE_SIZE = 20_000


class ListedLemmatizer(EnglishLemmatizer):
    """spaCy's rule lemmatizer for English, which looks into a list of words first.

    The list, the table ``lemma_words``, has lemmas by tag ("PRP$") and word, such as "her",
    "Palestinian" and "p.m."; those of words in capitals ("HR") are not of others ("hr"). Words
    with the tag of a name keep their capitals, even if their part of speech is another ("New" in
    "New York"), and so do words with capitals inside ("iPhone") and single capitals ("X"); plurals
    of names and comparatives lose their endings, numbers the commas of their thousands. Of several
    forms that rules make of an unknown word, it is the one whose ending most known words have
    ("upvote" of "upvoted").
    """

    #: By part of speech, the known words spelt backwards, sorted; made when first needed.
    _endings: dict[str, list[str]]

    def _validate_tables(self, *given: Any) -> None:
        """Check tables that were just set or loaded, and clear the cache."""
        super()._validate_tables(*given)
        self.cache.clear()
        self._endings = {}
        index = self.lookups.get_table(INDEX, {})
        for part, words in index.items():
            # a dict, since spaCy's rules search the list of 57,000 nouns six times
            index[part] = dict.fromkeys(words)

    def __call__(self, doc: Doc) -> Doc:
        """Set the lemmas of a document, all those in the cache at once."""
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
        if token.lower_ in NUMBERS and token.tag_ == "CD":  # depends on its context
            return [self._lemma(token) if _counts(token) else token.text]
        if token.lower_ in CLITICS and token.tag_ == "VBZ":  # so does this
            return ["have" if _has(token) else self._lemma(token)]
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
        for word in (text, token.lower_, token.lower_.replace("’", "'")):
            if word in words:
                return str(words[word])
        decade = _DECADE.fullmatch(text) if token.tag_ == "NNS" else None
        if decade:
            return f"{decade[1]}s"
        if token.pos_ == "PROPN":
            plural = token.tag_ == "NNPS" and text[-1:] in "sS"
            # particles, such as "al", are in lower case
            small = text.isalpha() and text.islower() and len(text) > _PARTICLE
            small = small and token.tag_ in NAMES
            name = text.capitalize() if small else text
            return _cased(self._singular(token.lower_), name) if plural else name
        if token.pos_ == "NUM":
            number = text if text[0].isdigit() else token.lower_
            return _THOUSANDS.sub(lambda found: found[0].replace(",", ""), number)
        has_capitals = text[1:] != text[1:].lower() and not text.isupper()
        if token.tag_ in BASE_FORMS:
            # a single capital letter is a name ("X", "vitamin C"), with digits it is a code ("Q2")
            kept = has_capitals or len(text) == 1 or re.match(r"[A-Z]+\d", text)
            return text if kept else token.lower_
        forms, part = super().rule_lemmatize(token), token.pos_.lower()
        irregular = self.lookups.get_table("lemma_exc", {}).get(part, ())
        word = token.lower_
        lemma = forms[0] if word in irregular else self._likeliest(forms, part, word)
        if token.tag_ in NAMES or has_capitals:
            return _cased(lemma, text)
        return lemma.lower() if token.pos_ in INFLECTED else lemma

    def _singular(self, word: str) -> str:
        """The singular of a word by the rules of nouns."""
        rules = self.lookups.get_table("lemma_rules", {}).get("noun", ())
        forms = [word[: -len(old)] + new for old, new in rules if word.endswith(old)]
        return self._likeliest(forms or [word], "noun", word)

    def _likeliest(self, forms: Sequence[str], part: str, word: str) -> str:
        """The known form of a word; if there is none, the one whose ending most known words share.

        A known word without a known form is its own lemma, such as "diabetes". Of the endings of
        the forms, the longest counts that any known word has.
        """
        known = self.lookups.get_table(INDEX, {}).get(part, ())
        if len(forms) > 1 and _DOUBLED.search(forms[0]):
            forms = [*forms, forms[0][:-1]]
        found = next((form for form in (*forms, word) if form in known), None)
        if found is not None or len(forms) == 1:
            return found or forms[0]
        if part not in self._endings:
            self._endings[part] = sorted(word[::-1] for word in known)
        words = self._endings[part]
        for start in range(min(map(len, forms))):
            ends = [form[start:][::-1] for form in forms]
            counts = [bisect_left(words, end + "\uffff") - bisect_left(words, end) for end in ends]
            if any(counts):
                return forms[counts.index(max(counts))]
        return forms[0]


def _counts(token: Token) -> bool:
    """Whether the abbreviation of a number follows a number, and does not mean metres.

    "£5m move" and "5m users" are millions; "200m final" and "5m-high wall" are metres.
    """
    before = token.doc[max(0, token.i - 3) : token.i]
    after = [word for word in token.doc[token.i + 1 : token.i + 3] if word.tag_ != "HYPH"][:1]
    metres = token.text == "m" and any(
        word.lower_ in OF_METRES or word.tag_ == "NN" for word in after
    )
    is_money = any(word.tag_ == "$" for word in before)
    return len(before) > 0 and before[-1].like_num and (is_money or not metres)


def _has(token: Token) -> bool:
    """Whether "'s" is "has": an auxiliary, not of the passive, of a past participle."""
    verbs = (word for word in token.doc[token.i + 1 : token.i + 5] if word.tag_[:2] == "VB")
    verb = next(verbs, None)
    return token.dep_ == "aux" and verb is not None and verb.tag_ == "VBN"


def _cased(lemma: str, text: str) -> str:
    """A lemma in the letter case of its word."""
    if text.isupper():
        return lemma.upper()
    common = 0
    while common < min(len(lemma), len(text)) and lemma[common].lower() == text[common].lower():
        common += 1
    return text[:common] + lemma[common:]
