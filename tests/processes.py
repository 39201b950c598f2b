"""Python in a process of its own."""

import os
import runpy
import subprocess
import sys
import warnings
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

from numba import config

__all__ = ["forked_python", "python"]


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


def forked_python(*arguments: object, folder: Path | None = None, **environment: str) -> str:
    """Run what ``python`` with these arguments would; it must end well. Return what it printed.

    It is as much on its own as by :func:`python`, but need not import spaCy and numba first, nor
    load what is compiled and was used here.
    """
    command = [str(part) for part in arguments]
    with TemporaryFile("w+", encoding="utf8") as log:
        given = (command, log, folder or Path.cwd(), environment)
        process = get_context("fork").Process(target=_run_as_main, args=given)
        process.start()
        process.join()
        log.seek(0)
        printed = log.read()
    assert process.exitcode == 0, f"{' '.join(command)}\n{printed}"
    return printed


def _run_as_main(
    arguments: list[str], log: TextIO, folder: Path, environment: dict[str, str]
) -> None:
    for descriptor in (1, 2):
        os.dup2(log.fileno(), descriptor)
    sys.stdout = sys.stderr = log
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
