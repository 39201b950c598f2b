"""What factors changed in a tree, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from .choices import head_in_words, names_of
from .words import cost_in_words

__all__ = ["FactorChange", "changes_of"]

_FAMILIES = {
    "network": "single arcs",
    "arcs": "templates of arcs",
    "grandparents": "grandparents",
    "siblings": "pairs of siblings",
    "combs": "three neighbours under one head",
    "boundaries": "sentence boundaries",
}


class FactorChange(NamedTuple):
    """The tree of a sentence beside the one that its arcs alone give.

    Attributes
    ----------
    arcs
        For each arc that differs: the word, what it has now, and what by arcs alone.
    balance
        What speaks for which tree, in one sentence.
    factors
        The single factors that weigh most, and by how much for this tree.
    """

    arcs: tuple[tuple[str, str, str], ...]
    balance: str
    factors: tuple[tuple[str, str], ...]


def changes_of(doc: Doc, span: Span) -> list[FactorChange]:
    """Return what factors changed in a sentence, if the document still has that tree."""
    return [
        _in_words(doc, change)
        for change in doc._.factor_changes
        if span.start <= change["changed"][0]["token"] < span.end
        and all(doc[arc["token"]].head.i == arc["head"] for arc in change["changed"])
    ]


def _in_words(doc: Doc, change: Mapping[str, Any]) -> FactorChange:
    heads = {arc[key] for arc in change["changed"] for key in ("head", "arcs_head")}
    others = {token for factor in change["factors"] for token in factor["tokens"] if token >= 0}
    places = sorted({*change["tokens"], *heads, *others})
    names = names_of([(token, doc[token].text) for token in places])
    arcs = tuple(
        (
            names[arc["token"]],
            head_in_words(names, arc["token"], arc["head"], arc["dep"]),
            head_in_words(names, arc["token"], arc["arcs_head"], arc["arcs_dep"]),
        )
        for arc in change["changed"]
    )
    factors = tuple(
        (_factor_in_words(factor, names), f"{'+' * (gain >= 0)}{cost_in_words(gain)}")
        for factor in change["factors"]
        for gain in (factor["gain"],)
    )
    return FactorChange(arcs, balance_in_words(change["gains"]), factors)


def balance_in_words(gains: Mapping[str, float]) -> str:
    """Say what speaks for the tree and what against it.

    Examples
    --------
    >>> balance_in_words({"network": -1.5, "grandparents": 2.0, "siblings": 0.25})
    'For this tree: grandparents 2, pairs of siblings 0.25. Against it: single arcs 1.5.'
    """
    ranked = sorted(gains.items(), key=lambda item: -abs(item[1]))
    sides = (("For this tree", 1), ("Against it", -1))
    said = []
    for words, sign in sides:
        on_side = [
            f"{_FAMILIES.get(family, family)} {cost_in_words(abs(gain))}"
            for family, gain in ranked
            if sign * gain > 0
        ]
        if on_side:
            said.append(f"{words}: {', '.join(on_side)}.")
    return " ".join(said)


def _factor_in_words(factor: Mapping[str, Any], names: Mapping[int, str]) -> str:
    words = [names.get(token, "root") for token in factor["tokens"]]
    if factor["family"].startswith("pattern "):
        shape = f"{factor['family']}: {', '.join(words)}"
    elif factor["family"] in ("siblings", "combs"):
        shape = f"{words[0]} → {' and '.join(words[1:])}"
    else:
        shape = " → ".join(words)
    return shape if factor["in_tree"] else f"no {shape}"
