"""The small trained pipeline that is shipped in the package."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import DecodersError, ProblemError
from .models.layers import layers_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.vocab import Vocab

__all__ = ["FOLDER", "load", "meta", "pack"]

#: Its folder, which also has its licence and a description of its training.
FOLDER = Path(__file__).parent / "data" / "english"

#: The spaCy that it is for, any that the package takes: spaCy itself writes the release it was
#: saved by, and warns of earlier ones.
SPACY = ">=3.8.0,<3.9.0"


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

    It is small, so that everything can be tried at once; train your own for work. Its
    weights are under CC BY-SA 4.0, see the files beside it.

    It sets tags, universal parts of speech and morphological features, lemmas (spaCy's own rule
    lemmatizer, whose tables are shipped), trees, sentences, entities (persons, locations,
    organisations), links and headlines, and so ``doc.noun_chunks``. Known concepts that are no
    such names, such as a programming language, stand in ``doc.spans["concepts"]`` where the linker
    links them.

    Parameters
    ----------
    language
        Only "en" is shipped.
    vocab, disable, enable, exclude, config
        As for ``spacy.load``.

    Raises
    ------
    ProblemError
        If an argument is not what is expected: another language, a component or an option that
        the pipeline does not have, or settings that are no dict.
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
    from thinc.api import ConfigValidationError

    if not isinstance(language, str):
        raise ProblemError(f"language: expected a string; got {language!r}.")
    if language != "en":
        raise ProblemError(
            f"language: only the pipeline of 'en' is shipped; got {language!r}. Load a pipeline "
            "of your own with spacy.load()."
        )
    if config is not None and not isinstance(config, Mapping):
        raise ProblemError(
            "config: expected a dict of settings, such as {'components.tagger.margins': True}; "
            f"got {config!r}."
        )
    if not (FOLDER / "meta.json").exists():
        raise DecodersError(
            f"the shipped pipeline is missing from {FOLDER}; reinstall spacy-decoders, or load a "
            "pipeline of your own with spacy.load()."
        )
    chosen = {
        "disable": _components("disable", disable),
        "enable": _components("enable", enable),
        "exclude": _components("exclude", exclude),
    }
    try:
        nlp = spacy.load(FOLDER, vocab=vocab, config=dict(config or {}), **chosen)
    except ConfigValidationError:
        fault = _unknown_setting(config or {})
        if fault is None:
            raise
        raise ProblemError(f"config: {fault}") from None
    _multiply_as_always(nlp)
    return nlp


def _components(argument: str, names: str | Iterable[str]) -> list[str]:
    """Names of components, all of which the pipeline has."""
    if not isinstance(names, (str, Iterable)):
        raise ProblemError(f"{argument}: expected names of components; got {names!r}.")
    given = [names] if isinstance(names, str) else list(names)
    known = meta()["components"]
    for name in given:
        if name not in known:
            raise ProblemError(
                f"{argument}: the pipeline has no component {name!r}, only {', '.join(known)}."
            )
    return given


def _unknown_setting(config: Mapping[str, Any]) -> str | None:
    """Say what the pipeline does not have of what is set, and what was perhaps meant."""
    from spacy.language import Language
    from spacy.util import load_config

    shipped = load_config(FOLDER / "config.cfg")
    for path in _paths(config):
        section, component, option = (*path, "", "")[:3]
        if section not in shipped:
            return _no_such("section", section, list(shipped))
        if section != "components" or not component:
            continue
        if component not in shipped["components"]:
            return _no_such("component", component, list(shipped["components"]))
        factory = Language.get_factory_meta(shipped["components"][component]["factory"])
        options = [*(factory.default_config or {}), "factory"]
        if option and option not in options:
            return _no_such(f"option of {component}", option, options)
    return None


def _paths(config: Mapping[str, Any], depth: int = 3) -> Iterator[tuple[str, ...]]:
    """The names of settings, down to a depth; dots part them, or dicts in dicts."""
    for name, value in config.items():
        path = tuple(str(name).split("."))
        yield path
        if isinstance(value, Mapping) and len(path) < depth:
            yield from (path + rest for rest in _paths(value, depth - len(path)))


def _no_such(kind: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"only {', '.join(known)}."
    return f"there is no {kind} {name!r}; {hint}"


def pack(nlp: Language, folder: Path = FOLDER) -> None:
    """Write a pipeline as small as it goes: weights of 7 bits of fraction, and no vocabulary.

    The pipeline is spoilt by it: load it again to use it.

    Parameters
    ----------
    nlp
        A trained pipeline whose components need nothing from the vocabulary but the strings
        of their labels.
    folder
        Where to write it; `load` reads the one in the package.
    """
    import srsly

    _round(nlp)
    for name in nlp.config.get("paths", {}):
        nlp.config["paths"][name] = None  # do not ship local paths of the training data
    nlp.to_disk(folder, exclude=["vocab"])
    written = {**srsly.read_json(folder / "meta.json"), "spacy_version": SPACY}
    srsly.write_json(folder / "meta.json", written)


def _round(nlp: Language) -> None:
    """Round to half precision with 7 of its 10 bits of fraction: wheels compress it better."""
    import numpy as np

    for layer in layers_of(nlp):
        for name in layer.param_names:
            weights = layer.get_param(name) if layer.has_param(name) else None
            if weights is not None and weights.dtype in ("float16", "float32"):
                bits = (weights.astype(np.float16).view(np.uint16).astype(np.uint32) + 4) & 0xFFF8
                layer.set_param(name, bits.astype(np.uint16).view(np.float16))


def _multiply_as_always(nlp: Language) -> None:
    """Multiply matrices with thinc's own BLAS, whatever pipelines that were made before set.

    Others round differently, and the same text would have other scores in their last digits.
    """
    from thinc.api import NumpyOps

    ops = NumpyOps()
    for layer in layers_of(nlp):
        if type(layer.ops) is NumpyOps:
            layer.ops = ops


def meta() -> dict[str, Any]:
    """Return the pipeline's ``meta.json``."""
    content: dict[str, Any] = json.loads((FOLDER / "meta.json").read_text(encoding="utf8"))
    return content
