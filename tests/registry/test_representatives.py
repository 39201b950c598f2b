"""The decoders of representatives, by their names in config files."""

from __future__ import annotations

import pytest

from spacy_decoders.decoders import representatives
from spacy_decoders.registry import decoders


@pytest.mark.parametrize(
    "name", [name for name in representatives.__all__ if not name.startswith("Representatives")]
)
def test_every_decoder_has_a_name(name):
    built = decoders.get(f"spacy-decoders.{name}.v1")()
    assert built == getattr(representatives, name)()
