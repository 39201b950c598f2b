"""What components without weights of their own share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import srsly
from spacy.pipeline import Pipe
from spacy.util import from_bytes, to_bytes
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

    def parts(self) -> dict[str, tuple[Callable[[], bytes], Callable[[bytes], None]]]:
        """What is saved: what makes the content of each part, and what takes it when loading."""
        return {
            "cfg": (
                lambda: srsly.json_dumps(self.cfg).encode(),
                lambda content: self._take(srsly.json_loads(content)),
            )
        }

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the component to bytes."""
        getters = {name: content for name, (content, _) in self.parts().items()}
        saved: bytes = to_bytes(getters, exclude)
        return saved

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from bytes."""
        from_bytes(bytes_data, {name: take for name, (_, take) in self.parts().items()}, exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the component to a file."""
        Path(path).write_bytes(self.to_bytes(exclude=exclude))

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from a file."""
        return self.from_bytes(Path(path).read_bytes(), exclude=exclude)

    def _take(self, cfg: Any) -> None:
        self.cfg.update(cfg)
        self.restore_options()
