"""Making a component's factory from the class of its options."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import Parameter, Signature, get_annotations
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from .. import extensions
from ..options import WithOptions

__all__ = ["HASH_EMBED_CNN", "register_factory"]

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


def register_factory(
    name: str,
    component: str,
    options: type[WithOptions],
    *,
    model: dict[str, Any] | None = None,
    scorer: str | None = None,
    required: Sequence[str] = (),
    assigns: Sequence[str],
    requires: Sequence[str] = (),
    scores: Mapping[str, float | None] | None = None,
) -> Factory:
    """Register a factory with spaCy that imports its component when it is called.

    Parameters
    ----------
    name
        The factory's name.
    component
        The component's module, under ``spacy_decoders``, a colon, and its class.
    options
        The class of its options, whose types become those of the factory's arguments, by which
        spaCy validates configs.
    model, scorer
        The defaults of these in a config; None if the component takes none.
    required
        Options that a config must give.
    assigns, requires, scores
        Metadata for spaCy: the attributes that the component sets and needs, and the weights of
        its scores, to which those of certificates are added.
    """
    module, attribute = component.split(":")

    def make(nlp: Language, name: str, **given: Any) -> Callable[[Doc], Doc]:
        found = import_module(f"spacy_decoders.{module}")
        return getattr(found, attribute)(nlp.vocab, name=name, **given)

    config = {key: of for key, of in options.option_defaults().items() if key not in required}
    annotations = get_annotations(options, eval_str=True)
    types: dict[str, Any] = {"nlp": Language, "name": str} | {
        # the result of a registered function may be anything
        key: Any if isinstance(default, dict) else annotations[key]
        for key, default in options.option_defaults().items()
    }
    if model is not None:
        config["model"], types["model"] = model, Model[Any, Any]
    if scorer is not None:
        config["scorer"], types["scorer"] = {"@scorers": scorer}, Callable[..., Any] | None
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
        default_config=config,
        default_score_weights={**scores, "certified": None, "certified_pruned": None}
        if scores
        else {},
    )
    return register(make)
