"""What users install: the wheel, in an environment of its own, with the source out of reach."""

import os
import shutil
import site
import venv
from pathlib import Path

import pytest

from tests.processes import python as run

#: However busy the machine is: to build, install and compile takes what it takes.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]

SOURCE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The interpreter of an environment that has the wheel, and this one's dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / name, folder)
    unbuilt = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE / "spacy_decoders", folder / "spacy_decoders", ignore=unbuilt)
    run("-m", "pip", "wheel", "--no-deps", "--wheel-dir", "dist", ".", folder=folder)
    shutil.rmtree(folder / "spacy_decoders")

    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    code = "import site; print(site.getsitepackages()[0])"
    purelib = Path(run("-c", code, interpreter=python, folder=folder).stdout.strip())
    (wheel,) = (folder / "dist").glob("*.whl")
    run("-m", "pip", "install", "--no-deps", "--target", purelib, wheel, folder=folder)
    # comes after what is installed here, and the editable installation in it is not followed
    (purelib / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return python


def test_the_wheel_is_what_is_imported(python):
    folder = python.parents[2]
    code = "import spacy; spacy.blank('en'); import spacy_decoders; print(spacy_decoders.__file__)"
    shown = run("-c", code, interpreter=python, folder=folder).stdout
    assert shown.startswith(str(folder))


def test_the_demo_runs_from_the_wheel(python):
    folder = python.parents[2]
    # it is compiled anew in each place where it is installed; without optimising, that is faster
    command = ("-m", "spacy", "decoders", "demo", "--text", "Jaguar builds fast cars.")
    shown = run(*command, interpreter=python, folder=folder, COLUMNS="120", NUMBA_OPT="0")
    assert "proven optimal" in shown.stdout
    assert (folder / "demo.html").stat().st_size > 10_000
