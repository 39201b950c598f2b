"""Arrays of arc scores: the best tree with one root, its labels, rules, and probabilities.

Names load on first use, so that naming them compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from ...decoders.tree import arc_probabilities
    from .arc_parser import ArcParser, LabelledTree

__all__ = ["ArcParser", "LabelledTree", "arc_probabilities"]

__getattr__, __dir__ = lazy_names(__name__)
