"""Folders of arrays: ``.npy`` files that are mapped into memory, and a header in JSON.

The header has the size and the checksum of every file. Folders are untrusted input: file
names come from the :class:`FolderFormat` and not from the header, files outside the folder are
refused, and sizes are compared with the files before anything is mapped. Callers check contents
before compiled loops read them, since these check no index.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..arrays import checked_path
from ..errors import ProblemError, StorageError
from ..files import file_digest, replaced, write_atomically

__all__ = ["FolderFormat", "StoredArrays"]

#: The version of the format.
VERSION = 2
#: The largest size of a header, in bytes.
LARGEST_HEADER = 1 << 24


@dataclass(frozen=True, eq=False)
class StoredArrays:
    """The arrays of a folder, mapped into memory, and its header."""

    folder: Path  # where they lie
    header: Mapping[str, Any]  # the whole header
    arrays: Mapping[str, NDArray[Any]]  # the arrays present, by name

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def refuse(self, name: str, reason: str) -> NoReturn:
        """Raise a `StorageError` about one array."""
        raise StorageError(
            f"folder: {self.folder / name}.npy is damaged: {reason}; copy or build it again."
        )


@dataclass(frozen=True)
class FolderFormat:
    """The format of one kind of folder."""

    kind: str  # the name of the kind
    header_name: str  # the file name of the header
    # the dtype and the number of dimensions of every array; `NAME` is stored in `NAME.npy`
    arrays: Mapping[str, tuple[str, int]]
    optional: frozenset[str] = frozenset()  # arrays that may be missing
    # optional files that are no arrays, such as the headers of folders within
    others: tuple[str, ...] = ()
    version: int = VERSION
    rebuilt: str = ""  # how to rebuild a folder of another version, for its error

    def write(
        self,
        folder: str | Path,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
        write_others: Callable[[Path], None] | None = None,
    ) -> None:
        """Write a folder atomically: to a temporary folder, which is then moved into place.

        A folder of the same kind is replaced; `ProblemError` if there is something else. `facts`
        are further entries of the header; `write_others` writes the other files into the folder
        that it is given.
        """
        folder = checked_path("folder", folder).resolve()
        self._check_replaceable(folder)
        with replaced(folder) as fresh:
            files = {}
            for name, array in arrays.items():
                file, (dtype, _) = f"{name}.npy", self.arrays[name]
                np.save(fresh / file, array.astype(dtype, copy=False), allow_pickle=False)
                files[file] = _seal(fresh / file)
            if write_others is not None:
                write_others(fresh)
            files |= {name: _seal(fresh / name) for name in self.others if (fresh / name).exists()}
            own = {
                "format": self._format,
                "version": self.version,
                "package": metadata.version("spacy-decoders"),
            }
            self.write_header(fresh, {**facts, **own, "files": files})

    def write_header(self, folder: Path, header: Mapping[str, Any]) -> None:
        """Write a header, with a checksum of its other entries."""
        text = json.dumps({**header, "sha256": _digest(header)}, indent=1)
        write_atomically(folder / self.header_name, text)

    def read(self, folder: str | Path, *, verify: bool = False) -> StoredArrays:
        """Map the arrays of a folder into memory, after comparing the files with the header.

        With `verify` every file is read and its checksum compared, too. Raises `StorageError` if
        the folder is of another kind or version, or a file is missing, foreign, truncated or, with
        `verify`, changed.
        """
        root = checked_path("folder", folder).resolve()
        header = self._header(root)
        digest = header.pop("sha256", None)  # earlier releases wrote none
        if verify and digest not in (None, _digest(header)):
            raise _changed(root / self.header_name)
        files = header["files"]
        for name in files:
            if name not in self.others and name.removesuffix(".npy") not in self.arrays:
                raise StorageError(
                    f"folder: {root / self.header_name} names {name!r}, which is no part of a "
                    f"{self.kind}; build it again."
                )
        arrays = {}
        for name, (dtype, dimensions) in self.arrays.items():
            entry = files.get(f"{name}.npy")
            if entry is not None or name not in self.optional:
                path = _checked_file(root, f"{name}.npy", entry, verify)
                arrays[name] = _mapped(path, dtype, dimensions, entry["size"])
        for name in self.others:
            if name in files:
                _checked_file(root, name, files[name], verify)
        return StoredArrays(root, header, arrays)

    @property
    def _format(self) -> str:
        return f"spacy-decoders {self.kind}"

    def _check_replaceable(self, folder: Path) -> None:
        if not folder.exists():
            return
        known = {self.header_name, *(f"{name}.npy" for name in self.arrays)}
        known |= {Path(name).parts[0] for name in self.others}
        with suppress(StorageError):  # another version has other files
            known |= set(self._header(folder, any_version=True)["files"])
        found = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
        foreign = found if self.header_name not in found else found - known
        if foreign:
            raise ProblemError(
                f"output: {folder} holds something else ({min(foreign)}); choose another folder."
            )

    def _header(self, root: Path, *, any_version: bool = False) -> dict[str, Any]:
        path = root / self.header_name
        if not path.is_file():
            raise StorageError(
                f"folder: {root} holds no {self.kind}: it has no {self.header_name}."
            )
        try:
            if path.stat().st_size > LARGEST_HEADER:
                raise ValueError("it is too large")
            header = json.loads(path.read_text(encoding="utf8"))
            header = header if isinstance(header, dict) else {}
        except (OSError, ValueError, RecursionError) as error:
            raise StorageError(f"folder: {path} is damaged ({error}); build it again.") from error
        if header.get("format") != self._format:
            raise StorageError(f"folder: {path} is not the header of a {self.kind}.")
        version = header.get("version")
        if version != self.version and not any_version:
            advice = f"build it again {self.rebuilt}".strip()
            if isinstance(version, int) and version > self.version:
                advice = "upgrade it with `pip install --upgrade spacy-decoders`"
            raise StorageError(
                f"folder: {root} was written in format version {version}, by spacy-decoders "
                f"{header.get('package', '0.3 or earlier')}; this package reads version "
                f"{self.version}: {advice}."
            )
        files = header.get("files")
        if not isinstance(files, dict) or not all(isinstance(f, dict) for f in files.values()):
            raise StorageError(f"folder: {path} is damaged (no list of files); build it again.")
        return header


def _checked_file(root: Path, name: str, entry: Any, verify: bool) -> Path:
    """Return the path of a file after checking that it is in the folder and matches its entry."""
    path = root / name
    if entry is None or not path.is_file():
        raise StorageError(f"folder: {path} is missing; copy or build it again.")
    if not path.resolve().is_relative_to(root):
        raise StorageError(f"folder: {path} is a link that leads out of the folder.")
    size = path.stat().st_size
    if size != entry.get("size"):
        raise StorageError(
            f"folder: {path} has {size} bytes instead of {entry.get('size')}; it was truncated or "
            "replaced: copy or build it again."
        )
    if verify and file_digest(path) != entry.get("sha256"):
        raise _changed(path)
    return path


def _changed(path: Path) -> StorageError:
    return StorageError(
        f"folder: {path} was changed since it was written (its checksum differs); copy or build "
        "it again."
    )


def _mapped(path: Path, dtype: str, dimensions: int, size: int) -> NDArray[Any]:
    """Map an array file into memory, if its dtype, dimensions and size are those expected."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        kind, end = found.dtype.str, found.offset + found.nbytes
    except Exception as error:  # whatever a parser raises on foreign bytes
        reason = f"is not an array file ({error!r}); copy or build it again"
        raise StorageError(f"folder: {path} {reason}.") from error
    if kind != dtype or found.ndim != dimensions:
        raise StorageError(
            f"folder: {path} holds {kind} in {found.ndim} dimensions instead of {dtype} in "
            f"{dimensions}; copy or build it again."
        )
    if not found.flags.c_contiguous or end != size:
        raise StorageError(f"folder: {path} is damaged: its shape does not fit its size.")
    # numba sees a plain read-only array, not numpy's memmap class
    return np.asarray(found)


def _seal(path: Path) -> dict[str, Any]:
    """Return what the header says of a file: its size and checksum."""
    return {"size": path.stat().st_size, "sha256": file_digest(path)}


def _digest(header: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header).encode()).hexdigest()
