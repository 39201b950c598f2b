"""Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["python"]


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
