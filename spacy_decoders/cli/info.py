"""Versions, decoders, the cache of compiled code, and the shipped pipeline."""

import platform
from importlib import metadata
from itertools import chain, repeat

import typer

from .. import __version__
from ..bundled import FOLDER, meta
from ..kernel_cache import kept_code
from ..models.inference.products import has_pairs, has_tiles
from ..registry import decoders

__all__ = ["info"]

_PACKAGES = ("spacy", "thinc", "numpy", "numba", "scipy", "networkx", "mip")


def info() -> None:
    """Print versions, the registered decoders, and where compiled code is kept."""
    without_unit = "integers (VNNI)" if has_pairs() else "numpy"
    rows = {
        "spacy-decoders": __version__,
        "Python": f"{platform.python_version()}, {platform.platform()}",
        **{package: _version(package) for package in _PACKAGES},
        "decoders": "\n".join(sorted(decoders.get_all())),
        "compiled code": _compiled(),
        "matrix unit": "AMX" if has_tiles() else f"none: products by {without_unit}",
    }
    if FOLDER.exists():
        shipped = meta()
        rows["shipped pipeline"] = (
            f"{shipped['lang']}_{shipped['name']} {shipped['version']}, {shipped['license']}: "
            + ", ".join(shipped["pipeline"])
        )
    width = max(map(len, rows))
    for name, value in rows.items():
        # not wrapped, so that paths stay whole
        for heading, line in zip(chain([name], repeat("")), value.splitlines(), strict=False):
            typer.echo(f"{heading:{width}}  {line}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # an extra
        return "not installed"


def _compiled() -> str:
    """The places from which compiled code is read, and the number of functions in each."""
    kept = kept_code()
    lines = [f"{folder}: {functions or 'no'} functions" for folder, functions in kept.items()]
    if not any(kept.values()):
        lines.append("run `python -m spacy decoders warmup`, or it is compiled on first use")
    return "\n".join(lines)
