"""Universal parts of speech and features, told from those of other schemes."""

from __future__ import annotations

__all__ = ["PARTS_OF_SPEECH", "features", "is_features"]

#: The universal parts of speech, and spaCy's own for white space.
PARTS_OF_SPEECH = frozenset(
    {
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "EOL", "INTJ", "NOUN"),
        *("NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SPACE", "SYM", "VERB", "X"),
    }
)


def is_features(text: str) -> bool:
    """Whether a text is a list of ``Name=Value``, the only form that spaCy reads.

    Examples
    --------
    >>> is_features("Case=Nom|Number=Sing"), is_features("NCCSU==D"), is_features("sg|nom")
    (True, False, False)
    """
    return all(
        item.count("=") == 1 and not item.startswith("=") and not item.endswith("=")
        for item in text.split("|")
    )


def features(text: str | None) -> str | None:
    """Return a list of features, or None where the text is something else."""
    return text if text and is_features(text) else None
