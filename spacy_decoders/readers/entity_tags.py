"""Named entities in the schemes that corpora use, as BIO."""

from __future__ import annotations

from collections.abc import Iterable

from .words import WordError

__all__ = ["as_bio"]

_POSITIONS = {"B": "B", "I": "I", "U": "B", "S": "B", "L": "I", "E": "I"}
_UNKNOWN = ("", "_", "-")


def as_bio(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in BIO, of a sentence tagged in IOB, BIO, BILOU (BILUO) or BIOES.

    Parameters
    ----------
    tags
        The tag of each word; ``_`` where it is unknown, which becomes the empty string.

    Raises
    ------
    WordError
        If a tag is of none of the schemes.

    Examples
    --------
    >>> as_bio(["I-PER", "I-PER", "O", "I-ORG", "B-ORG", "_"])  # IOB: B only where it is needed
    ('B-PER', 'I-PER', 'O', 'B-ORG', 'B-ORG', '')
    >>> as_bio(["B-PER", "L-PER", "O", "U-ORG"])
    ('B-PER', 'I-PER', 'O', 'B-ORG')
    """
    found: list[str] = []
    kind = ""  # of the entity that goes on
    for at, tag in enumerate(tags):
        if tag in _UNKNOWN or tag == "O":
            found.append("" if tag in _UNKNOWN else "O")
            kind = ""
            continue
        position = _POSITIONS.get(tag[0]) if tag[1:2] == "-" and len(tag) > 2 else None
        if position is None:
            known = "IOB, BIO, BILOU or BIOES, such as B-PER or O"
            raise WordError(at, f"{tag[:40]!r} is no entity tag in {known}")
        found.append(f"{'I' if position == 'I' and kind == tag[2:] else 'B'}{tag[1:]}")
        # after the last word of an entity, none of its type goes on
        kind = "" if tag[0] in "ULSE" else tag[2:]
    return tuple(found)
