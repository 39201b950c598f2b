"""The features of phrases, in the columns of `PHRASE_FEATURES`."""

import numpy as np

from ....jit import internal, jit
from .phrases import AUXILIARY, EDGE, GLUE, OPENER, STOP, UNIT, WORD

__all__ = ["fill_features"]


#: The first columns, in the order of `OF_PHRASES`.
(
    _OCCURRENCES,
    _DENSITY,
    _MAXIMAL_LEFT,
    _MAXIMAL_RIGHT,
    _AFTER_BREAK,
    _BEFORE_BREAK,
    _AFTER_AUXILIARY,
    _BEFORE_AUXILIARY,
    _AFTER_FUNCTION,
    _BEFORE_FUNCTION,
    _FIRST_SENTENCE_INDEX,
    _FIRST_POSITION,
    _RELATIVE_POSITION,
    _IN_FIRST_SENTENCE,
    _AT_START,
    _SPREAD,
    _SENTENCE_SHARE,
    _FORM_SHARE,
    _WORDS,
    _UNITS,
    _FUNCTION_WORDS,
    _OTHER_EDGES,
    _GLUE,
    _OPENER,
    _EXPECTED_OVERLAP,
    _TITLE_PAIRS,
    _CONSTITUENT,
    _TEXT_WORDS,
    _TEXT_SENTENCES,
) = range(29)
#: Counts of what all occurrences of a phrase have in common.
_COUNT, _LEFT, _RIGHT, _FIRST, _LAST, _SENTENCES, _SEEN = range(7)
#: Shares of them: after and before a break, an auxiliary, another function word.
_SHARES = 6


@internal(counted=True)
def _of_kinds(text, found):
    """Counts of each phrase by its stems, and what is beside its occurrences."""
    starts, ends, kinds = found.starts, found.ends, found.stemmed
    n = text.sentences.size
    count = 0
    for at in range(kinds.size):
        count = max(count, kinds[at] + 1)
    table = np.zeros((count, 7), np.int64)
    shares = np.zeros((count, _SHARES), np.int64)
    for at in range(starts.size):
        start, end, row = starts[at], ends[at], table[kinds[at]]
        sentence = text.sentences[start]
        if not row[_COUNT]:
            row[_FIRST] = start
            row[_SEEN] = -1
        row[_COUNT] += 1
        row[_LAST] = start
        row[_SENTENCES] += row[_SEEN] != sentence
        row[_SEEN] = sentence
        share = shares[kinds[at]]
        for side in range(2):
            beside = end if side else start - 1
            broken = beside < 0 or beside >= n or text.sentences[beside] != sentence
            broken = broken or not (text.flags[beside, WORD] or text.flags[beside, GLUE])
            share[side] += broken
            if not broken:
                share[2 + side] += text.flags[beside, AUXILIARY]
                share[4 + side] += text.flags[beside, STOP]
    return table, shares


@internal(counted=True)
def _extend(found, tokens, table):
    """Find how often the most frequent phrase occurs that is a token or two longer on a side."""
    starts, ends, kinds = found.starts, found.ends, found.stemmed
    begins = np.zeros(tokens + 1, np.int64)
    for at in range(starts.size):
        begins[starts[at] + 1] += 1
    for at in range(tokens):
        begins[at + 1] += begins[at]
    for at in range(starts.size):
        row = table[kinds[at]]
        for step in range(1, 3):
            for side in range(2):
                start = starts[at] if side else starts[at] - step
                end = ends[at] + step if side else ends[at]
                if start < 0:
                    continue
                for other in range(begins[start], begins[start + 1]):
                    if ends[other] == end:
                        count = table[kinds[other], _COUNT]
                        row[_LEFT + side] = max(row[_LEFT + side], count)


@internal()
def _constituent(heads, start, end):
    """Whether exactly one token of a phrase depends on a token outside of it."""
    outward = 0
    for at in range(start, end):
        outward += heads[at] < start or heads[at] >= end or heads[at] == at
    return outward == 1


@internal()
def _of_words(text, columns, start, end, row):
    """Mean, first, last, least and greatest of the words' scores."""
    units = 0
    for at in range(start, end):
        units += text.flags[at, UNIT]
    for score in range(text.scores.shape[1]):
        total, least, most = 0.0, np.inf, -np.inf
        for at in range(start, end):
            if text.flags[at, UNIT]:
                value = text.scores[at, score]
                total += value
                least = min(least, value)
                most = max(most, value)
        mean, first, last, low, high = columns[score]
        if mean >= 0:
            row[mean] = total / max(units, 1)
        if first >= 0:
            row[first] = text.scores[start, score]
        if last >= 0:
            row[last] = text.scores[end - 1, score]
        if low >= 0:
            row[low] = least
            row[high] = most


