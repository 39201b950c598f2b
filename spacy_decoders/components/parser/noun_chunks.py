"""Noun chunks of trees with universal dependencies; those of spaCy's English use other labels."""

from collections.abc import Iterator
from typing import Any

from spacy.errors import Errors
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span, Token

__all__ = ["find_noun_chunks", "use_noun_chunks"]

_NOUNS = frozenset(IDS[name] for name in ("NOUN", "PROPN", "PRON"))
#: Relations of the head of a chunk, without subtypes.
_ROLES = frozenset(
    [
        *["ROOT", "root", "nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative"],
        *["dislocated", "ccomp", "xcomp", "advcl", "parataxis", "list"],
    ]
)
#: Relations of a possessor or title, part of another noun's chunk.
_PART_OF_ANOTHER = frozenset(["nmod:poss", "nmod:desc"])
#: Relations of the words before its head that belong to the chunk.
_BEFORE = frozenset(["det", "amod", "nummod", "compound", "flat"])
#: Relations of the words after its head that belong to the chunk.
_BEHIND = frozenset(["flat", "nummod", "goeswith"])


def find_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield beginning, end and label of each noun chunk, none within another.

    A chunk reaches from a noun's determiner, adjectives, numbers and possessors to the noun
    itself, and to the rest of its name.

    Raises
    ------
    ValueError
        If there are no dependencies.
    """
    doc = doclike.doc
    if not doc.has_annotation("DEP"):
        raise ValueError(Errors.E029)
    label = doc.vocab.strings.add("NP")
    free = 0
    for word in doclike:
        if word.pos in _NOUNS and _is_head(word):
            begin, end = _begin(word), _end(word)
            if begin >= free:
                yield begin, end, label
                free = end


def _is_head(word: Token) -> bool:
    while word.dep_ == "conj" and word.head.i < word.i:
        word = word.head
    return word.dep_ not in _PART_OF_ANOTHER and word.dep_.partition(":")[0] in _ROLES


def _begin(word: Token) -> int:
    begin = word.i
    for child in reversed(list(word.lefts)):
        if child.dep_ in _PART_OF_ANOTHER or child.dep_.partition(":")[0] in _BEFORE:
            begin = child.left_edge.i
        elif child.dep_ != "punct":
            break
    return begin


def _end(word: Token) -> int:
    end = word.i + 1
    for child in word.rights:
        if child.left_edge.i != end or child.dep_ not in _BEHIND:
            break
        end = child.right_edge.i + 1
    return end


def use_noun_chunks(nlp: Language) -> Language:
    """Use these noun chunks in a pipeline, in place of its language's own."""
    vocab: Any = nlp.vocab  # typed as if it gave spans
    vocab.get_noun_chunks = find_noun_chunks
    return nlp
