"""Wikitext as plain text with its links, by one compiled pass."""

from __future__ import annotations

import numpy as np

from ...arrays import read_only
from .kernels.wikitext import strip_markup

__all__ = ["plain_text"]


def plain_text(source: bytes) -> tuple[bytes, list[tuple[str, str]], list[tuple[str, str]]]:
    """The text of an article, without markup, and its links.

    Templates, tables, references, headings and images are left out, and white space is joined.

    Parameters
    ----------
    source
        Wikitext in UTF-8.

    Returns
    -------
    text, links, hidden
        The text; (page linked to, words of the link) pairs in it, and those of templates and
        tables.

    Examples
    --------
    >>> text, links, hidden = plain_text(b"A [[Felidae|cat]].{{see [[Big cat]]s}}")
    >>> text.decode(), links, hidden
    ('A cat.', [('Felidae', 'cat')], [('Big cat', 'Big cat')])
    """
    data = read_only(np.frombuffer(source + b"\n", np.uint8))
    text = np.empty(len(data), np.uint8)
    found = np.empty((source.count(b"[[") + 1, 5), np.int64)
    filled, count = strip_markup(data, text, found)
    plain = text[:filled].tobytes()
    shown, hidden = [], []
    for target_start, target_stop, start, stop, is_hidden in found[:count].tolist():
        target = source[target_start:target_stop].decode("utf8", "replace")
        words = (source if is_hidden else plain)[start:stop].decode("utf8", "replace")
        if is_hidden:
            hidden.append((target, words.replace("''", "").replace("'''", "").strip()))
        else:
            shown.append((target, words.strip()))
    return plain, shown, hidden
