"""The trained components of spaCy's own, decoded exactly: their networks stay as they are.

Names load on first use.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .beam import beam_entities
    from .senter import exact_senter_from
    from .tagger import exact_tagger_from

__all__ = ["beam_entities", "exact_senter_from", "exact_tagger_from"]

__getattr__, __dir__ = lazy_names(__name__)
