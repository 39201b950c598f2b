"""What a treebank says of lemmas where the rules of spaCy's lemmatizer say something else."""

from collections import Counter, defaultdict
from pathlib import Path

from spacy.language import Language
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc

from spacy_decoders.components.lemmatizer import WORDS
from spacy_decoders.readers.sentences import Sentence, read_conllu

__all__ = ["list_words", "order_rules"]

#: Words that were seen less often are left to the rules.
FEWEST = 2

#: Of two known words the lemmatizer takes that of the later rule, and of two unknown ones that
#: of the first; so that of a plural's "s" stands at both ends.
RULES = {
    "verb": [
        ["s", ""], ["ies", "y"], ["es", ""], ["es", "e"], ["ed", ""], ["ed", "e"],
        ["ing", ""], ["ing", "e"],
    ],
    "noun": [
        ["s", ""], ["ses", "s"], ["ves", "f"], ["xes", "x"], ["zes", "z"], ["ches", "ch"],
        ["shes", "sh"], ["men", "man"], ["ies", "y"], ["s", ""],
    ],
}  # fmt: skip
#: A name in capitals is listed if it was met so often, and has so many letters: shorter ones may
#: be abbreviations too ("SUN"). "MARY" is then "Mary", while "NASA" stays.
FEWEST_OF_NAME, SHORTEST_NAME = 3, 4
#: Words that are too rare in the treebank, or of a class that it has in part: "'ve" as in
#: "would've", "ai" of "ain't", days and months. "Sun" is mostly a name there.
CALENDAR = {
    "Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday",
    "Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday",
    "Jan": "January", "Feb": "February", "Mar": "March", "Apr": "April", "Jun": "June",
    "Jul": "July", "Aug": "August", "Sep": "September", "Sept": "September", "Oct": "October",
    "Nov": "November", "Dec": "December",
}  # fmt: skip
OLD = {"hath": "have", "hast": "have", "doth": "do", "dost": "do", "art": "be", "shalt": "shall"}
LISTED = {
    "VB": {"'ve": "have"},
    "VBP": {"ai": "be", **OLD},
    "VBZ": OLD,
    "MD": OLD,
    "NN": {"hr": "hour", "hr.": "hour", "min.": "minute", "yr.": "year"},
    "NNS": {"hrs": "hour", "hrs.": "hour", "lbs.": "lb.", "mins.": "minute", "yrs.": "year"},
    "NNP": {**CALENDAR, **{f"{short}.": name for short, name in CALENDAR.items()}},
}
#: Rare words that would take the forms of frequent ones: "singing", "bunches", "leaves".
RARE = {
    "verb": ["singe", "swinge", "dinge", "conge"],
    "noun": ["ashe", "bunche", "crosse", "leave", "lense", "marche", "masse", "orache"],
}


def order_rules(lemmatizer: Lemmatizer) -> None:
    """Let "hoped" be of "hope" rather than "hop", and "senses" of "sense" rather than "sens"."""
    tables = (lemmatizer.lookups.get_table(f"lemma_{name}") for name in ("rules", "index", "exc"))
    rules, index, exceptions = tables
    for part, ordered in RULES.items():
        if {tuple(rule) for rule in rules[part]} != {tuple(rule) for rule in ordered}:
            raise ValueError(f"the rules of {part} are not those that were put in order")
        rules.set(part, ordered)
        index.set(part, [word for word in index[part] if word not in RARE[part]])
        kept = {
            form: [word for word in words if word not in RARE[part] or len(words) == 1]
            for form, words in exceptions[part].items()
        }
        exceptions.set(part, kept)
    lemmatizer.cache.clear()


def list_words(nlp: Language, lemmatizer: Lemmatizer, treebank: Path) -> int:
    """Give the lemmatizer the words on which its rules are wrong; return how many."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: dict[tuple[str, str], int] = defaultdict(int)
    small: set[tuple[str, str]] = set()  # words that are not always in capitals
    for sentence in read_conllu(treebank):
        doc = lemmatized(nlp, lemmatizer, sentence)
        for token, lemma in zip(doc, sentence.lemmas or [""] * len(doc), strict=True):
            if lemma:
                counts[token.tag_, token.lower_][lemma] += 1
                right[token.tag_, token.lower_] += token.lemma_ == lemma
                if not token.is_upper:
                    small.add((token.tag_, token.lower_))
    words: dict[str, dict[str, str]] = defaultdict(dict)
    for (tag, word), found in sorted(counts.items()):
        lemma, often = found.most_common(1)[0]
        # letters stay as they are written: "m" for metres, though the treebank has nine of "m16"
        is_letter = tag == "NN" and len(word) == 1
        if often >= FEWEST and often > right[tag, word] and not is_letter:
            in_capitals = lemma == word.upper() and (tag, word) not in small
            words[tag][word.upper() if in_capitals else word] = lemma
        elif (
            tag == "NNP"
            and often >= FEWEST_OF_NAME
            and len(word) >= SHORTEST_NAME
            and lemma == word.capitalize()
            and word.upper() not in found
        ):
            words[tag][word.upper()] = lemma
    for tag, listed in LISTED.items():
        words[tag] = {**listed, **words[tag]}
    lemmatizer.lookups.add_table(WORDS, dict(words))
    lemmatizer.cache.clear()
    return sum(map(len, words.values()))


def lemmatized(nlp: Language, lemmatizer: Lemmatizer, sentence: Sentence) -> Doc:
    """The sentence with its own parts of speech, tags and features, and lemmas by rule."""
    empty = [""] * len(sentence)
    doc = Doc(
        nlp.vocab,
        words=list(sentence.words),
        tags=list(sentence.tags or empty),
        pos=list(sentence.pos or empty),
        morphs=list(sentence.morphs or empty),
    )
    return lemmatizer(doc)
