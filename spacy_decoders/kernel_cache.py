"""The cache of compiled code on disk, and what a user is told while functions are compiled.

numba uses the first place that it can *write* to. A warmed container or a shared installation is
often read-only, and would compile again in every process. Here code is *read* from all places, in
numba's order: ``NUMBA_CACHE_DIR``, the package's own folder, the user's cache folder; new code
goes to the first of them that can be written to, if any.

Code is stale once a source file of its folder, of the ``kernels`` folders around it or of `SHARED`
has changed: numba checks the file of the function alone, and would go on calling an old callee.
Sources are compared by content, so that a copied or installed folder keeps its compiled code.

Each file has the code for one signature, which it names, and a checksum. numba's own index of
files could name the code of other sources, or of another signature, where processes write at once
or the disk is full.
"""

import atexit
import hashlib
import pickle  # as in numba's own cache: whoever can write there can write code
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numba
from numba.core import caching, event
from numba.core.serialize import dumps

from .budget import Compiling
from .files import written_whole

__all__ = ["KernelCache", "Progress", "kept_code", "progress"]


def _of_numba(name: str) -> Any:
    """Return a class of numba that was private before version 0.62."""
    return getattr(caching, name, None) or getattr(caching, f"_{name}")


#: The folder of this package: where the search for sources ends.
PACKAGE = Path(__file__).parent
#: The files on which all compiled code depends.
SHARED = ("jit.py", "simd.py")
#: The bytes of a checksum.
CHECKSUM = 16


class _AnyPlace:
    """Makes one of numba's locators accept a place that can't be written to."""

    _py_file: str

    def ensure_cache_path(self) -> None:
        """Do nothing: whether a place is writable is found out by writing."""

    def get_source_stamp(self) -> str:
        """Return the digest of all sources that the function may call."""
        return _digest_of(Path(self._py_file).parent)


def _cache_class(locator: str) -> type[Any]:
    """Return the class of numba's cache of a function in one kind of place."""
    place = type(locator, (_AnyPlace, _of_numba(locator)), {})
    impl = type("Impl", (_of_numba("CompileResultCacheImpl"),), {"_locator_classes": [place]})
    return type("PlaceCache", (_FunctionCache,), {"_impl_class": impl})


class _FunctionCache(caching.FunctionCache):
    """numba's cache of a function, with files of our own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = _Files(Path(self.cache_path), self._impl.filename_base, stamp)


class _Files(NamedTuple):
    """The files of a function's compiled code, in one folder."""

    folder: Path
    base: str
    stamp: str  # of the sources

    def load(self, key: Any) -> Any:
        """Return what was saved with a key; None if there is nothing, or it is damaged."""
        try:
            content = self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        if _checksum(content[CHECKSUM:]) != content[:CHECKSUM]:
            return None
        kept, code = pickle.loads(content[CHECKSUM:])
        return code if kept == key else None

    def save(self, key: Any, code: Any) -> None:
        """Save code; remove that of other sources."""
        content = dumps((key, code))
        with written_whole(self._path(key)) as path:
            path.write_bytes(_checksum(content) + content)
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            if not path.name.startswith(self._prefix):
                path.unlink(missing_ok=True)

    @property
    def _prefix(self) -> str:
        return f"{self.base}.{self.stamp[:8]}."

    def _path(self, key: Any) -> Path:
        # a processor's features are part of the key
        name = _checksum(f"{numba.__version__} {self.stamp} {key}".encode()).hex()
        return self.folder / f"{self._prefix}{name}.nbc"


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()


PLACES = [
    _cache_class(locator)
    for locator in ("UserProvidedCacheLocator", "InTreeCacheLocator", "UserWideCacheLocator")
]


#: What reading a file of another version may raise. It refers to classes of arguments, which may
#: be missing or elsewhere after an upgrade.
UNREADABLE = (
    *(OSError, AttributeError, ImportError, EOFError, ValueError, KeyError),
    pickle.UnpicklingError,
)


