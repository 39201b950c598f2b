"""The base class of components without weights of their own."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import srsly
from spacy.pipeline import Pipe
from spacy.vocab import Vocab

from ..components.options import WithOptions
from ..models.saved import reading

__all__ = ["AdaptedPipe"]

Self = TypeVar("Self", bound="AdaptedPipe")


class AdaptedPipe(WithOptions, Pipe):
    """A component that decodes the scores of something else.

    Its options are checked attributes; changed ones are saved with it.
    """

    # declared so that they can be assigned, which unknown attributes can't
    name: str = ""
    vocab: Any = None
    cfg: dict[str, Any] = None  # type: ignore[assignment]

    def __init__(self, vocab: Vocab, name: str, **options: Any) -> None:
        self.vocab = vocab
        self.name = name
        self.cfg = {}
        self.configure(**options)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the component to bytes: its `cfg`, of plain types and bytes."""
        return srsly.msgpack_dumps(self.cfg)

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from bytes; damaged ones raise `StorageError`."""
        with reading(self.name):
            self.cfg.update(srsly.msgpack_loads(bytes_data))
        self.restore_options()
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the component to a file."""
        Path(path).write_bytes(self.to_bytes())

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from a file."""
        return self.from_bytes(Path(path).read_bytes())
