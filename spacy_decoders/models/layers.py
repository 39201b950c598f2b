"""The layers of all models of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["layers_of", "widen_weights"]


def layers_of(nlp: Language) -> Iterator[Any]:
    """Go through the layers of each component's model, disabled ones included."""
    for _, component in nlp.components:
        model: Any = getattr(component, "model", None)
        if hasattr(model, "walk"):
            yield from model.walk()


def widen_weights(layers: Iterable[Any]) -> None:
    """Turn weights that were saved in half precision into single precision."""
    for layer in layers:
        for name in layer.param_names:
            if layer.has_param(name) and layer.get_param(name).dtype == "float16":
                layer.set_param(name, layer.get_param(name).astype("float32"))
