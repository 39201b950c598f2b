"""What a treebank says of lemmas where the rules of spaCy's lemmatizer say something else."""

from collections import Counter, defaultdict
from pathlib import Path

from spacy.language import Language
from spacy.pipeline import Lemmatizer
from spacy.tokens import Doc

from spacy_decoders.readers.sentences import Sentence, read_conllu

__all__ = ["add_exceptions"]

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
