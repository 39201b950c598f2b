"""The names that config files use: what the entry points of the package refer to."""

from ..components.decoder_registry import decoders

__all__ = ["decoders"]
