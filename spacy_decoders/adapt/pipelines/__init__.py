"""The trained components of spaCy's own, decoded exactly: their networks stay as they are.

Names load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .beam import beam_entities
    from .senter import exact_senter_from
    from .tagger import exact_tagger_from

__all__ = ["beam_entities", "exact_senter_from", "exact_tagger_from"]

_HOMES = {
    "beam_entities": "beam",
    "exact_senter_from": "senter",
    "exact_tagger_from": "tagger",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found  # the next time this function is not asked
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
