"""The compiled pass over wikitext."""

from __future__ import annotations

import numpy as np

from ....jit import jit

__all__ = ["strip_markup"]

_NEWLINE, _SPACE, _TAB, _QUOTE, _HASH = 10, 32, 9, 39, 35
_AMPERSAND, _SEMICOLON, _COLON, _STAR, _SLASH, _DASH = 38, 59, 58, 42, 47, 45
_LESS, _GREATER, _EQUALS, _BANG, _PIPE = 60, 62, 61, 33, 124
_OPEN, _CLOSE, _BRACE, _UNBRACE, _UNDERSCORE = 91, 93, 123, 125, 95
#: Elements whose content is no text.
_HIDDEN = np.frombuffer(
    b"ref math gallery timeline syntaxhighlight source score chem graph mapframe imagemap "
    b"templatestyles ",
    np.uint8,
)
#: An opening bracket is believed to be closed within so many bytes.
_FAR = 1 << 20
_LONGEST_TAG = 2000


@jit()
def _is(data, at, first, second):
    return data[at] == first and data[at + 1] == second


@jit()
def _is_letter(byte):
    return 97 <= (byte | 32) <= 122


@jit()
def _find(data, start, first, second):
    """The place of two bytes from `start` on, or the size of the data."""
    for i in range(start, min(data.size - 1, start + _FAR)):
        if data[i] == first and data[i + 1] == second:
            return i
    return data.size


@jit()
def _tag_end(data, start):
    """Behind the ``>`` of a tag that begins at `start`, and whether it closes itself."""
    for i in range(start, min(data.size, start + _LONGEST_TAG)):
        if data[i] == _GREATER:
            return i + 1, data[i - 1] == _SLASH
    return start + 1, True


@jit()
def _is_hidden(data, start, stop):
    """Whether the element of the name has no text."""
    at = 0
    while at < _HIDDEN.size:
        i = start
        while i < stop and (data[i] | 32) == _HIDDEN[at]:
            i += 1
            at += 1
        if i == stop and _HIDDEN[at] == _SPACE:
            return True
        while _HIDDEN[at] != _SPACE:
            at += 1
        at += 1
    return False


@jit()
def _closing_tag(data, start, name_start, name_stop):
    """Behind ``</name>`` from `start` on, or `start`."""
    i = start
    end = min(data.size - 2, start + _FAR)
    while i < end:
        if _is(data, i, _LESS, _SLASH):
            j = 0
            while (
                name_start + j < name_stop
                and i + 2 + j < data.size
                and (data[i + 2 + j] | 32) == (data[name_start + j] | 32)
            ):
                j += 1
            if name_start + j == name_stop:
                after, _ = _tag_end(data, i)
                return after
        i += 1
    return start


@jit()
def _link_parts(data, start):
    """Of a link whose target begins at `start`: ends of target and page, begin and end of words.

    The end is -1 if it is no link to an article.
    """
    stop = min(data.size - 1, start + 2000)
    target_stop = -1
    page_stop = -1
    colon = False
    i = start
    while i < stop and not _is(data, i, _CLOSE, _CLOSE):
        byte = data[i]
        if byte in (_NEWLINE, _BRACE) or _is(data, i, _OPEN, _OPEN):
            return i, i, i, -1
        if byte == _PIPE and target_stop < 0:
            target_stop = i
        if target_stop < 0:
            if byte == _HASH and page_stop < 0:
                page_stop = i
            # a name space or another wiki: titles have a blank behind a colon
            if byte == _COLON and data[i + 1] != _SPACE and data[i + 1] != _UNDERSCORE:
                colon = True
        i += 1
    if i == stop or colon:
        return i, i, i, -1
    words = target_stop + 1 if target_stop >= 0 else start
    if target_stop < 0:
        target_stop = i
    if page_stop < 0:
        page_stop = target_stop
    return target_stop, page_stop, words, i


@jit()
def _skip_nested(data, start, first, last, found, count):
    """Behind a template or table that begins at `start`; its links are recorded.

    `first` and `last` are the bytes that open and close it: ``{{ }}`` or ``{| |}``.
    """
    depth = 1
    i = start + 2
    end = min(data.size - 1, start + _FAR)
    kept = count
    while i < end:
        if data[i] == _BRACE and data[i + 1] == first:
            depth += 1
            i += 2
        elif data[i] == last and data[i + 1] == _UNBRACE:
            depth -= 1
            i += 2
            if depth == 0:
                return i, count
        elif _is(data, i, _OPEN, _OPEN):
            _, page_stop, words, link_end = _link_parts(data, i + 2)
            if link_end >= 0 and page_stop > i + 2 and count < len(found):
                found[count, 0], found[count, 1] = i + 2, page_stop
                found[count, 2], found[count, 3] = words, link_end
                found[count, 4] = 1
                count += 1
            i += 2
        else:
            i += 1
    return start + 2, kept  # never closed: the brackets alone are left out


