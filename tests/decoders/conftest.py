"""A clock for limits of time."""

import pytest

from spacy_decoders import budget as budgets


@pytest.fixture
def ticks(monkeypatch):
    """A second passes whenever the clock is read."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(budgets, "perf_counter", lambda: float(next(ticks)))
    return ticks