class KernelCache:
    """The cache of one function's compiled code, as a :class:`numba.core.caching.Cache`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._places: list[Any] = []
        for place in PLACES:
            # there may be no such place, as without NUMBA_CACHE_DIR
            with suppress(RuntimeError, OSError):
                self._places.append(place(function))

    @property
    def cache_path(self) -> str | None:
        """The first place that is read."""
        return str(self._places[0].cache_path) if self._places else None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return compiled code from the first place that has it, or None."""
        with progress.timed():
            for place in self._places:
                with suppress(*UNREADABLE):
                    found = place.load_overload(signature, target_context)
                    if found is not None:
                        return found
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep compiled code in the first place that can be written to."""
        for place in self._places:
            try:
                Path(place.cache_path).mkdir(parents=True, exist_ok=True)
                place.save_overload(signature, code)
            except UNREADABLE:
                continue
            return
        if self._places:  # else it is no function of a file
            progress.is_kept = False


def kept_code() -> dict[Path, int]:
    """Return the number of compiled functions in each place, in reading order.

    A place is the folder that contains one for each folder of the package.
    """
    a_file_of = {path.parent: path for path in PACKAGE.rglob("*.py")}
    found: dict[Path, int] = {}
    for place in PLACES:
        (locator,) = place._impl_class._locator_classes
        for source in a_file_of.values():
            made = locator.from_function(kept_code, str(source))
            if made is None:  # no such place, as without NUMBA_CACHE_DIR
                break
            path = Path(made.get_cache_path())
            root = PACKAGE if path.is_relative_to(PACKAGE) else path.parent
            found[root] = found.get(root, 0) + len([*path.glob("*.nbc")])
    return found


@cache
def _digest_of(folder: Path) -> str:
    """Return a digest of the files whose functions those of a folder may call."""
    digest = hashlib.sha256()
    for path in _sources_of(folder):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources_of(folder: Path) -> list[Path]:
    """Return a folder's files, those of the ``kernels`` folders around it, and the shared ones."""
    around = [parent / "kernels" for parent in folder.parents if parent.is_relative_to(PACKAGE)]
    folders = dict.fromkeys([folder, *around])
    shared = [path for name in SHARED if (path := PACKAGE / name).exists()]
    return [path for place in folders for path in sorted(place.glob("*.py"))] + shared


class Progress(event.Listener):
    """Explains on stderr why the main process waits up to a minute while functions are compiled.

    There is a line when that begins, on a terminal a dot for each function, and a line at the end
    of the process. The time that it takes, with that of reading compiled code, is added to
    :class:`~.budget.Compiling`.
    """

    def __init__(self) -> None:
        self.functions = 0
        self.is_kept = True
        self.is_dotted = parent_process() is None and bool(sys.stderr) and sys.stderr.isatty()
        self._open = 0  # compilations that are running: callees are compiled within their callers
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        """Note that a function is being compiled."""
        if not _is_ours(event):
            return
        if not self.functions and not self._open:
            self._tell(
                "compiling for this machine, up to a minute of one core; to do it beforehand: "
                "python -m spacy decoders warmup --pipeline NAME"
            )
            atexit.register(self._close)
        self._begin()

    def on_end(self, event: Any) -> None:
        """Note that it has been compiled."""
        if _is_ours(event):
            self._end()
            self.functions += 1
            if self.is_dotted:
                print(".", end="", file=sys.stderr, flush=True)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time of a block."""
        self._begin()
        try:
            yield
        finally:
            self._end()

    def _begin(self) -> None:
        if not self._open:
            self._began = perf_counter()
        self._open += 1

    def _end(self) -> None:
        self._open -= 1
        if not self._open:
            Compiling.seconds += perf_counter() - self._began

    def _close(self) -> None:
        functions = "1 function" if self.functions == 1 else f"{self.functions} functions"
        self._tell(f"compiled {functions} in {Compiling.seconds:.0f} s", "\n" * self.is_dotted)
        if not self.is_kept:
            self._tell(
                "the code could not be kept, and the next process will compile again: set "
                "NUMBA_CACHE_DIR to a folder that can be written to"
            )

    def _tell(self, text: str, before: str = "") -> None:
        if parent_process() is None and sys.stderr and not sys.stderr.closed:
            with suppress(OSError):  # nobody reads it any more
                print(f"{before}spacy-decoders: {text}", file=sys.stderr, flush=True)


def _is_ours(event: Any) -> bool:
    return isinstance(event.data["dispatcher"]._cache, KernelCache)


progress = Progress()
event.register("numba:compile", progress)