@jit()
def _skip_file(data, start):
    """Behind a link of another name space that begins at `start`, with all links in it."""
    depth = 1
    i = start + 2
    end = min(data.size - 1, start + _FAR)
    while i < end:
        if _is(data, i, _OPEN, _OPEN):
            depth += 1
            i += 2
        elif _is(data, i, _CLOSE, _CLOSE):
            depth -= 1
            i += 2
            if depth == 0:
                return i
        else:
            i += 1
    return start + 2


@jit()
def _line_end(data, start):
    i = start
    while i < data.size and data[i] != _NEWLINE:
        i += 1
    return i


@jit()
def _entity(data, at):
    """The byte that an entity at an ``&`` stands for, and its length; 0 if it is none."""
    stop = min(data.size, at + 9)
    for i in range(at + 1, stop):
        if data[i] == _SEMICOLON:
            length = i + 1 - at
            second = data[at + 2]
            if length == 6 and second == 98:  # &nbsp;
                return _SPACE, length
            if length == 5 and second == 109:  # &amp;
                return _AMPERSAND, length
            if length == 4 and second == 116:  # &lt; &gt;
                return (_LESS if data[at + 1] == 108 else _GREATER), length
            if length == 6 and second == 117:  # &quot;
                return 34, length
            if length == 7 and (data[at + 3] == 97 or data[at + 3] == 100):  # &ndash; &mdash;
                return _DASH, length
            return _SPACE, 0
    return _SPACE, 0


@jit()
def strip_markup(data, text, found):
    """Write the plain text, and the places of the links.

    **Shapes:** data, text uint8 (bytes,), the data ended by a newline; found int64 (links, 5):
    begin and end of the page's name in the data, of the words in the text, and 0; or of the words
    in the data, and 1. Returns the bytes of text and the number of links.
    """
    size = data.size
    filled = 0
    count = 0
    link_end = -1  # of the link that is open, in the data
    external = False
    line_start = True
    i = 0
    while i < size - 1:
        byte = data[i]
        if i == link_end:  # the brackets that close a link
            i += 2
            while i < size and _is_letter(data[i]):  # [[bus]]es
                text[filled] = data[i]
                filled += 1
                i += 1
            found[count, 3] = filled
            if found[count, 3] > found[count, 2]:
                count += 1
            link_end = -1
            continue
        if line_start:
            line_start = False
            if byte == _EQUALS:
                i = _line_end(data, i)
                continue
            if _is(data, i, _BRACE, _PIPE):
                i, count = _skip_nested(data, i, _PIPE, _PIPE, found, count)
                continue
            if byte in (_PIPE, _BANG) or _is(data, i, _DASH, _DASH):
                i = _line_end(data, i)
                continue
            if byte in (_STAR, _HASH, _SEMICOLON, _COLON):
                i += 1
                line_start = True
                continue
        if byte in (_NEWLINE, _SPACE, _TAB):
            if filled and text[filled - 1] != _SPACE:
                text[filled] = _SPACE
                filled += 1
            line_start = byte == _NEWLINE
            i += 1
        elif byte == _LESS:
            i = _skip_tag(data, i)
        elif byte == _BRACE and data[i + 1] == _BRACE and link_end < 0:
            i, count = _skip_nested(data, i, _BRACE, _UNBRACE, found, count)
        elif byte == _OPEN and data[i + 1] == _OPEN and link_end < 0:
            begin = i + 2
            _, page_stop, words, end = _link_parts(data, begin)
            if end < 0:
                i = _skip_file(data, i)
                continue
            i = words
            if page_stop > begin and count < len(found):
                link_end = end
                found[count, 0], found[count, 1] = begin, page_stop
                found[count, 2], found[count, 4] = filled, 0
        elif byte == _OPEN and (data[i + 1] | 32) == 104 and link_end < 0:  # [http://x words]
            end = i
            while end < size - 1 and data[end] > _SPACE and data[end] != _CLOSE:
                end += 1
            external = data[end] != _CLOSE
            i = end + 1
        elif byte == _CLOSE and external:
            external = False
            i += 1
        elif byte == _CLOSE and data[i + 1] == _CLOSE:
            i += 2
        elif byte == _QUOTE and data[i + 1] == _QUOTE:
            while i < size and data[i] == _QUOTE:
                i += 1
        elif byte == _AMPERSAND:
            stands_for, length = _entity(data, i)
            text[filled] = stands_for if length else byte
            filled += 1
            i += max(length, 1)
        else:
            text[filled] = byte
            filled += 1
            i += 1
    while filled and text[filled - 1] == _SPACE:
        filled -= 1
    return filled, count


@jit()
def _skip_tag(data, at):
    """Behind the tag at `at`, or behind its element if that has no text."""
    if data[at + 1] == _BANG:  # a comment
        end = at + 4
        while end < data.size:
            end = _find(data, end, _DASH, _DASH)
            if end + 2 >= data.size or data[end + 2] == _GREATER:
                break
            end += 1
        return end + 3 if end + 2 < data.size else at + 1
    name = at + 1
    stop = name
    while stop < data.size and _is_letter(data[stop]):
        stop += 1
    if stop == name and data[name] != _SLASH:
        return at + 1  # a less-than sign; it is left out
    after, closed = _tag_end(data, at)
    if not closed and stop > name and _is_hidden(data, name, stop):
        after = _closing_tag(data, after, name, stop)
    return after
