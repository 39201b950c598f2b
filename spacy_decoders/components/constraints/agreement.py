"""The option `agreement`: how the entities of a document agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...arrays import is_number
from ...errors import ProblemError

__all__ = ["checked_agreement"]

KEYS = ("same_name", "missing", "short_names", "attr")


def checked_agreement(name: str, value: Any) -> dict[str, Any]:
    """Return the option `agreement` as a dictionary, checked.

    Examples
    --------
    >>> checked_agreement("agreement", "hard")
    {'same_name': 'hard', 'missing': 0.0, 'short_names': 0.0, 'attr': 'ORTH'}
    >>> checked_agreement("agreement", {"same_nam": 2})
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: agreement: unknown key 'same_nam'; known: same_name, ...
    """
    given = value if isinstance(value, Mapping) else {"same_name": value}
    for key in given:
        if key not in KEYS:
            raise ProblemError(f"{name}: unknown key {key!r}; known: {', '.join(KEYS)}.")
    found: dict[str, Any] = {
        "same_name": given.get("same_name", "hard"),
        "missing": given.get("missing", 0.0),
        "short_names": given.get("short_names", 0.0),
        "attr": given.get("attr", "ORTH"),
    }
    for key in ("same_name", "missing", "short_names"):
        weight = found[key]
        if key == "same_name" and weight == "hard":
            continue
        if not is_number(weight) or not math.isfinite(weight) or weight < 0:
            other = "'hard' or " if key == "same_name" else ""
            raise ProblemError(
                f"{name}: expected {other}a finite weight of at least 0 for {key}; got {weight!r}."
            )
        found[key] = float(weight)
    if found["same_name"] != "hard" and found["missing"] > found["same_name"]:
        raise ProblemError(f"{name}: missing must not be more than same_name; got {value!r}.")
    if found["attr"] not in ("ORTH", "LOWER", "NORM"):
        raise ProblemError(
            f"{name}: expected ORTH, LOWER or NORM for attr; got {found['attr']!r}."
        )
    return found
