"""Scores of a token classifier: legal entities with exact probabilities."""

from .entities import EntityDecoder, FoundEntities, TokenEntity
from .scheme import EntityScheme
from .words import merge_windows, word_scores

__all__ = [
    "EntityDecoder",
    "EntityScheme",
    "FoundEntities",
    "TokenEntity",
    "merge_windows",
    "word_scores",
]
