"""The part of a component that has the option `constraints`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...errors import ProblemError

if TYPE_CHECKING:
    from .places import Place, Places

__all__ = ["WithConstraints"]

#: Key of a component's `cfg` under which the phrases of files are saved.
PHRASES = "constraint_phrases"


class WithConstraints:
    """Finds the places of the constraints that the option `constraints` holds.

    To inherit from before :class:`~spacy_decoders.components.decoding_pipe.DecodingPipe`.
    """

    vocab: Vocab
    cfg: dict[str, Any]
    constraints: Any
    _configured: Mapping[str, Any]
    _places: Places | None = None

    def configure(self, **values: Any) -> None:
        """Set options; the files that constraints name are read when these are set.

        While the component is made, files may be missing: their phrases may come with what is
        loaded.
        """
        if values.get("constraints"):
            given = self._checked("constraints", values["constraints"])  # type: ignore[attr-defined]
            _check_tokens(given, self.vocab)
            if self._configured:
                _check_files(given, self.cfg.get(PHRASES, {}))
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

    def check_constraints(self) -> None:
        """Raise if a file that constraints name is missing, before a training begins."""
        _check_files(self.constraints, self.cfg.get(PHRASES, {}))

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


def _check_files(constraints: Iterable[Mapping[str, Any]], saved: Mapping[str, Any]) -> None:
    """Raise if a file is neither there nor saved."""
    for number, given in enumerate(constraints):
        file = given.get("file")
        if file is not None and file not in saved and not Path(file).is_file():
            raise ProblemError(
                f"constraints[{number}].file: there is no file {file!r}; paths are relative to "
                f"the current folder, {str(Path.cwd())!r}."
            )


def _check_tokens(constraints: Iterable[Mapping[str, Any]], vocab: Vocab) -> None:
    """Raise if no match of a constraint can have the token that it means."""
    for number, given in enumerate(constraints):
        keys = [key for key in ("token", "head") if given.get(key) is not None]
        longest = _longest_match(given, vocab) if keys else None
        for key in keys:
            if longest and not -longest <= given[key] < longest:
                raise ProblemError(
                    f"constraints[{number}].{key}: no match has a token {given[key]}; the longest "
                    f"has {longest}, counted from 0, or from -1 at the end."
                )


def _longest_match(given: Mapping[str, Any], vocab: Vocab) -> int | None:
    """The tokens of a constraint's longest match; None where there is no limit, or none known."""
    if "phrases" in given:
        from .places import phrases_in

        return max(map(len, phrases_in(vocab, given["phrases"])), default=None)
    patterns = given.get("pattern")
    if patterns is None or any("OP" in token for pattern in patterns for token in pattern):
        return None
    return max(map(len, patterns))
