"""The part of a component that has the option `constraints`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc

from .. import extensions

if TYPE_CHECKING:
    from .places import Place, Places

__all__ = ["WithConstraints", "record_conflicts"]

#: Key of a component's `cfg` under which the phrases of files are saved.
PHRASES = "constraint_phrases"


class WithConstraints:
    """Finds the places of the constraints that the option `constraints` holds.

    To inherit from before :class:`~spacy_decoders.components.decoding_pipe.DecodingPipe`.
    """

    cfg: dict[str, Any]
    constraints: Any
    _places: Places | None = None

    def configure(self, **values: Any) -> None:
        """Set options; the files that constraints name are read when these are set."""
        super().configure(**values)  # type: ignore[misc]
        if "constraints" in values:
            self._places = None
            self._read_files()

    def restore_options(self) -> None:
        """Set saved options; the phrases saved with them take the place of files."""
        self._places = None
        super().restore_options()  # type: ignore[misc]
        self._read_files(again=False)

    def places_in(self, doc: Doc) -> list[Place]:
        """Return where constraints apply in a document."""
        if not self.constraints:
            return []
        if self._places is None:
            from .places import Places

            self._places = Places(self.constraints, self.cfg.get(PHRASES, {}))
        return self._places.find(doc)

    def _read_files(self, again: bool = True) -> None:
        """Read files that are there; of others the phrases may have been saved."""
        files = [given["file"] for given in self.constraints if "file" in given]
        if not files:
            self.cfg.pop(PHRASES, None)
            return
        from .places import read_phrases

        saved = self.cfg.get(PHRASES, {})
        found = {
            file: (read_phrases(file) if again or file not in saved else None) or saved.get(file)
            for file in files
        }
        self.cfg[PHRASES] = {file: phrases for file, phrases in found.items() if phrases}


def record_conflicts(doc: Doc, component: str, conflicts: Iterable[Mapping[str, Any]]) -> None:
    """Write to ``doc._.conflicts`` which demands contradict each other.

    Parameters
    ----------
    conflicts
        For each unit without a structure its tokens, "start" and "end", and "demands": of a least
        contradictory set each one's "source", "start", "end" and "text".
    """
    entries = [dict(conflict) for conflict in conflicts]
    if entries or doc._.conflicts:
        doc._.conflicts = extensions.beside_others(doc._.conflicts, component, entries)
