"""The layers of all models of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["layers_of"]


def layers_of(nlp: Language) -> Iterator[Any]:
    """Go through the layers of each component's model, disabled ones included."""
    for _, component in nlp.components:
        model: Any = getattr(component, "model", None)
        if hasattr(model, "walk"):
            yield from model.walk()
