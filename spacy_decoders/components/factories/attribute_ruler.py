"""The factory of ``cached_attribute_ruler``, which spaCy imports when it looks for components."""

from ..options import WithOptions, option
from .factory import register_factory

__all__ = ["RulerOptions", "make_cached_attribute_ruler"]


class RulerOptions(WithOptions):
    """The options of ``cached_attribute_ruler``, those of spaCy's ``attribute_ruler``."""

    validate: bool = option(False)


make_cached_attribute_ruler = register_factory(
    "cached_attribute_ruler",
    "components.attribute_ruler:CachedAttributeRuler",
    RulerOptions,
    scorer="spacy.attribute_ruler_scorer.v1",
    assigns=[],
)
