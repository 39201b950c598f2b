"""Writing a concept graph to a folder, and opening it by memory map."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProblemError

__all__ = ["read_arrays", "write_arrays"]

FORMAT = "spacy-decoders concept graph"
VERSION = 1
HEADER = "graph.json"


def write_arrays(
    folder: str | Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays as ``.npy`` files; the header comes last, so half a graph never opens."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER).unlink(missing_ok=True)
    written = {}
    for name, array in arrays.items():
        path = folder / f"{name}.npy"
        # beside the old file, which may be mapped by what is being saved
        fresh = folder / f"{name}.npy.part"
        with fresh.open("wb") as file:
            np.save(file, array)
        fresh.replace(path)
        written[name] = {
            "shape": list(array.shape),
            "dtype": array.dtype.str,
            "bytes": path.stat().st_size,
            "crc32": _checksum(array),
        }
    for stale in folder.glob("*.npy"):
        if stale.stem not in arrays:
            stale.unlink()
    header = {"format": FORMAT, "version": VERSION, **facts, "arrays": written}
    (folder / HEADER).write_text(json.dumps(header, indent=1), encoding="utf-8")


def read_arrays(
    folder: str | Path, verify: bool
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Map the arrays of a folder into memory, after checking that they are what was written.

    Raises
    ------
    ProblemError
        If the folder holds no graph, one of another version, or one whose files are
        missing, cut short or foreign; with `verify`, also if a single byte differs.
    """
    folder = Path(folder)
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ProblemError(
            f"folder: {folder} holds no concept graph (no {HEADER}); save one there first."
        ) from error
    except (ValueError, OSError) as error:
        raise ProblemError(f"folder: {folder / HEADER} cannot be read ({error}).") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ProblemError(f"folder: {folder / HEADER} is not the header of a {FORMAT}.")
    if header.get("version") != VERSION:
        raise ProblemError(
            f"folder: {folder} was written in format version {header.get('version')}, this "
            f"package reads version {VERSION}; build the graph anew."
        )
    arrays = {}
    for name, facts in header["arrays"].items():
        path = folder / f"{name}.npy"
        if not path.is_file():
            raise ProblemError(f"folder: {path} is missing; copy or build the graph anew.")
        if path.stat().st_size != facts["bytes"]:
            raise ProblemError(
                f"folder: {path} has {path.stat().st_size} bytes instead of {facts['bytes']}; "
                "it was cut short or replaced: copy or build the graph anew."
            )
        try:
            # an empty array cannot be mapped
            mode: Any = "r" if 0 not in facts["shape"] else None
            array = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
        except ValueError as error:
            raise ProblemError(f"folder: {path} is no array file ({error}).") from error
        if list(array.shape) != facts["shape"] or array.dtype.str != facts["dtype"]:
            raise ProblemError(
                f"folder: {path} holds {array.dtype.str} {array.shape} instead of "
                f"{facts['dtype']} {tuple(facts['shape'])}; it belongs to another graph."
            )
        if verify and _checksum(array) != facts["crc32"]:
            raise ProblemError(f"folder: {path} is damaged (its checksum differs).")
        arrays[name] = array
    return arrays, header


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
