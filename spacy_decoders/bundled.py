"""The small trained pipeline and knowledge base that the package ships."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arrays import checked_list
from .errors import DecodersError, ProblemError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.vocab import Vocab

__all__ = ["CONCEPTS", "FOLDER", "SHIPPED", "load", "meta", "place_of"]

#: The name of the pipeline that ships.
SHIPPED = "en"
#: The folder of the pipeline, with its licence and a description of its training.
FOLDER = Path(__file__).parent / "data" / "english"
#: The folder of the small knowledge base.
CONCEPTS = Path(__file__).parent / "data" / "concepts" / "base"


def load(
    language: str = "en",
    *,
    vocab: Vocab | bool = True,
    disable: str | Iterable[str] = (),
    enable: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    config: Mapping[str, Any] | None = None,
) -> Language:
    """Load the English pipeline that is shipped with the package.

    It is small, for trying everything at once; train your own for work. Its weights are under
    CC BY-SA 4.0, see the files beside it.

    It sets tags, universal parts of speech and morphological features, lemmas (by spaCy's rule
    lemmatizer, whose tables are shipped), trees, sentences, entities (persons, locations,
    organisations), links and headlines, and so ``doc.noun_chunks``. Linked concepts that are no
    such names, such as programming languages, are in ``doc.spans["concepts"]``.

    Parameters
    ----------
    language
        Only "en" is shipped.
    vocab, disable, enable, exclude, config
        As for ``spacy.load``.

    Raises
    ------
    ProblemError
        If the language is another, a component is not in the pipeline, or `config` is no dict.
    ConfigValidationError
        If `config` has a section, component or option that the pipeline does not have.
    DecodersError
        If the installation lacks the pipeline.

    Examples
    --------
    >>> import spacy_decoders
    >>> nlp = spacy_decoders.load()
    >>> doc = nlp("The old man can fish.")
    >>> [token.tag_ for token in doc]
    ['DT', 'JJ', 'NN', 'MD', 'VB', '.']
    >>> [chunk.text for chunk in doc.noun_chunks]
    ['The old man']
    """
    import spacy

    if language != SHIPPED:
        raise ProblemError(
            f"language: only the pipeline of 'en' is shipped; got {language!r}. Load a pipeline "
            "of your own with spacy.load()."
        )
    if config is not None and not isinstance(config, Mapping):
        raise ProblemError(
            "config: expected a dict of settings, such as {'components.tagger.margins': True}; "
            f"got {config!r}."
        )
    given = {"disable": disable, "enable": enable, "exclude": exclude}
    chosen = {argument: _components(argument, names) for argument, names in given.items()}
    return spacy.load(place_of(""), vocab=vocab, config=dict(config or {}), **chosen)


def place_of(pipeline: str) -> str | Path:
    """Return what ``spacy.load`` takes for a pipeline that a user names.

    Nothing, or "en" unless there is such a folder, stands for the one that is shipped.

    Examples
    --------
    >>> place_of("en") == place_of("") == FOLDER, place_of("en_core_web_sm")
    (True, 'en_core_web_sm')
    """
    if pipeline not in ("", SHIPPED) or (pipeline and Path(pipeline).exists()):
        return pipeline
    if not (FOLDER / "meta.json").exists():
        raise DecodersError(
            f"the shipped pipeline is missing from {FOLDER}; reinstall spacy-decoders, or load a "
            "pipeline of your own with spacy.load()."
        )
    return FOLDER


def _components(argument: str, names: str | Iterable[str]) -> list[str]:
    """Return names of components as a list, after checking that the pipeline has them."""
    given = checked_list(argument, [names] if isinstance(names, str) else names, "components")
    known = meta()["components"]
    for name in given:
        if name not in known:
            raise ProblemError(
                f"{argument}: the pipeline has no component {name!r}, only {', '.join(known)}."
            )
    return given


def meta() -> dict[str, Any]:
    """Return the pipeline's ``meta.json``."""
    return json.loads((FOLDER / "meta.json").read_text(encoding="utf8"))
