"""Legal entities with exact probabilities from the scores of a token classifier."""

from ...components.tagger.entity_scheme import EntityScheme, TokenEntity
from .entities import EntityDecoder, FoundEntities
from .pipeline import exact_pipeline
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
