"""Texts in numbers, for tests."""

from dataclasses import fields

import numpy as np

from spacy_decoders.models.headline.words import TextTokens


def tokens_of(keys, **columns) -> TextTokens:
    """Tokens with some columns; in the others nothing is so."""
    numbers = ("text", "sentences", "tags")
    given = {
        of.name: np.zeros(len(keys), dtype=np.int64 if of.name in numbers else bool)
        for of in fields(TextTokens)
    }
    return TextTokens(**{**given, "keys": keys, "stems": keys, **columns})
