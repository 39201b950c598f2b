"""``python -m spacy decoders info``."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import spacy_decoders
from spacy_decoders.kernel_cache import PACKAGE, PLACES, kept_code
from tests.processes import python

from .commands import invoke, run


def test_info_names_versions_decoders_and_cache():
    done = invoke("info")
    assert done.exit_code == 0, done.output
    for expected in ("spacy-decoders", "numba", "spacy-decoders.Viterbi.v1", "CC BY-SA 4.0"):
        assert expected in done.output


def test_packages_of_extras_may_be_missing(monkeypatch):
    version = metadata.version

    def without_mip(package):
        if package == "mip":
            raise metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(metadata, "version", without_mip)
    (line,) = [line for line in run("info").splitlines() if line.startswith("mip ")]
    assert line.split(maxsplit=1)[1].strip() == "not installed"


def test_all_places_of_compiled_code_are_listed_whole(tmp_path):
    """Also one that is first in order, empty and read-only: code is read from the others."""
    empty = tmp_path / ("a_long_name_" * 12)
    empty.mkdir()
    empty.chmod(0o555)
    code = "from spacy_decoders.cli.info import info; info()"
    done = python("-c", code, NUMBA_CACHE_DIR=str(empty), COLUMNS="60")
    first, second, *_ = done.stdout.split("compiled code")[1].splitlines()
    assert first.strip() == f"{empty}: empty"
    assert second.strip().startswith(f"{Path(spacy_decoders.__file__).parent}: ")


def test_code_is_counted_where_it_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert kept_code()[0] == (tmp_path, 0, 0)
    # numba's folder of the functions of a folder has a name made from its path
    (locator,) = PLACES[0]._impl_class._locator_classes
    kernels = PACKAGE / "decoders" / "chain" / "kernels" / "lattice.py"
    folder = tmp_path / locator.get_suitable_cache_subpath(str(kernels))
    folder.mkdir()
    (folder / "lattice.k_best-1.py311.nbi").write_bytes(b"")
    (folder / "lattice.k_best-1.py311.1.nbc").write_bytes(b"12345")
    (tmp_path / "of_another_package").mkdir()
    (tmp_path / "of_another_package" / "x.nbi").write_bytes(b"")
    assert kept_code()[0] == (tmp_path, 1, 5)
