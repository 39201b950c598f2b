"""Creating a component's factory from the class of its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, Signature, get_annotations
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from .. import (
    decoder_registry,  # noqa: F401 - creates `@decoders`
    extensions,
)
from ..options import WithOptions

__all__ = ["HASH_EMBED_CNN", "default_config", "register_factory"]

#: The token vectors of a component that is added without a config, spaCy's own default. A plain
#: dict: parsing a config would cost every spacy.blank() milliseconds.
HASH_EMBED_CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 96,
    "depth": 4,
    "embed_size": 2000,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
}

extensions.install()

Factory = Callable[..., Callable[[Doc], Doc]]


def default_config(
    options: type[WithOptions], *, model: dict[str, Any], scorer: str
) -> dict[str, Any]:
    """The default config of a component: its options', its model's and its scorer's."""
    return {**options.option_defaults(), "model": model, "scorer": {"@scorers": scorer}}


def register_factory(
    name: str,
    component: str,
    options: type[WithOptions],
    config: Mapping[str, Any],
    *,
    assigns: Sequence[str],
    requires: Sequence[str] = (),
    scores: Mapping[str, float | None] | None = None,
) -> Factory:
    """Register a component's factory with spaCy; the component's module is imported when it runs.

    Parameters
    ----------
    name
        The factory's name.
    component
        The component's module, under ``spacy_decoders``, and class.
    options
        The class of its options: their types are the types of the factory's arguments, by
        which spaCy validates configs.
    config
        The default config; one with a model, or a scorer, makes it an argument.
    assigns, requires, scores
        Metadata for spaCy: the attributes that the component sets and needs, and the weights of
        its scores, to which those of certificates are added.
    """
    module, attribute = component.split(":")

    def make(nlp: Language, name: str, **given: Any) -> Callable[[Doc], Doc]:
        found = import_module(f"spacy_decoders.{module}")
        pipe: Callable[[Doc], Doc] = getattr(found, attribute)(nlp.vocab, name=name, **given)
        return pipe

    own = _types_of(options)
    others = {"model": Model[Any, Any], "scorer": Callable[..., dict[str, Any]] | None}
    added = {key: kind for key, kind in others.items() if key in config and key not in own}
    types = {"nlp": Language, "name": str, **own, **added}
    signature: Any = make
    signature.__signature__ = Signature(
        [Parameter(key, Parameter.KEYWORD_ONLY, annotation=kind) for key, kind in types.items()]
    )
    make.__annotations__ = types
    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__module__ = options.__module__
    make.__doc__ = options.__doc__
    register: Callable[[Factory], Factory] = Language.factory(
        name,
        assigns=assigns,
        requires=requires,
        default_config=dict(config),
        default_score_weights={**scores, "certified": None, "certified_pruned": None}
        if scores
        else {},
    )
    return register(make)


def _types_of(options: type[WithOptions]) -> dict[str, Any]:
    """Return the type of each option; the result of a registered function may be anything."""
    annotations = get_annotations(options, eval_str=True)
    return {
        name: Any if isinstance(default, dict) else annotations[name]
        for name, default in options.option_defaults().items()
    }
