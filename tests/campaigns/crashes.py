"""Work that is killed between any two of its file operations, or runs out of room."""

import os
import random
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["content", "file_operations", "forked", "killed_at", "limited_files"]

#: What is raised by the interpreter before it changes a file or a folder.
_OPERATIONS = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder, the hidden ones included."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def forked(work: Callable[[], None]) -> int:
    """Run in a forked process; its exit status as of a shell: negative for a signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _each_operation(folder: Path, do: Callable[[], None]) -> None:
    """Do something before each operation of this process on a file of a folder."""
    inside = str(folder)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and str(arguments[1]) not in ("r", "rb", "None")
        if (writes or event in _OPERATIONS) and str(arguments[0]).startswith(inside):
            do()

    sys.addaudithook(hook)


def file_operations(work: Callable[[], None], folder: Path) -> int:
    """How many operations on files of a folder the work does."""
    read, write = os.pipe()

    def counted() -> None:
        _each_operation(folder, lambda: os.write(write, b"x"))
        work()

    status = forked(counted)
    os.close(write)
    with os.fdopen(read, "rb") as counts:
        number = len(counts.read())
    assert status == 0 and number, status
    return number


def killed_at(work: Callable[[], None], folder: Path, operation: int) -> bool:
    """Run, killed before the operation of that number, from 0; False if it ended before."""

    def mortal() -> None:
        left = operation

        def count() -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        _each_operation(folder, count)
        work()

    status = forked(mortal)
    assert status in (0, -signal.SIGKILL), status
    return status != 0


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    """No file grows beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def moments(total: int, wanted: int, seed: int = 0) -> list[int]:
    """So many different moments of a run, or all there are."""
    drawn = random.Random(seed).sample(range(total), min(wanted, total))
    return sorted(drawn)