@internal()
def _of_make_up(text, columns, usual, start, end, row):
    """Numbers of words of each kind, and what titles say of them."""
    words, units, functions, others, glue = 0, 0, 0, 0, 0
    chance, pairs = 0.0, 0.0
    for at in range(start, end):
        flags = text.flags[at]
        words += flags[WORD]
        units += flags[UNIT]
        functions += flags[STOP] and flags[WORD]
        others += flags[EDGE] and not flags[UNIT]
        glue += flags[GLUE]
        if flags[WORD]:
            chance += text.scores[at, columns.chance]
        if at + 1 < end:
            pairs += text.pairs[at]
    row[_WORDS], row[_UNITS], row[_GLUE] = words, units, glue
    row[_FUNCTION_WORDS], row[_OTHER_EDGES] = functions, others
    row[_OPENER] = text.flags[start, OPENER]
    row[_EXPECTED_OVERLAP] = (
        2.0 * chance / (words + usual)
    )  # the expected F1 of the words, each by itself
    row[_TITLE_PAIRS] = pairs
    row[_TEXT_WORDS] = np.log(text.sentences.size)
    row[_TEXT_SENTENCES] = np.log1p(text.sentences[-1])
    first, last = columns.sizes
    if first + words - 1 < last and words:
        row[first + words - 1] = 1.0


@internal()
def _of_occurrences(text, found, columns, out):
    """What an occurrence adds to the features of its phrase: tags, and being a constituent."""
    first, last, share = columns.tags
    for at in range(found.starts.size):
        start, end, number = found.starts[at], found.ends[at], found.phrase[at]
        row, times = out[number], found.counts[number]
        for token in range(start, end):
            if text.tags[token] >= 0:
                row[share + text.tags[token]] += 1.0 / ((end - start) * times)
        if text.tags[start] >= 0:
            row[first + text.tags[start]] += 1.0 / times
        if text.tags[end - 1] >= 0:
            row[last + text.tags[end - 1]] += 1.0 / times
        if text.heads.size and _constituent(text.heads, start, end):
            row[_CONSTITUENT] += 1.0 / times


@jit()
def fill_features(text, found, columns, usual, out):
    """Fill the features of each phrase; `out` is zero before.

    Parameters
    ----------
    text, found, columns
        A :class:`..phrase_features.TextTable`, :class:`..phrases.Occurrences` and
        :class:`..phrase_features.FeatureColumns`.
    usual
        The mean number of words of a title.
    """
    n = text.sentences.size
    table, shares = _of_kinds(text, found)
    _extend(found, n, table)
    _of_occurrences(text, found, columns, out)
    for number in range(found.first.size):
        at = found.first[number]
        start, end, kind = found.starts[at], found.ends[at], found.stemmed[at]
        row, of_kind = out[number], table[kind]
        count = of_kind[_COUNT]
        first = of_kind[_FIRST]
        row[_OCCURRENCES] = np.log(count)
        row[_DENSITY] = np.log(count / n * 500.0)
        row[_MAXIMAL_LEFT] = of_kind[_LEFT] / count
        row[_MAXIMAL_RIGHT] = of_kind[_RIGHT] / count
        for share in range(_SHARES):
            row[_AFTER_BREAK + share] = shares[kind, share] / count
        row[_FIRST_SENTENCE_INDEX] = np.log1p(text.sentences[first])
        row[_FIRST_POSITION] = np.log1p(first)
        row[_RELATIVE_POSITION] = first / n
        row[_IN_FIRST_SENTENCE] = text.sentences[first] == 0
        row[_AT_START] = first == 0
        row[_SPREAD] = (of_kind[_LAST] - first) / n
        row[_SENTENCE_SHARE] = of_kind[_SENTENCES] / (text.sentences[-1] + 1.0)
        row[_FORM_SHARE] = np.log(found.counts[number] / count)
        _of_words(text, columns.words, start, end, row)
        _of_make_up(text, columns, usual, start, end, row)
    for pair in range(columns.compared.shape[0]):
        own, behind = columns.compared[pair]
        best = out[:, own].max()
        for number in range(found.first.size):
            out[number, behind] = best - out[number, own]
