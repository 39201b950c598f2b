"""The option `rules` of parsers: checking rules of trees, and resolving their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..arrays import checked_list
from ..errors import ProblemError
from .option_checks import Names, SomeNames, faults_of_fields

if TYPE_CHECKING:
    from ..decoders.tree import Rule

__all__ = ["rules_over", "tree_rules"]

Statement = dict[str, Any]

_NAME = "universal-dependencies"

#: The guidelines of Universal Dependencies: at most one subject and one object per head, and
#: function words without dependants (except coordination, fixed expressions, repairs,
#: punctuation, and modifiers of a numeral or a determiner).
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


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    exempt: Names = []


class _AtMost(_Rule):
    labels: SomeNames
    at_most: Annotated[int, Field(ge=0)]


class _Leaf(_Rule):
    leaf: SomeNames


def tree_rules(name: str, value: Any) -> tuple[Statement | str, ...]:
    """Return the rules of a parser, checked; ``"universal-dependencies"`` stands for several.

    Raises
    ------
    ProblemError
        If one is not a rule; the message names its place, what is wrong and what is expected.

    Examples
    --------
    >>> tree_rules("rules", [{"labels": "obj", "at_most": 1}])
    ({'labels': ['obj'], 'at_most': 1},)
    >>> tree_rules("rules", [{"leaf": ["punct"], "at_most": 1}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: rules[0].at_most: extra inputs are not permitted; got 1.
    """
    kinds = f"rules such as {{'labels': ['obj'], 'at_most': 1}}, or '{_NAME}'"
    found: list[Statement | str] = []
    for number, rule in enumerate(checked_list(name, value, kinds)):
        place = f"{name}[{number}]"
        if rule == _NAME:
            found.append(_NAME)
            continue
        if not isinstance(rule, Mapping) or not {"labels", "leaf"} & set(rule):
            raise ProblemError(
                f"{place}: expected a dict with 'labels' and 'at_most', or with 'leaf', or "
                f"'{_NAME}'; got {rule!r}."
            )
        with faults_of_fields(place):
            kind = _Leaf if "leaf" in rule else _AtMost
            found.append(kind(**rule).model_dump(exclude_unset=True))
    return tuple(found)


def rules_over(statements: Sequence[Statement | str], labels: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of a parser over the numbers of its labels, the root's last.

    A label stands for its subtypes, too. Raises `ProblemError` if the parser has none of a rule's
    labels.
    """
    from ..decoders.tree import AtMost, Leaves

    found: list[Rule] = []
    for place, rule in enumerate(statements):
        for part in UNIVERSAL_DEPENDENCIES if isinstance(rule, str) else [rule]:
            names = part.get("labels") or part["leaf"]
            exempt, most = _numbers(part.get("exempt", ()), labels), part.get("at_most")
            named = _numbers(names, labels)
            if most is not None:
                named = [number for number in named if number not in exempt]
            if not named:
                if isinstance(rule, str):
                    continue  # treebanks need not have all labels of the guidelines
                raise ProblemError(
                    f"rules[{place}]: the parser has none of the labels {names}, or all "
                    f"are exempt; it has {', '.join(labels)}."
                )
            if most is None:
                found.append(Leaves(named, exempt=exempt))
                continue
            # the root's label is that of one token of a sentence, which has no head
            root_label = len(labels) - 1 if most else None
            found.append(AtMost([number for number in named if number != root_label], most))
    return tuple(found)


def _numbers(names: Iterable[str], labels: Sequence[str]) -> list[int]:
    """Return the numbers of the labels with these names, and of their subtypes."""
    wanted = tuple(names)
    return [
        number
        for number, label in enumerate(labels)
        if any(label == name or label.startswith(name + ":") for name in wanted)
    ]
