"""The extension attributes of all components, registered in one place.

Values are plain types only (dict, list, str, float, int, bool, None): they survive
``Doc.to_bytes``, ``DocBin(store_user_data=True)`` and worker processes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from spacy.tokens import Doc, Span, Token

from ..certificate import Certificate

__all__ = [
    "certificates_of", "install", "record", "record_certificates", "record_list", "record_margins",
]  # fmt: skip

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
            **dict.fromkeys(f"{kind}_margin" for kind in ("tag", "pos", "morph", "ent", "head")),
            **dict.fromkeys(f"{kind}_prob" for kind in ("tag", "pos", "morph", "head", "dep")),
            **dict.fromkeys(("sent_start_prob", "fixed_head", "fixed_dep")),
            "forbidden_heads": [],
            "forbidden_deps": [],
        },
    ),
)


def install() -> None:
    """Register all extensions; existing ones are kept."""
    for owner, defaults in _DEFAULTS:
        for name, default in defaults.items():
            if not owner.has_extension(name):
                owner.set_extension(name, default=default)


def record(
    doc: Doc,
    component: str,
    name: str,
    entry: Any,
    token_values: Mapping[str, Sequence[float | None] | None] = MappingProxyType({}),
) -> Any:
    """Write a component's entry of a dictionary by components, such as ``doc._.margins``.

    Returns the entry of an earlier run, or None; an `entry` of None removes that. `token_values`
    has the token attributes that go with the entry, with a value for each token, which replace
    those of an earlier component.
    """
    user_data: dict[Any, Any] = doc.user_data  # `doc._` takes microseconds
    entries = _written(user_data, ("._.", name, None, None), dict)
    earlier = entries.get(component)
    if entry is None and earlier is None:
        return None
    # a new dict: the stored one may be shared with a copy of the Doc
    entries = {**entries, component: entry}
    if entry is None:
        del entries[component]
    user_data["._.", name, None, None] = entries
    places = [token.idx for token in doc] if token_values else []
    for attribute, values in token_values.items():
        keys = [("._.", attribute, at, None) for at in places]
        if values is None:
            for key in keys:
                user_data.pop(key, None)
        else:
            user_data.update(zip(keys, values, strict=True))
    return earlier


def record_certificates(doc: Doc, component: str, certificates: Iterable[Certificate]) -> None:
    """Write a component's certificates, one per decoded unit, to ``doc._.certificates``."""
    record(doc, component, "certificates", [certificate.as_dict() for certificate in certificates])


def certificates_of(doc: Doc) -> Iterator[dict[str, Any]]:
    """The certificates of all components; foreign values in their place are left out."""
    key = ("._.", "certificates", None, None)
    for certificates in _written(doc.user_data, key, dict).values():
        for certificate in certificates if isinstance(certificates, list | tuple) else ():
            match certificate:
                case {"decoder": str(), "status": str(), "scope": str()}:
                    yield certificate


def record_margins(doc: Doc, component: str, name: str, values: Iterable[float] | None) -> None:
    """Write a component's margins, one per token, to ``doc._.margins`` and ``token._.NAME``.

    The infinite margin of a token without alternatives is written as None, since strict JSON has
    no infinity. Without `values`, those of an earlier run are removed.
    """
    written = None
    if values is not None:
        written = [value if math.isfinite(value) else None for value in values]
    record(doc, component, "margins", written, {name: written})


def record_list(owner: Doc | Span, component: str, name: str, own: Sequence[Any]) -> None:
    """Replace a component's entries in a list, after those of others.

    `own` are dictionaries, or lists of them, to which the component's name is added.
    """
    place = (None, None) if isinstance(owner, Doc) else (owner.start_char, owner.end_char)
    key = ("._.", name, *place)
    user_data: dict[Any, Any] = owner.doc.user_data
    if key not in user_data and not own:
        return
    entries = _written(user_data, key, list)
    others = [entry for entry in entries if entry and _writer_of(entry) != component]
    name_of = {"component": component}
    user_data[key] = others
    for entry in own:
        several = isinstance(entry, list)
        others.append([name_of | one for one in entry] if several else name_of | entry)


def _written(user_data: Mapping[Any, Any], key: tuple[Any, ...], kind: type) -> Any:
    """What is stored under a key; an empty collection in place of a foreign value."""
    found = user_data.get(key)
    return found if isinstance(found, kind) else kind()


def _writer_of(entry: Any) -> Any:
    """The component of an entry, or of a list of them; None for foreign ones."""
    first = entry[0] if isinstance(entry, list) else entry
    return first.get("component") if isinstance(first, dict) else None
