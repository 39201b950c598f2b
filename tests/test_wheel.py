"""What users install: the wheel, in an environment of its own, with the source out of reach."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

#: However busy the machine is: to build, install and compile takes what it takes.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]

SOURCE = Path(__file__).parents[1]


def run(*command: object, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The interpreter of an environment that has the wheel, and this one's dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / name, folder)
    unbuilt = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE / "spacy_decoders", folder / "spacy_decoders", ignore=unbuilt)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--wheel-dir",
        "dist",
        ".",
        folder=folder,
    )
    shutil.rmtree(folder / "spacy_decoders")

    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    purelib = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])",
                       folder=folder).strip())  # fmt: skip
    (wheel,) = (folder / "dist").glob("*.whl")
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--target",
        purelib,
        wheel,
        folder=folder,
    )
    # comes after what is installed here, and the editable installation in it is not followed
    (purelib / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return python


def test_the_wheel_is_what_is_imported(python):
    folder = python.parents[2]
    code = "import spacy; spacy.blank('en'); import spacy_decoders; print(spacy_decoders.__file__)"
    assert run(python, "-c", code, folder=folder).startswith(str(folder))


def test_the_demo_runs_from_the_wheel(python):
    folder = python.parents[2]
    # it is compiled anew in each place where it is installed; without optimising, that is faster
    shown = run(python, "-m", "spacy", "decoders", "demo", "--text", "Jaguar builds fast cars.",
                folder=folder, COLUMNS="120", NUMBA_OPT="0")  # fmt: skip
    assert "proven optimal" in shown
    assert (folder / "demo.html").stat().st_size > 10_000
