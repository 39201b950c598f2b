"""White space between and inside sentences, which texts have and treebanks do not."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from .sentences import Sentence

__all__ = ["with_white_space"]

#: What separates the sentences of a document, each as likely: a line break, a blank line, two
#: spaces, or one, in which case lines are wrapped.
LAYOUTS = ("\n", "\n\n", " ", "")
#: The share of sentences that end a paragraph.
PARAGRAPHS = 0.3
#: The share of spaces inside sentences that are doubled, unless line breaks separate sentences.
DOUBLED = 0.03
#: The share of other documents whose lines are wrapped, and the least and largest width.
WRAPPED = 0.3
WIDTHS = (40, 80)

LAYERS = ("lemmas", "pos", "tags", "morphs", "ents", "deps")
TREE = ("heads", "deps")


def with_white_space(sentences: Sequence[Sentence], random: Random) -> list[Sentence]:
    """Lay out the sentences of a document at random, with white space as tokens of its own.

    A token of white space belongs to the sentence before it, and has neither head nor tag.

    Examples
    --------
    >>> twice = [Sentence(("Stop", "."), (False, True))] * 2
    >>> [sentence.words for sentence in with_white_space(twice, Random(2))]
    [('Stop', '.', '\\n'), ('Stop', '.')]
    """
    between = random.choice(LAYOUTS)
    width = random.randint(*WIDTHS) if not between or random.random() < WRAPPED else None
    found, column = [], 0
    for place, sentence in enumerate(sentences):
        breaks, column = _wrapped(sentence, column, width)
        if "\n" not in between:
            free = [word for word in _blanks(sentence) if random.random() < DOUBLED]
            breaks = dict.fromkeys(free, " ") | breaks
        if place < len(sentences) - 1 and (between != "\n\n" or random.random() < PARAGRAPHS):
            breaks.pop(len(sentence) - 1, None)
            if between:
                breaks[len(sentence) - 1] = between
            column = 0 if "\n" in between else column
        found.append(_inserted(sentence, breaks))
    return found


def _wrapped(sentence: Sentence, column: int, width: int | None) -> tuple[dict[int, str], int]:
    """Return the words after which a line is broken, and the column after the last word."""
    breaks: dict[int, str] = {}
    if width is None:
        return breaks, column
    blanks = set(_blanks(sentence))
    for word, (form, space) in enumerate(zip(sentence.words, sentence.spaces, strict=True)):
        column += len(form) + space
        if word in blanks and column > width:
            breaks[word], column = "\n", 0
    return breaks, column


def _blanks(sentence: Sentence) -> list[int]:
    """Return the words that a space follows, except inside entities."""
    ents = [*(sentence.ents or [""] * len(sentence)), ""][1:]
    found = zip(sentence.spaces, ents, strict=True)
    return [word for word, (space, ent) in enumerate(found) if space and not ent.startswith("I-")]


def _inserted(sentence: Sentence, breaks: Mapping[int, str]) -> Sentence:
    """Return a sentence with white space after some of its words."""
    if not breaks:
        return sentence
    places = sorted(breaks)
    spaces = [space and breaks.get(word, " ") == " " for word, space in enumerate(sentence.spaces)]
    # heads are counted from 1, and move by the white space before them; the root is 0
    heads = sentence.heads and [
        None if head is None else head + bisect_left(places, head - 1) for head in sentence.heads
    ]
    layers = {name: getattr(sentence, name) for name in LAYERS} | {"heads": heads}
    widened: dict[str, Any] = {
        name: values and _widened(values, dict.fromkeys(breaks, None if name in TREE else ""))
        for name, values in layers.items()
    }
    widened["words"] = _widened(sentence.words, breaks)
    widened["spaces"] = _widened(spaces, dict.fromkeys(breaks, False))
    return replace(sentence, **widened)


def _widened(values: Sequence[Any], inserted: Mapping[int, Any]) -> tuple[Any, ...]:
    """Return the values of words, with those of white space inserted after some."""
    found = []
    for word, value in enumerate(values):
        found.append(value)
        if word in inserted:
            found.append(inserted[word])
    return tuple(found)
