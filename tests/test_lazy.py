"""Names that load on first use."""

import sys
from importlib import import_module

import pytest

PACKAGES = [
    "spacy_decoders.decoders.chain",
    "spacy_decoders.decoders.tree",
    "spacy_decoders.decoders.path",
    "spacy_decoders.decoders.representatives",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_loads_and_is_kept(package):
    module = import_module(package)
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        assert vars(sys.modules[package])[name] is found
