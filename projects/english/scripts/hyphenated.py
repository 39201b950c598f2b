"""Second halves of hyphenated names, of which the corpora have few."""

import random
from collections.abc import Iterator
from pathlib import Path

__all__ = ["lengthened", "syllable"]

ONSETS = ("b", "ch", "d", "g", "h", "j", "k", "l", "m", "n", "p", "s", "sh", "t", "w", "y", "")
RHYMES = (
    "a", "ae", "ai", "an", "ang", "ee", "en", "eo", "eun", "i", "in", "ing", "o", "oo", "u", "un",
)  # fmt: skip
#: What may follow these in names that are not listed with a rhyme.
ENDS = ("", "", "n", "k", "ng")
#: The share of names that get a second half, twice where they follow another part of a name; of
#: these half get a syllable, the others a word of another name.
SHARE = 0.15
#: The relations of words that names end with or consist of.
RELATIONS = {
    "flat", "nsubj", "nsubj:pass", "obj", "obl", "obl:agent", "nmod", "nmod:poss", "appos", "conj",
    "compound", "root", "xcomp",
}  # fmt: skip


def syllable(chance: random.Random) -> str:
    """Return a second syllable of a name such as "Jong-un"."""
    return chance.choice(ONSETS) + chance.choice(RHYMES)


def lengthened(treebank: Path, chance: random.Random) -> Iterator[str]:
    """Yield the sentences of a treebank in which a name got a second half, in CoNLL-U.

    The hyphen belongs to the second half, which is a part of the name, as in the treebank.
    """
    found = [*_sentences(treebank)]
    names = sorted({row[1] for _, rows in found for row in rows if _is_name(row)})
    for comments, rows in found:
        if not all(row[0].isdigit() for row in rows):
            continue
        longer, moved = _lengthened(rows, names, chance)
        if len(longer) > len(rows):
            lines = [line for line in comments if line.startswith(("# newdoc", "# newpar"))]
            for number, row in enumerate(longer, start=1):
                head = number + 1 if row[6] == "next" else moved[int(row[6])]
                lines.append("\t".join([str(number), *row[1:6], str(head), row[7], "_", row[9]]))
            yield "\n".join(lines) + "\n\n"


def _sentences(treebank: Path) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield the comments of each sentence, and its rows."""
    for block in treebank.read_text(encoding="utf8").strip().split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("#")]
        yield comments, [line.split("\t") for line in lines[len(comments) :]]


def _is_name(row: list[str]) -> bool:
    word = row[1]
    is_word = word.istitle() and word.isalpha() and len(word) > 2
    return is_word and row[4] == "NNP" and row[7] != "goeswith"


def _lengthened(
    rows: list[list[str]], names: list[str], chance: random.Random
) -> tuple[list[list[str]], list[int]]:
    """Return longer rows, whose heads are numbers of rows before, and what these have become."""
    longer: list[list[str]] = []
    moved = [0]
    for place, row in enumerate(rows):
        longer.append(row)
        moved.append(len(longer))
        has_hyphen = any(near[1] == "-" for near in rows[max(0, place - 1) : place + 2])
        if not _is_name(row) or has_hyphen or row[7] not in RELATIONS:
            continue
        follows = row[7] == "flat"
        if chance.random() >= SHARE * (1 + follows):
            continue
        if follows and chance.random() < 0.5:
            half = syllable(chance) + chance.choice(ENDS)
        else:
            half = chance.choice(names)
        head = row[6] if follows else row[0]
        glued = "SpaceAfter=No"
        longer[-1] = [*row[:9], glued]
        longer.append(["", "-", "-", "PUNCT", "HYPH", "_", "next", "punct", "_", glued])
        longer.append(["", half, half, "PROPN", "NNP", "Number=Sing", head, "flat", "_", row[9]])
    return longer, moved
