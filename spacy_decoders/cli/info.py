"""Versions, decoders, cache, and the pipeline that is shipped."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .. import __version__
from ..bundled import FOLDER, meta
from ..registry import decoders

__all__ = ["info"]

_PACKAGES = ("spacy", "thinc", "numpy", "numba", "scipy", "networkx", "highspy", "mip")


def info() -> None:
    """Print all that a report of a problem should have."""
    console = Console()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_row("spacy-decoders", __version__)
    table.add_row("Python", f"{platform.python_version()}, {platform.platform()}")
    for package in _PACKAGES:
        table.add_row(package, _version(package))
    table.add_row("decoders", "\n".join(sorted(decoders.get_all())))
    table.add_row("compiled code", _cache())
    if FOLDER.exists():
        shipped = meta()
        table.add_row(
            "shipped pipeline",
            f"{shipped['lang']}_{shipped['name']} {shipped['version']}, {shipped['license']}: "
            + ", ".join(shipped["pipeline"]),
        )
    console.print(table)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # of an extra
        return "not installed"


def _cache() -> str:
    """Where numba keeps what it compiled for us, and how much there is."""
    from ..decoders.chain.kernels.rescoring import path_scores

    kernel: Any = path_scores
    folder = kernel.stats.cache_path
    if folder is None:
        return "not kept: no writable folder; set NUMBA_CACHE_DIR, or each process compiles anew"
    home = Path(__file__).resolve().parents[1]
    root = Path(folder)
    if home in root.resolve().parents:
        root = home  # beside the sources, a __pycache__ for each folder
    elif chosen := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(chosen)
    functions = sum(1 for _ in root.rglob("*.nbi"))
    size = sum(file.stat().st_size for file in root.rglob("*.nbc"))
    if not functions:
        return f"{root}: empty; run `python -m spacy decoders warmup`"
    return f"{root}: {functions} functions, {size / 1e6:.1f} MB"
