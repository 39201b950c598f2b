"""White space between and inside of sentences, as texts have it and treebanks do not."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from .sentences import Sentence

__all__ = ["with_white_space"]

#: How the sentences of a document are parted, each as likely: by lines, paragraphs, two blanks,
#: or not; and whether lines are wrapped besides.
LAYOUTS = ("\n", "\n\n", " ", "")
#: The share of sentences behind which a paragraph ends.
PARAGRAPHS = 0.3
#: The share of blanks inside of sentences that are two, where no lines part sentences.
DOUBLED = 0.03
#: The share of documents whose lines are wrapped, and after how many characters.
WRAPPED = 0.3
WIDTHS = (40, 80)

LAYERS = ("lemmas", "pos", "tags", "morphs", "ents", "deps")
TREE = ("heads", "deps")


def with_white_space(sentences: Sequence[Sentence], random: Random) -> list[Sentence]:
    """Lay out the sentences of a document by chance, with white space as tokens of its own.

    A token of white space belongs to the sentence before it, and has neither a head nor a tag.

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
    """Return behind which words a line ends, and the column that is reached."""
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
    """Return the words with a blank behind them, but not those inside of entities."""
    ents = [*(sentence.ents or [""] * len(sentence)), ""][1:]
    found = zip(sentence.spaces, ents, strict=True)
    return [word for word, (space, ent) in enumerate(found) if space and not ent.startswith("I-")]


def _inserted(sentence: Sentence, breaks: Mapping[int, str]) -> Sentence:
    """Return a sentence with white space behind some of its words."""
    if not breaks:
        return sentence
    behind = sorted(breaks)
    spaces = [space and breaks.get(word, " ") == " " for word, space in enumerate(sentence.spaces)]
    # a head is counted from 1, after the white space before it; the root is 0
    heads = sentence.heads and [
        None if head is None else head + bisect_left(behind, head - 1) for head in sentence.heads
    ]
    layers = {name: getattr(sentence, name) for name in LAYERS} | {"heads": heads}
    widened: dict[str, Any] = {
        name: values and _widened(values, dict.fromkeys(breaks, None if name in TREE else ""))
        for name, values in layers.items()
    }
    widened["words"] = _widened(sentence.words, breaks)
    widened["spaces"] = _widened(spaces, dict.fromkeys(breaks, False))
    return replace(sentence, **widened)


def _widened(values: Sequence[Any], behind: Mapping[int, Any]) -> tuple[Any, ...]:
    """Return the values of words, those of white space among them."""
    found = []
    for word, value in enumerate(values):
        found.append(value)
        if word in behind:
            found.append(behind[word])
    return tuple(found)
