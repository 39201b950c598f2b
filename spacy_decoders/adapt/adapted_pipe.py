"""What components without weights of their own share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import srsly
from spacy.pipeline import Pipe
from spacy.util import from_bytes, from_disk, to_bytes, to_disk
from spacy.vocab import Vocab

from ..components.options import WithOptions

__all__ = ["AdaptedPipe"]

Self = TypeVar("Self", bound="AdaptedPipe")


class AdaptedPipe(WithOptions, Pipe):
    """A component over scores that something else has made.

    Its options are checked attributes, and those that were changed are saved with it.
    """

    # declared here, so that they may be assigned; each component has its own
    name: str = ""
    vocab: Any = None
    cfg: dict[str, Any] = None  # type: ignore[assignment]

    def __init__(self, vocab: Vocab, name: str, **options: Any) -> None:
        self.vocab = vocab
        self.name = name
        self.cfg = {}
        self.configure(**options)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save what was changed to bytes."""
        saved: bytes = to_bytes({"cfg": lambda: srsly.json_dumps(self.cfg)}, exclude)
        return saved

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load what was changed from bytes."""
        from_bytes(bytes_data, {"cfg": lambda saved: self._take(srsly.json_loads(saved))}, exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save what was changed to a folder."""
        to_disk(path, {"cfg": lambda file: srsly.write_json(file, self.cfg)}, exclude)

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load what was changed from a folder."""
        from_disk(path, {"cfg": lambda file: self._take(srsly.read_json(file))}, exclude)
        return self

    def _take(self, cfg: Any) -> None:
        self.cfg.update(cfg)
        self.restore_options()
