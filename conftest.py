"""What tests and doctests share: each begins from the same random state, in whatever order."""

import subprocess
from pathlib import Path

import pytest
from spacy.util import fix_random_seed

from tests.entry_points import list_by_group

list_by_group()

#: The files of the checkout that git knows nothing of, when the tests begin.
STRAY = pytest.StashKey[set[str] | None]()


@pytest.fixture(autouse=True)
def same_random_state() -> None:
    """Weights begin alike in every run, whichever tests ran before in the process."""
    fix_random_seed(0)


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[STRAY] = stray_files(session.config.rootpath)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test has left files in the checkout: they write into temporary folders."""
    before = session.config.stash.get(STRAY, None)
    after = stray_files(session.config.rootpath)
    if before is None or after is None or hasattr(session.config, "workerinput"):
        return  # no checkout of git, or one of several processes, the first of which looks
    if left := sorted(after - before):
        print(f"\nleft in the checkout by tests: {', '.join(left)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def stray_files(root: Path) -> set[str] | None:
    """Return the files that are neither tracked nor ignored; None where git can't tell."""
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return set(done.stdout.splitlines())
