"""The files of a saved component: their checksums, and errors that say where they lie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ProblemError, StorageError
from ..files import file_digest

__all__ = ["CHECKSUMS", "check_files", "loading", "seal_files"]

#: The file of checksums, beside those of a component.
CHECKSUMS = "checksums.json"


@contextmanager
def loading(place: object) -> Iterator[None]:
    """Let whatever goes wrong while a component is loaded name the place.

    Raises
    ------
    StorageError
        If a file is damaged; missing ones raise ``OSError``.
    """
    try:
        yield
    except OSError:
        raise
    except ProblemError as error:
        if str(place) in str(error):
            raise
        raise type(error)(f"{place}: {error}") from error
    # damaged bytes may stand for anything, and thinc and spaCy check little of it
    except Exception as error:
        raise StorageError(
            f"{place}: the saved component is damaged, or does not fit its config "
            f"({type(error).__name__}: {error!s:.200}); copy it again, or use the config that it "
            "was saved with."
        ) from error


def seal_files(folder: str | Path) -> None:
    """Write the checksums of a component's files beside them."""
    folder = Path(folder)
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS)
    content = json.dumps({path.name: file_digest(path) for path in files}, indent=1)
    (folder / CHECKSUMS).write_text(content + "\n", encoding="utf8")


def check_files(folder: str | Path) -> None:
    """Compare a component's files with the checksums beside them, if there are any.

    Raises
    ------
    StorageError
        If a file is not what was saved.
    """
    path = Path(folder) / CHECKSUMS
    if not path.is_file():
        return
    try:
        expected = json.loads(path.read_text(encoding="utf8"))
        differ = [name for name, digest in expected.items() if _digest(path, name) != digest]
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise StorageError(f"{path}: damaged ({error}); copy the component again.") from error
    if differ:
        raise StorageError(
            f"{path.with_name(differ[0])}: it was changed since it was saved (its checksum "
            f"differs); copy it again, or remove {CHECKSUMS} if you changed it yourself."
        )


def _digest(checksums: Path, name: str) -> str | None:
    """The checksum of a file beside the checksums; None where there is none."""
    path = checksums.with_name(name)
    return file_digest(path) if path.is_file() else None
