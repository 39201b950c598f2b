"""The names that config files use, which the package's entry points refer to."""

from ..components.option_checks import decoders

__all__ = ["decoders"]
