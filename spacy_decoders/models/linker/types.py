"""Whether what kind of thing a concept is agrees with the label of an entity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["coarse_type", "of_types", "type_agreement"]

#: Coarse types, and other names of them: of the label sets of corpora, of ontologies, in English.
_NAMES: Mapping[str, str] = {
    "person": "per people human character fictional_human name",
    "group": "norp demonym ethnic_group nationality religion",
    "organisation": "org organization company business corporation team sports_team band party "
    "university school institution agency government newspaper military record_label",
    "place": "loc location gpe geo country city town village state region settlement continent "
    "river mountain island lake ocean sea desert planet star area territory",
    "facility": "fac building airport bridge station stadium museum road structure",
    "event": "evt war battle election festival holiday tournament",
    "work": "work_of_art art creative_work book film song album television_series game "
    "video_game painting play poem creation",
    "product": "prod software vehicle brand weapon device car food programming_language tool",
    "species": "animal plant taxon organism fruit",
    "substance": "chemical chemical_element material drug disease",
    "language": "lang",
    "law": "",
    "thing": "object topic subject concept abstract discipline field",
}
_COARSE = {name: coarse for coarse, names in _NAMES.items() for name in (coarse, *names.split())}

#: Which coarse types an entity's label allows, where that is not only the one of its name.
_ALLOWED: Mapping[str, Sequence[str]] = {
    "gpe": ("place", "organisation"),
    "fac": ("facility", "place", "organisation"),
    "loc": ("place", "facility"),
    "location": ("place", "facility"),
    "place": ("place", "facility"),
    "org": ("organisation", "facility", "product"),
    "organization": ("organisation", "facility", "product"),
    "organisation": ("organisation", "facility", "product"),
    "norp": ("group", "place", "organisation", "language"),
    "product": ("product", "work", "organisation"),
    "work_of_art": ("work", "product"),
    "event": ("event", "work"),
}


def coarse_type(name: str | None) -> str | None:
    """The coarse type that a name stands for, None if it stands for none.

    Examples
    --------
    >>> coarse_type("Sports team"), coarse_type("GPE"), coarse_type("MISC")
    ('organisation', 'place', None)
    """
    if not name:
        return None
    return _COARSE.get(name.strip().casefold().replace(" ", "_").replace("-", "_"))


def type_agreement(label: str, types: Iterable[str | None]) -> NDArray[np.float32]:
    """1 for each type that a label allows, -1 for one that it does not, 0 where it can't be told.

    Examples
    --------
    >>> type_agreement("PERSON", ["human", "company", None, "gadget"]).tolist()
    [1.0, -1.0, 0.0, 0.0]
    >>> type_agreement("MISC", ["human"]).tolist()
    [0.0]
    """
    wanted = coarse_type(label)
    allowed = _ALLOWED.get(label.casefold(), (wanted,))
    agreement = []
    for name in types:
        coarse = coarse_type(name)
        if name and name.casefold() == label.casefold():
            agreement.append(1.0)
        elif wanted is None or coarse is None:
            agreement.append(0.0)
        else:
            agreement.append(1.0 if coarse in allowed else -1.0)
    return np.array(agreement, np.float32)


def of_types(types: Iterable[str | None], wanted: Sequence[str]) -> NDArray[np.bool_]:
    """Which types are among the wanted ones, by their own name or by their coarse type's.

    Examples
    --------
    >>> of_types(["city", "person", None], ["place", "Person"]).tolist()
    [True, True, False]
    """
    names = {name.casefold() for name in wanted}
    return np.array(
        [
            bool(name) and (name.casefold() in names or coarse_type(name) in names)  # type: ignore[union-attr]
            for name in types
        ],
        np.bool_,
    )
