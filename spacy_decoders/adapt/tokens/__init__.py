"""Scores of a token classifier: legal entities with exact probabilities.

Names load on first use, so that naming a component in a config compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "EntityDecoder": "entities",
    "EntityScheme": "scheme",
    "FoundEntities": "entities",
    "TokenEntity": "entities",
    "exact_pipeline": "pipeline",
    "merge_windows": "words",
    "word_scores": "words",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found  # the next time this function is not asked
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
