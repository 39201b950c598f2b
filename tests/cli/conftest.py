"""Commands write where they are started."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The demo writes its page where it is started."""
    monkeypatch.chdir(tmp_path)
