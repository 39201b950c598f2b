"""The compiled loop over the INSERT statements of an SQL dump."""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["NULL", "SEPARATOR", "parse_rows"]

#: What a number that is NULL, or none at all, is read as.
NULL = -1
#: Between two texts of one row: a control character that no title has.
SEPARATOR = 31

_BACKSLASH, _QUOTE, _COMMA, _OPEN, _CLOSE = 92, 39, 44, 40, 41
_SEMICOLON, _NEWLINE, _SPACE, _MINUS, _ZERO, _NINE = 59, 10, 32, 45, 48, 57
_INSERT = np.frombuffer(b"INSERT INTO", np.uint8)
_VALUES = np.frombuffer(b"VALUES", np.uint8)
# a tuple longer than this has lost its closing quote
_LONGEST = 1 << 20


@jit()
def _starts_with(data, position, word):
    if position + word.size > data.size:
        return False
    for i in range(word.size):
        if data[position + i] != word[i]:
            return False
    return True


@jit()
def _unescaped(byte):
    # MySQL's escapes; \' \" \\ stand for themselves
    if byte == 110:  # n: a title has no newline, and lines end the blob's strings
        return _SPACE
    if byte == 116:  # t
        return 9
    if byte == 48:  # 0
        return _SPACE
    return byte


@jit()
def _next_tuple(data, position):
    """Where the text after a broken tuple may be read again: past the next ``),(``."""
    for i in range(position + 1, data.size - 2):
        if data[i] == _CLOSE and (
            data[i + 1] == _SEMICOLON
            or (data[i + 1] == _COMMA and data[i + 2] in (_OPEN, _NEWLINE))
        ):
            return i + 1
    return data.size


@jit()
def _parse_tuple(data, position, columns, slot, texts, numbers, row, blob, filled):
    """Parse one tuple from its parenthesis on.

    Returns (position behind it, bytes of the blob used); the position is -1 if the data
    ends first, and -2 if the tuple is broken.
    """
    i = position + 1
    column = 0
    number = 0
    negative = False
    digits = 0
    started = filled
    written = 0
    size = data.size
    stop = min(size, position + _LONGEST)
    while i < stop:
        byte = data[i]
        if byte == _QUOTE:
            keep = column < columns and texts[column]
            i += 1
            while i < stop and data[i] != _QUOTE:
                character = data[i]
                if character == _BACKSLASH:
                    i += 1
                    if i >= stop:
                        break
                    character = _unescaped(data[i])
                elif character == _NEWLINE or character == SEPARATOR:
                    character = _SPACE
                if keep:
                    blob[filled] = character
                    filled += 1
                i += 1
            if i >= stop:
                break
        elif byte == _COMMA or byte == _CLOSE:
            if column < columns and slot[column] >= 0:
                value = number if digits > 0 else NULL
                numbers[row, slot[column]] = -value if negative else value
            if column < columns and texts[column]:
                # each text is ended here, so that an empty or NULL one has its place
                blob[filled] = SEPARATOR
                filled += 1
                written += 1
            column += 1
            number = 0
            digits = 0
            negative = False
            if byte == _CLOSE:
                if column != columns:
                    return -2, started
                if written:
                    blob[filled - 1] = _NEWLINE
                return i + 1, filled
        elif _ZERO <= byte <= _NINE:
            number = number * 10 + (byte - _ZERO)
            digits += 1
        elif byte == _MINUS:
            negative = True
        i += 1
    if stop < size:
        return -2, started
    return -1, started


@jit()
def parse_rows(data, inside, columns, slot, texts, numbers, blob):
    """Read all complete tuples of a chunk.

    Parameters
    ----------
    data : uint8 (bytes,)
        The chunk.
    inside : bool
        Whether it begins within an INSERT statement, between tuples.
    columns : int
        Columns of the table.
    slot : int64 (columns,)
        Column of `numbers` that a table column goes to, -1 for none.
    texts : bool (columns,)
        The table columns whose text is kept.
    numbers : int64 (capacity, slots)
        Receives the numbers.
    blob : uint8 (bytes,)
        Receives the texts, unescaped: those of a row in the order of the table, with
        `SEPARATOR` between them and a newline at their end.

    Returns
    -------
    rows, filled, consumed, inside, bad
        Rows read; bytes of the blob; bytes of the data that need not be seen again; whether
        the chunk ends within a statement; tuples that were left out as broken.
    """
    position = 0
    rows = 0
    filled = 0
    bad = 0
    size = data.size
    while position < size:
        if not inside:
            line_end = position
            while line_end < size and data[line_end] != _NEWLINE:
                line_end += 1
            if not _starts_with(data, position, _INSERT):
                if line_end == size:
                    return rows, filled, position, inside, bad
                position = line_end + 1
                continue
            values = position
            while values < size and not _starts_with(data, values, _VALUES):
                values += 1
            if values == size:
                return rows, filled, position, inside, bad
            position = values + _VALUES.size
            inside = True
        byte = data[position]
        if byte == _OPEN:
            after, filled = _parse_tuple(
                data, position, columns, slot, texts, numbers, rows, blob, filled
            )
            if after == -1:
                return rows, filled, position, inside, bad
            if after == -2:
                bad += 1
                position = _next_tuple(data, position)
            else:
                rows += 1
                position = after
        elif byte == _SEMICOLON:
            inside = False
            while position < size and data[position] != _NEWLINE:
                position += 1
            position += 1
        else:
            position += 1
    return rows, filled, min(position, size), inside, bad
