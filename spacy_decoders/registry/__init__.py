"""The names that config files use, which the package's entry points refer to."""

from ..components.decoder_registry import decoders

__all__ = ["decoders"]
