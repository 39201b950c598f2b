"""The small trained pipeline that is shipped in the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import DecodersError

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["FOLDER", "load", "meta", "pack"]

#: Where it lies; its licence and how it was made stand beside it.
FOLDER = Path(__file__).parent / "data" / "english"


def load(**options: Any) -> Language:
    """Load the English pipeline that is shipped with the package.

    It is small, so that everything can be tried at once; train your own for work. Its
    weights are under CC BY-SA 4.0, see the files beside it.

    Parameters
    ----------
    **options
        Those of ``spacy.load``: ``disable``, ``exclude``, ``config``, ``vocab``, ...

    Raises
    ------
    DecodersError
        If the installation lacks it.

    Examples
    --------
    >>> import spacy_decoders
    >>> nlp = spacy_decoders.load()
    >>> doc = nlp("The old man can fish.")
    >>> [token.tag_ for token in doc]
    ['DT', 'JJ', 'NN', 'MD', 'VB', '.']
    """
    import spacy

    if not (FOLDER / "meta.json").exists():
        raise DecodersError(
            f"the shipped pipeline is missing from {FOLDER}; reinstall spacy-decoders, or load a "
            "pipeline of your own with spacy.load()."
        )
    nlp = spacy.load(FOLDER, **options)
    _convert(nlp, "float16", "float32")
    return nlp


def pack(nlp: Language, folder: Path = FOLDER) -> None:
    """Write a pipeline as small as it goes: half precision, and no vocabulary.

    The pipeline is spoilt by it: load it again to use it.

    Parameters
    ----------
    nlp
        A trained pipeline whose components need nothing from the vocabulary but the strings
        of their labels.
    folder
        Where to write it; `load` reads the one in the package.
    """
    _convert(nlp, "float32", "float16")
    for name in nlp.config.get("paths", {}):
        nlp.config["paths"][name] = None  # where the training data lay is nobody's business
    nlp.to_disk(folder, exclude=["vocab"])


def _convert(nlp: Language, given: str, wanted: str) -> None:
    """Convert all weights of one precision to another."""
    for _, component in nlp.pipeline:
        model: Any = getattr(component, "model", None)
        for node in model.walk() if hasattr(model, "walk") else ():
            for name in node.param_names:
                if node.has_param(name) and node.get_param(name).dtype == given:
                    node.set_param(name, node.get_param(name).astype(wanted))


def meta() -> dict[str, Any]:
    """Return the pipeline's ``meta.json``."""
    content: dict[str, Any] = json.loads((FOLDER / "meta.json").read_text(encoding="utf8"))
    return content
