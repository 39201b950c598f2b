"""Scores of a token classifier: legal entities with exact probabilities.

Names load on first use, so that naming a component in a config compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .entities import EntityDecoder, FoundEntities, TokenEntity
    from .pipeline import exact_pipeline
    from .scheme import EntityScheme
    from .words import merge_windows, word_scores

__all__ = [
    "EntityDecoder",
    "EntityScheme",
    "FoundEntities",
    "TokenEntity",
    "exact_pipeline",
    "merge_windows",
    "word_scores",
]

__getattr__, __dir__ = lazy_names(__name__)
