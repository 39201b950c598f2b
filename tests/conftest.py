"""What all tests share."""

import os
from pathlib import Path

import numpy as np
import pytest

#: Real data, where it is there: beside the repository, or where this variable says.
DATA = Path(os.environ.get("SPACY_DECODERS_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item.path)))
    if DATA.is_dir():
        return
    missing = pytest.mark.skip(reason=f"no real data at {DATA}; set SPACY_DECODERS_DATA")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(missing)


def _group(path: Path) -> str:
    """Name the tests that one worker runs: those of a file, or of a core.

    Cores are the largest groups and begin first, each on a worker of its own; so hardly one of
    the few kernels that no warm-up compiles is compiled twice.
    """
    cores = Path(__file__).parent / "decoders"
    return path.relative_to(cores).parts[0] if path.is_relative_to(cores) else str(path)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, for tests marked ``data``."""
    return DATA


@pytest.fixture(scope="module")
def shipped():
    """The pipeline that ships, one for each file of tests, which may set its options."""
    import spacy_decoders  # which tests of a core need not wait for

    return spacy_decoders.load()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(0)


@pytest.fixture
def ticks(monkeypatch):
    """A clock for limits of time: a second passes whenever it is read."""
    ticks = iter(range(10**9))
    monkeypatch.setattr("spacy_decoders.budget.perf_counter", lambda: float(next(ticks)))
    return ticks
