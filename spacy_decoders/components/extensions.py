"""The extension attributes of all components, registered in one place.

Values are plain types only (dict, list, str, float, int, bool, None): they survive
``Doc.to_bytes``, ``DocBin(store_user_data=True)`` and worker processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc, Span, Token

from ..certificate import Certificate

__all__ = [
    "beside_others",
    "certificates_of",
    "forget",
    "install",
    "record_certificates",
    "record_margins",
    "record_probabilities",
]

_DEFAULTS: tuple[tuple[Any, Mapping[str, Any]], ...] = (
    (
        Doc,
        {
            "certificates": {},
            "conflicts": [],
            "entity_alternatives": [],
            "headline": "",
            "headlines": [],
            "margins": {},
            "parses": [],
            "probabilities": {},
            "taggings": [],
        },
    ),
    (Span, {"link": {}, "headline": "", "headlines": [], "prob": None}),
    (
        Token,
        {
            **dict.fromkeys(f"{of}_margin" for of in ("tag", "pos", "morph", "ent", "head")),
            **dict.fromkeys(f"{of}_prob" for of in ("tag", "pos", "morph")),
            "head_prob": None,
            "dep_prob": None,
            "sent_start_prob": None,
            "fixed_head": None,
            "fixed_dep": None,
            "forbidden_heads": [],
            "forbidden_deps": [],
        },
    ),
)


def install() -> None:
    """Register every extension once; an existing one of the user's is kept."""
    for owner, defaults in _DEFAULTS:
        for name, default in defaults.items():
            if not owner.has_extension(name):
                owner.set_extension(name, default=default)


def record_certificates(doc: Doc, component: str, certificates: Iterable[Certificate]) -> None:
    """Write a component's certificates, one per decoded unit, to ``doc._.certificates``."""
    written = [certificate.as_dict() for certificate in certificates]
    # a new dict: the stored one may be shared with a copy of the Doc
    doc._.certificates = {**doc._.certificates, component: written}


def certificates_of(doc: Doc, component: str) -> list[dict[str, Any]]:
    """Read a component's certificates back, also from a Doc that was serialised."""
    return list(doc._.certificates.get(component, ()))


def record_margins(doc: Doc, component: str, name: str, values: Iterable[float]) -> None:
    """Write a component's margins, one per token, to ``doc._.margins`` and ``token._.NAME``.

    An infinite margin, of a token without an alternative, is written as None: strict JSON has no
    infinity. At tokens, the margins of a component replace those of an earlier one of its kind.
    """
    written = [value if math.isfinite(value) else None for value in values]
    doc._.margins = {**doc._.margins, component: written}
    _write_to_tokens(doc, {name: written})


def record_probabilities(
    doc: Doc,
    component: str,
    written: Mapping[str, Any],
    of_tokens: Mapping[str, Sequence[float | None]],
) -> None:
    """Write what is known about a component's answers to ``doc._.probabilities``.

    `written` has lists of probabilities, by what they are probabilities of; `of_tokens`, for the
    names of attributes of tokens, a value for each token: they replace those of an earlier
    component.
    """
    doc._.probabilities = {**doc._.probabilities, component: dict(written)}
    _write_to_tokens(doc, of_tokens)


def forget(doc: Doc, component: str, name: str, of_tokens: Iterable[str] = ()) -> Any:
    """Remove what an earlier run of a component wrote by an option that is off now.

    `name` is an attribute of the Doc, a dictionary by components or a list of their entries;
    `of_tokens` are the attributes of tokens that go with it. Returns the component's entry of a
    dictionary, None if there was none.
    """
    user_data: dict[Any, Any] = doc.user_data  # `doc._` takes microseconds
    key = ("._.", name, None, None)
    entries = user_data.get(key)
    if not entries:
        return None
    if not isinstance(entries, dict):
        user_data[key] = [of for of in entries if _writer_of(of) != component]
        return None
    if component not in entries:
        return None
    user_data[key] = {of: entry for of, entry in entries.items() if of != component}
    for attribute in of_tokens:
        for token in doc:
            user_data.pop(("._.", attribute, token.idx, None), None)
    return entries[component]


def _writer_of(entry: Any) -> Any:
    """The component of an entry, or of a list of them."""
    first = entry[0] if isinstance(entry, list) and entry else entry
    return first.get("component") if isinstance(first, dict) else None


def _write_to_tokens(doc: Doc, attributes: Mapping[str, Sequence[float | None]]) -> None:
    # `token._.name = value` takes microseconds per token, more than decoding it
    places = [token.idx for token in doc] if attributes else []
    user_data: dict[Any, Any] = doc.user_data
    for name, values in attributes.items():
        user_data.update(
            {("._.", name, at, None): value for at, value in zip(places, values, strict=True)}
        )


def beside_others(
    entries: Sequence[dict[str, Any]], component: str, own: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return a component's entries after those of earlier components, each with its name."""
    others = [entry for entry in entries if entry.get("component") != component]
    return [*others, *({"component": component, **entry} for entry in own)]
