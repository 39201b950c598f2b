"""What a treebank says of lemmas where the rules of spaCy's lemmatizer say something else."""

from collections import Counter, defaultdict
from pathlib import Path

from spacy.language import Language
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc

from spacy_decoders.readers.sentences import Sentence, read_conllu

__all__ = ["add_exceptions", "order_rules"]

#: Words that were seen less often are left to the rules.
FEWEST = 2
#: A part of speech without any table has its words in lower case; with one, as they are written.
#: That does for those whose words are all known, and for names.
PARTS = {
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "NOUN",
    "PART",
    "PRON",
    "PROPN",
    "SCONJ",
    "VERB",
}

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


def add_exceptions(nlp: Language, lemmatizer: Lemmatizer, treebank: Path) -> int:
    """Add exceptions by part of speech and word; return how many."""
    added = 0
    # the first exception of a part of speech changes what becomes of its other words
    while more := _added(nlp, lemmatizer, treebank):
        added += more
    return added


def _added(nlp: Language, lemmatizer: Lemmatizer, treebank: Path) -> int:
    """Add exceptions where the present tables are wrong."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    ruled: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for sentence in read_conllu(treebank):
        for token, lemma in zip(
            lemmatized(nlp, lemmatizer, sentence), lemmas(sentence), strict=True
        ):
            if lemma and token.pos_ in PARTS:
                counts[token.pos_, token.lower_][lemma] += 1
                ruled[token.pos_, token.lower_][token.lemma_] += 1
    table = lemmatizer.lookups.get_table("lemma_exc")
    added = 0
    for key, found in counts.items():
        lemma, often = found.most_common(1)[0]
        right = sum(min(found[own], count) for own, count in ruled[key].items())
        part, word = key[0].lower(), key[1]
        exceptions = dict(table.get(part, {}))
        if often >= FEWEST and often > right and exceptions.get(word) != [lemma]:
            exceptions[word] = [lemma]
            table.set(part, exceptions)
            added += 1
    lemmatizer.cache.clear()
    return added


def lemmatized(nlp: Language, lemmatizer: Lemmatizer, sentence: Sentence) -> Doc:
    """The sentence with its own parts of speech and features, and lemmas by rule."""
    doc = Doc(
        nlp.vocab,
        words=list(sentence.words),
        pos=list(sentence.pos or [""] * len(sentence)),
        morphs=list(sentence.morphs or [""] * len(sentence)),
    )
    return lemmatizer(doc)


def lemmas(sentence: Sentence) -> list[str]:
    """The lemmas that the treebank has; empty where it has none."""
    return list(sentence.lemmas or [""] * len(sentence))
