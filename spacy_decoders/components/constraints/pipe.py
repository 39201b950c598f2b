"""The part of a component that has the option `constraints`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...errors import ProblemError

if TYPE_CHECKING:
    from .places import Place, Places

__all__ = ["WithConstraints"]


class WithConstraints:
    """Finds the places of the constraints that the option `constraints` holds.

    To inherit from before :class:`~spacy_decoders.components.decoding_pipe.DecodingPipe`.
    """

    vocab: Vocab
    constraints: Any
    _places: Places | None = None

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none."""
        if "constraints" in values:
            given = self._checked("constraints", values["constraints"])  # type: ignore[attr-defined]
            _check_tokens(given, self.vocab)
        super().configure(**values)  # type: ignore[misc]
        if "constraints" in values:
            self._places = None

    def places_in(self, doc: Doc) -> list[Place]:
        """Return where constraints apply in a document."""
        if not self.constraints:
            return []
        if self._places is None:
            from .places import Places

            self._places = Places(self.constraints)
        return self._places.find(doc)


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
