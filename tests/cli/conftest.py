"""Commands write where they are started."""

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The demo writes its page where it is started."""
    monkeypatch.chdir(tmp_path)
