"""Stages of a build: files that only grow, and checkpoints from which a killed stage goes on.

A stage has a folder of its own, named after a fingerprint of everything that goes into it: the
content of the dumps, the stages before it, and its options. Other inputs lead to another folder,
so that nothing is ever taken over from another build.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ...errors import StorageError

__all__ = ["Build", "Progress", "Stage", "fingerprint"]

#: Is told what a build has come to, a line at a time.
Progress = Callable[[str], None]

#: Of the files of stages; another one makes all stages anew.
VERSION = 2
#: Seconds between checkpoints.
EVERY = 10.0
#: Files up to this size, in bytes, are fingerprinted whole; of larger ones 64 blocks.
_WHOLE = 1 << 26
_BLOCK = 1 << 16
_BLOCKS = 64
#: Bytes that wait to be written.
_BUFFER = 1 << 26


def fingerprint(path: Path) -> str:
    """A short digest of a file's content, the same wherever the file lies.

    Files of more than 64 MB are sampled: their size, their two ends and 62 blocks between. The end
    of a compressed file has a checksum of its whole content; of a plain file that large the time
    of its last change counts too.
    """
    size = path.stat().st_size
    digest = hashlib.sha256(f"{size}\n".encode())
    with path.open("rb") as stream:
        if size <= _WHOLE:
            while block := stream.read(1 << 20):
                digest.update(block)
        else:
            for place in np.linspace(0, size - _BLOCK, _BLOCKS).astype(np.int64).tolist():
                stream.seek(place)
                digest.update(stream.read(_BLOCK))
            if path.suffix not in (".gz", ".bz2"):
                digest.update(str(path.stat().st_mtime_ns).encode())
    return digest.hexdigest()[:16]


class Build(NamedTuple):
    """How a build runs."""

    folder: Path  # of all stages
    report: Progress  # is told a line at the end of each stage
    # Processes, 1 for this one; or the address of a Dask scheduler whose workers see the same
    # files
    workers: int = 1
    scheduler: str | None = None
    progress: bool = False  # whether to show progress bars

    def stage(self, name: str, inputs: Iterable[str]) -> Stage:
        """Open the stage of that name and these inputs."""
        return Stage(self.folder, name, inputs)


class Stage:
    """One step of a build, in a folder of its own.

    Parameters
    ----------
    parent
        The folder of all stages.
    name
        The name of the stage.
    inputs
        Fingerprints of files, keys of other stages, and options.

    Attributes
    ----------
    key
        The name with a digest of the inputs.
    state
        What the last checkpoint said; empty at the start.
    done
        Whether the stage is finished.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> stage = Stage(folder, "squares", ["up to 3"])
    >>> for i in range(1, 4):
    ...     stage.append("values", np.array([i * i]))
    ...     stage.checkpoint(i=i)
    >>> stage.append("values", np.array([99]))  # killed before the next checkpoint
    >>> stage = Stage(folder, "squares", ["up to 3"])
    >>> stage.state, stage.done
    ({'i': 3}, False)
    >>> stage.finish()
    >>> stage.read("values", np.int64).tolist()
    [1, 4, 9]
    """

    def __init__(self, parent: Path, name: str, inputs: Iterable[str]) -> None:
        digest = hashlib.sha256("\n".join([str(VERSION), *inputs]).encode()).hexdigest()[:16]
        self._open_folder(parent, f"{name}-{digest}")

    def _open_folder(self, parent: Path, key: str) -> None:
        self.key = key
        self.folder = parent / key
        self.state: dict[str, Any] = {}
        self.done = False
        self._size: dict[str, int] = {}
        self._waiting: dict[str, list[bytes]] = {}
        self._waits = 0
        self._last = time.monotonic()
        self._read_state()

    @classmethod
    def reopened(cls, parent: Path, key: str) -> Stage:
        """Open a stage by its key, in another process."""
        stage = cls.__new__(cls)
        stage._open_folder(parent, key)
        return stage

    def append(self, name: str, content: NDArray[Any] | bytes) -> None:
        """Write at the end of a file; what no checkpoint follows is taken back on resuming."""
        data = content if isinstance(content, bytes) else np.ascontiguousarray(content).tobytes()
        self._waiting.setdefault(name, []).append(data)
        self._size[name] = self.size(name) + len(data)
        self._waits += len(data)
        if self._waits >= _BUFFER:
            self._write_waiting()

    def size(self, name: str) -> int:
        """Bytes of a file so far."""
        return self._size.get(name, 0)

    def _write_waiting(self) -> None:
        """Write what waits; no file stays open, so that nothing is written later by itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, parts in self._waiting.items():
            content = b"".join(parts)
            path = self.folder / name
            begin = self._size[name] - len(content)
            with path.open("r+b" if path.exists() else "w+b") as stream:
                if stream.seek(0, os.SEEK_END) < begin:
                    raise StorageError(f"stages: {path} was cut short; remove {self.folder}.")
                stream.truncate(begin)
                stream.seek(begin)
                stream.write(content)
        self._waiting, self._waits = {}, 0

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.monotonic() - self._last >= EVERY

    def checkpoint(self, **state: Any) -> None:
        """Keep what was written, and what `state` says, whatever happens next."""
        self._write_waiting()
        self.state = state
        self._write_state()

    def finish(self, **state: Any) -> None:
        """Keep all, and close; what `state` says is added to the last checkpoint."""
        self.done = True
        self.checkpoint(**{**self.state, **state})

    def read(self, name: str, dtype: Any) -> NDArray[Any]:
        """Map what the last checkpoint has of a file; empty if there is no such file."""
        if name in self._waiting:
            self._write_waiting()
        count = self.size(name) // np.dtype(dtype).itemsize
        if not count:
            return np.empty(0, dtype)
        return np.asarray(np.memmap(self.folder / name, dtype, "r", shape=(count,)))

    def scratch(self, name: str, dtype: Any, size: int) -> NDArray[Any]:
        """Map a writable array, zeros at first, that may be written in any order.

        It is not taken back on resuming: what is written again must be the same.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        needed = max(size, 1) * np.dtype(dtype).itemsize
        with path.open("ab") as stream:
            if stream.tell() < needed:
                _reserve(stream, needed, path)
        self._size[name] = needed
        return np.asarray(np.memmap(path, dtype, "r+", shape=(max(size, 1),)))[:size]

    def drop(self, *names: str) -> None:
        """Remove files that no later stage needs."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def _read_state(self) -> None:
        path = self.folder / "state.json"
        if not path.exists():
            return
        try:
            found = json.loads(path.read_text(encoding="utf8"))
            self.state, self._size = found["state"], found["sizes"]
            self.done = found["done"]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"stages: {path} is damaged; remove {self.folder}.") from error

    def _write_state(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        found = {"done": self.done, "state": self.state, "sizes": self._size}
        temporary = self.folder / f".{uuid4().hex}"
        temporary.write_text(json.dumps(found), encoding="utf8")
        temporary.replace(self.folder / "state.json")
        self._last = time.monotonic()


def _reserve(stream: IO[bytes], size: int, path: Path) -> None:
    """Give a file a size, and room on the disk: a mapped hole without any kills the process."""
    try:
        os.posix_fallocate(stream.fileno(), 0, size)
    except AttributeError:  # of Windows and macOS, which have no such call
        stream.truncate(size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise OSError(error.errno, error.strerror, str(path)) from error
        stream.truncate(size)
