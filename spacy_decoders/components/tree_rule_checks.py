"""The option `rules` of parsers: what trees must satisfy, as plain lists and dicts, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spacy.parts_of_speech import IDS

from ..arrays import checked_whole
from ..errors import ProblemError

__all__ = ["UNIVERSAL_DEPENDENCIES", "Statement", "tree_rules"]

Statement = dict[str, Any]

_NAME = "universal-dependencies"

#: What the guidelines of Universal Dependencies demand: one subject and one object a head, and
#: function words without dependants of their own (but coordination, fixed expressions, repairs,
#: punctuation, and what modifies a numeral or a determiner).
UNIVERSAL_DEPENDENCIES: tuple[Statement, ...] = (
    {"labels": ["nsubj", "csubj"], "at_most": 1, "exempt": ["nsubj:outer", "csubj:outer"]},
    {"labels": ["nsubj:outer", "csubj:outer"], "at_most": 1},
    {"labels": ["obj"], "at_most": 1},
    {"labels": ["iobj"], "at_most": 1},
    {
        "leaf": ["punct", "det", "case", "aux", "cop"],
        "exempt": ["punct", "conj", "cc", "fixed", "goeswith", "reparandum", "advmod", "obl"],
    },
)

#: The key that tells the kind of a rule, the keys that it needs and those that it may have.
_KINDS: dict[str, tuple[set[str], set[str]]] = {
    "labels": ({"labels", "at_most"}, {"exempt", "head_pos"}),
    "leaf": ({"leaf"}, {"exempt"}),
    "root_pos": ({"root_pos"}, set()),
    "constituents": ({"constituents"}, set()),
}


def tree_rules(name: str, value: Any) -> tuple[Statement | str, ...]:
    """Return the rules of a parser, checked; ``"universal-dependencies"`` stands for several.

    Raises
    ------
    ProblemError
        If one is no rule; the message names its place, what is wrong and what is expected.

    Examples
    --------
    >>> tree_rules("rules", [{"labels": ["obj"], "at_most": 1}])
    ({'labels': ['obj'], 'at_most': 1},)
    >>> tree_rules("rules", [{"leaves": ["punct"]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: rules[0]: expected one of 'labels', 'leaf', 'root_pos', \
'constituents' to tell the kind of rule; got 'leaves'.
    """
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise ProblemError(
            f"{name}: expected a list of rules such as "
            f"{{'labels': ['obj'], 'at_most': 1}}, or '{_NAME}' in a list; got {value!r}."
        )
    return tuple(_checked(f"{name}[{place}]", rule) for place, rule in enumerate(value))


def _checked(place: str, rule: Any) -> Statement | str:
    if isinstance(rule, str):
        if rule != _NAME:
            raise ProblemError(f"{place}: expected a dict or '{_NAME}'; got {rule!r}.")
        return rule
    if not isinstance(rule, Mapping):
        raise ProblemError(f"{place}: expected a dict or '{_NAME}'; got {type(rule).__name__}.")
    kinds = [kind for kind in _KINDS if kind in rule]
    if len(kinds) != 1:
        raise ProblemError(
            f"{place}: expected one of {', '.join(map(repr, _KINDS))} to tell the kind of rule; "
            f"got {', '.join(map(repr, rule))}."
        )
    needed, optional = _KINDS[kinds[0]]
    missing, unknown = needed - set(rule), set(rule) - needed - optional
    if missing or unknown:
        keys = [*sorted(needed), *(f"perhaps {key}" for key in sorted(optional))]
        wrong = f"{sorted(missing)[0]!r} is missing" if missing else f"got {sorted(unknown)[0]!r}"
        raise ProblemError(
            f"{place}: a rule with {kinds[0]!r} has the keys {', '.join(keys)}; {wrong}."
        )
    return {key: _value(f"{place}: {key}", key, given) for key, given in rule.items()}


def _value(place: str, key: str, given: Any) -> Any:
    if key == "at_most":
        return checked_whole(place, given, low=0)
    if key == "constituents":
        if not isinstance(given, str):
            raise ProblemError(f"{place}: expected 'ents' or a key of doc.spans; got {given!r}.")
        return given
    names = [given] if isinstance(given, str) else list(given) if _is_list(given) else [None]
    if not all(isinstance(name, str) for name in names) or (not names and key != "exempt"):
        raise ProblemError(f"{place}: expected a list of names; got {given!r}.")
    unknown = [name for name in names if key in ("head_pos", "root_pos") and name not in IDS]
    if unknown:
        raise ProblemError(f"{place}: {unknown[0]!r} is no universal part of speech.")
    return names


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, Mapping)
