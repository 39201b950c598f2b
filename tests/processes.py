"""Python in a process of its own."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import warnings
from functools import cache
from multiprocessing import forkserver
from pathlib import Path

from numba import config

__all__ = ["forked_python", "python"]

ROOT = Path(__file__).parents[1]

#: Gives birth to processes that have imported the libraries and loaded what is compiled already.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["spacy.cli", "tests.warm"])


def python(
    *arguments: object,
    interpreter: object = sys.executable,
    folder: Path | None = None,
    without: tuple[str, ...] = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run an interpreter, with some variables and without others; it must end well."""
    known = {key: value for key, value in os.environ.items() if key not in without}
    done = subprocess.run(
        [str(part) for part in (interpreter, *arguments)],
        cwd=folder, capture_output=True, text=True, encoding="utf8", check=False,
        env={**known, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def forked_python(
    *arguments: object, log: Path, folder: Path | None = None, **environment: str
) -> str:
    """Run what ``python`` with these arguments would; it must end well. Return what it printed.

    It is as much on its own as by :func:`python`, but need not import spaCy and numba first.
    """
    _start_forks()
    command = [str(part) for part in arguments]
    place, variables = str(folder or Path.cwd()), {**os.environ, **environment}
    process = FORKS.Process(target=_run_as_main, args=(command, log, place, variables))
    process.start()
    process.join()
    printed = log.read_text(encoding="utf8")
    assert process.exitcode == 0, f"{' '.join(command)}\n{printed}"
    return printed


@cache
def _start_forks() -> None:
    """Start the server where it finds the modules of tests that it imports."""
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        forkserver.ensure_running()
    finally:
        os.chdir(here)


def _run_as_main(
    arguments: list[str], log: Path, folder: str, environment: dict[str, str]
) -> None:
    with log.open("wb") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    os.chdir(folder)
    os.environ.update(environment)
    config.reload_config()  # numba has read its variables when it was imported
    warnings.resetwarnings()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, str(Path(arguments[0]).parent.resolve()))
        runpy.run_path(arguments[0], run_name="__main__")
