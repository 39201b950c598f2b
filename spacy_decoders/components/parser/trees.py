"""Dependency trees between spaCy's Doc and plain arrays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, ORTH, SENT_START, SPACY
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ...arrays import Booleans, Integers
from ...errors import ProblemError
from ...models.parser.boundaries import MOST_WORDS

__all__ = [
    "CROSSING",
    "DocColumns",
    "attach_spaces",
    "paragraph_starts",
    "tree_faults",
    "unparted",
    "write_trees",
]

#: Ends of lines and of paragraphs.
BREAKS = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
PARAGRAPH = "\u2029"
#: The beginning of a list item: a bullet, a number, or a letter in brackets.
ITEM = re.compile(
    r"(?:([-*+\u2022\u2023\u25aa\u25e6\u00b7\u2013])|\(?(\d{1,3})[.)]|\(?[A-Za-z]\))\s+\S"
)

#: Signs that open and close quotations and brackets; where some do both, white space decides.
OPENING = frozenset(map(get_string_id, "\"'`([{\u00ab\u2018\u201c\u201e"))
CLOSING = frozenset(map(get_string_id, "\"'`)]}\u00bb\u2019\u201d"))
#: Signs that join the words beside them, as in "x < 5" and "File > Print".
SIGNS = frozenset(map(get_string_id, ("<", ">", "=", "<=", ">=", "!=", "\u2264", "\u2265")))
LESS = get_string_id("<")

#: The label of white space, the same as in spaCy's parser.
SPACE_LABEL = "dep"

#: The warning where spaCy derives parts of a tree wrongly.
CROSSING = (
    "a non-projective tree is beyond what spaCy can derive from heads: token.left_edge and "
    "right_edge (and what builds on them, such as noun chunks) may be wrong there, and sentence "
    "boundaries, which are right in this Doc, may be cut anew when it is serialised. Heads and "
    "labels are right. Set projective = true for trees without crossing arcs."
)


class DocColumns(NamedTuple):
    """The attributes of the n tokens of a document that the parser reads, each (n,)."""

    #: uint64, hashes of the words.
    words: NDArray[np.uint64]
    #: Whether a blank follows.
    spaced: Booleans
    #: Whether the token is white space.
    blank: Booleans
    #: Sentence starts as set: 1 for a start, -1 for none, 0 where unknown.
    starts: Integers

    @classmethod
    def of(cls, doc: Doc) -> DocColumns:
        """Read all of them in one call."""
        attributes: Any = [ORTH, SPACY, IS_SPACE, SENT_START]
        values: Any = doc.to_array(attributes).reshape(-1, 4).T.astype(np.uint64)
        return cls(values[0], values[1] != 0, values[2] != 0, values[3].view(np.int64))


def paragraph_starts(doc: Doc, blank: Booleans, known: Integers) -> Integers:
    r"""Return the words after blank lines and at the beginning of list items.

    They must begin sentences. A blank line is white space with at least two line breaks. It does
    not count before the first word, or if a sentence is known to begin within it.

    Parameters
    ----------
    blank, known
        Which tokens are white space, and sentence starts, as in :class:`DocColumns`.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("A title\n\nOne line\nand another.")
    >>> columns = DocColumns.of(doc)
    >>> paragraph_starts(doc, columns.blank, columns.starts)
    array([3])
    """
    found: set[int] = set()
    if not blank.any():
        return np.array([], dtype=np.int64)
    words = np.flatnonzero(~blank)
    fronts = words[:1].tolist()
    for place in np.flatnonzero(np.diff(words) > 1).tolist():
        before, behind = words[place : place + 2].tolist()
        if (known[before + 1 : behind] == 1).any():
            continue
        text = doc[before + 1 : behind].text
        breaks = len(BREAKS.findall(text)) + text.count(PARAGRAPH)
        if breaks > 1:
            found.add(behind)
        if breaks:
            fronts.append(behind)
    found.update(set(_items(doc, fronts)).difference(words[:1].tolist()))
    return np.array(sorted(found), dtype=np.int64)


def _items(doc: Doc, fronts: Sequence[int]) -> Iterator[int]:
    """Yield the words at the beginning of lines that begin list items.

    A single bullet or number may be there because a line was wrapped ("3. Oktober"): another line
    must begin with the same bullet or an adjacent number. Without this rule, 428 of 1,723 items in
    descriptions of software would begin no sentence.
    """
    matches = {place: ITEM.match(doc[place : place + 4].text_with_ws) for place in fronts}
    signs = Counter(match[1] or match[2] for match in matches.values() if match)
    for place, match in matches.items():
        if not match:
            continue
        sign, number = match[1], match[2]
        beside = [str(int(number) + step) for step in (-1, 1)] if number else []
        if (signs[sign] > 1) if sign else (not number or any(signs[near] for near in beside)):
            yield place


def unparted(doc: Doc, columns: DocColumns) -> Integers:
    """Return the words at which no sentence begins because of the characters before them.

    An opening quotation mark or bracket belongs to the word after it, a closing one to the word
    before it: no sentence begins at any of 5,000 such words in treebanks of five languages. None
    begins beside a sign such as "=" between words, unless it ends an address, "< a@example.org >",
    or is behind capitals, as of a heading; and within a string without blanks only after a mark,
    but for 4 of 68,000 words of seven treebanks. Without marks such a string has up to 150 words.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")('He left. "Why (now)?" she asked.')
    >>> [doc[i].text for i in unparted(doc, DocColumns.of(doc))]
    ['.', 'Why', 'now', ')', '"', '.']
    """
    words, found = columns.words.tolist(), set[int]()
    parted = columns.spaced | columns.blank
    for i in [i for i, word in enumerate(words) if word in OPENING or word in CLOSING]:
        before, behind = i == 0 or parted[i - 1], parted[i] or columns.blank[i + 1 : i + 2].all()
        if before and not behind and words[i] in OPENING:
            found.add(i + 1)
        elif behind and not before and words[i] in CLOSING:
            found.add(i)
    single = columns.spaced & ~columns.blank
    for i in [i for i, word in enumerate(words[:-1]) if i > 0 and word in SIGNS]:
        between = single[i - 1] and single[i] and not columns.blank[i + 1]
        if between and words[i - 2] != LESS and not doc[i - 1].text.isupper():
            found.update((i, i + 1))
    joined = ~(parted[:-1] | columns.blank[1:])
    for i in joined.nonzero()[0].tolist():
        joined[i] = category(doc[i].text[-1])[0] != "P"
    # what is too long for a sentence, as a row of emojis, may be parted anywhere
    stretch = (~joined).cumsum()
    joined &= np.bincount(stretch, joined)[stretch] <= MOST_WORDS
    found.update((joined.nonzero()[0] + 1).tolist())
    return np.array(sorted(found), dtype=np.int64)


def tree_faults(heads: Integers, starts: Integers) -> dict[int, str]:
    """Return what is wrong with sentences that are no tree with one root, by their first tokens.

    Parameters
    ----------
    heads
        Indices in the document, a root being its own head. **Shape:** ``(tokens,)``
    starts
        Where sentences begin.

    Examples
    --------
    >>> tree_faults(np.array([1, 1, 1, 3]), np.array([0, 3]))
    {}
    >>> tree_faults(np.array([1, 1, 1, 5, 4, 3]), np.array([0, 3]))
    {3: 'a cycle through token 3'}
    """
    if not len(heads):
        return {}
    places, ends = np.arange(len(heads)), np.concatenate([starts[1:], [len(heads)]])
    sentence = np.repeat(starts, ends - starts)
    outside = (heads < 0) | (heads >= len(heads))
    within = np.where(outside, places, heads)
    outside |= sentence[within] != sentence
    top = within = np.where(outside, places, heads)
    # pointer doubling reaches the root of any tree in log2(n) steps
    for _ in range(int((ends - starts).max()).bit_length()):
        top = top[top]
    is_root, cyclic = heads == places, within[top] != top
    found: dict[int, str] = {}
    # without cycles every sentence has a root
    if not (outside | cyclic).any() and np.count_nonzero(is_root) == len(starts):
        return found
    roots = np.add.reduceat(is_root.astype(np.int64), starts)
    for token in np.flatnonzero(outside).tolist():
        found.setdefault(int(sentence[token]), "a head outside the sentence")
    for token in np.flatnonzero(cyclic).tolist():
        found.setdefault(int(sentence[token]), f"a cycle through token {token}")
    for number in np.flatnonzero(roots != 1).tolist():
        found.setdefault(int(starts[number]), f"{roots[number]} roots")
    return found


def attach_spaces(heads: Integers, spaces: Booleans, starts: Integers) -> None:
    """Attach each white-space token in place, to the token before it where there is one.

    At the beginning of a sentence the head is the first word; in a sentence of white space only,
    the first token is the root.
    """
    blank, places = np.flatnonzero(spaces), np.arange(len(heads))
    sentence = np.searchsorted(starts, blank, side="right") - 1
    first, end = starts[sentence], np.append(starts[1:], len(heads))[sentence]
    before = np.maximum.accumulate(np.where(spaces, -1, places))[blank]
    behind = np.minimum.accumulate(np.where(spaces, len(heads), places)[::-1])[::-1][blank]
    heads[blank] = np.where(before >= first, before, np.where(behind < end, behind, first))


def write_trees(
    doc: Doc,
    heads: Integers,
    deps: NDArray[np.uint64],
    starts: Integers,
    kept: Booleans | None = None,
    *,
    projective: bool = False,
) -> bool:
    """Write heads (indices in the document, a root being its own), labels, boundaries.

    Heads and labels that are set stay where `kept` is true. spaCy derives sentences and subtree
    edges from the heads, and may get both wrong where arcs cross; boundaries are restored.

    Returns
    -------
    Whether everything that spaCy derives is right; if `projective`, this is assumed.

    Raises
    ------
    ProblemError
        If the heads of a sentence are no tree with one root; the document is left as it was.
    """
    if not len(doc):
        return True
    ends = np.concatenate([starts[1:], [len(doc)]])
    labelled = deps != 0
    complete = bool(labelled.all())
    if kept is not None:
        # so does white space around the words, whose heads may be among it
        kept = np.repeat(np.logical_or.reduceat(kept, starts), ends - starts)
        old: Any = doc.to_array([HEAD, DEP])
        own = kept & (old[:, 1] != 0)
        there = np.arange(len(doc)) + old[:, 0].astype(np.uint64).view(np.int64)
        heads, deps = np.where(own, there, heads), np.where(own, old[:, 1], deps)
        labelled &= ~kept
        complete = bool((deps != 0).all())
        projective = False
    if not complete:  # white space has a label without a tree, too
        words = ~DocColumns.of(doc).blank
        labelled &= words
        if words.any() and not deps[words].any():
            # spaCy would take the boundaries of a serialised document from these labels alone
            deps = np.zeros_like(deps)
    faults = tree_faults(heads, starts)
    for start, fault in faults.items():
        end = ends[np.searchsorted(starts, start)]
        if labelled[start:end].any():  # without a tree nothing is written
            raise ProblemError(
                f"heads: the sentence of tokens {start} to {end} is no tree ({fault})."
            )
    values = np.empty((len(doc), 2), dtype=np.uint64)
    values[:, 0] = (heads - np.arange(len(heads))).view(np.uint64)
    values[:, 1] = deps
    doc.from_array([HEAD, DEP], cast(Any, values))
    marks = np.full(len(doc), -1, dtype=np.int64)
    marks[starts] = 1
    is_right = bool((doc.to_array(SENT_START) == marks.view(np.uint64)).all())
    if not is_right:
        doc.from_array([SENT_START], cast(Any, marks.view(np.uint64).reshape(-1, 1)))
    if faults or not complete:  # spaCy also makes a sentence of each token that has no head
        return True
    return is_right and (projective or not _has_wrong_edges(doc, heads, starts, ends))


def _has_wrong_edges(doc: Doc, heads: Integers, starts: Integers, ends: Integers) -> bool:
    """Whether spaCy's span of any root differs from its sentence."""
    for start, end in zip(starts, ends, strict=True):
        root = start + int(np.argmax(heads[start:end] == np.arange(start, end)))
        if doc[root].left_edge.i != start or doc[root].right_edge.i != end - 1:
            return True
    return False
