"""The problems drawn here are small: they are given to the search, too."""

import pytest

from spacy_decoders.decoders.representatives import exact


@pytest.fixture(autouse=True)
def searched(monkeypatch):
    """No problem of several sets is small enough to price all its choices."""
    monkeypatch.setattr(exact, "FEW", 0)
