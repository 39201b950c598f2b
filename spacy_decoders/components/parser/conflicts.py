"""Why a sentence has no tree: which demands contradict each other, in plain types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...errors import InfeasibleError
from .wishes import Wishes

__all__ = ["conflict_in", "in_words", "labels_of"]


def conflict_in(
    doc: Doc,
    tokens: NDArray[np.int64],
    error: InfeasibleError,
    wishes: Wishes,
    labels: Sequence[str],
) -> dict[str, Any]:
    """Describe a least set of demands that no tree satisfies.

    Parameters
    ----------
    doc
        The document.
    tokens
        The tokens of the sentence, by their indices in it.
    error
        What the decoder has raised, with the rules that contradict each other.
    wishes
        What is given on the document, or demanded.
    labels
        The labels, the root's last.
    """
    start, end = int(tokens[0]), int(tokens[-1]) + 1
    demands: list[tuple[str, int, int]] = []
    for rule in error.rules:
        found = _sources(rule, tokens, wishes, labels)
        demands += found or [("rules", start, end)]
    return {
        "start": start,
        "end": end,
        "demands": [
            {"source": source, "start": first, "end": stop, "text": doc[first:stop].text}
            for source, first, stop in dict.fromkeys(demands)
        ],
    }


def in_words(conflict: Mapping[str, Any]) -> str:
    """Say which demands on tokens contradict each other; nothing of the option `rules`.

    Examples
    --------
    >>> demands = [{"source": "constraints[0]", "text": "she"}, {"source": "rules", "text": "..."}]
    >>> in_words({"demands": demands})
    "constraints[0] at 'she'"
    """
    return ", ".join(
        f"{of['source']} at {of['text']!r}"
        for of in conflict["demands"]
        if of["source"] != "rules"
    )


def labels_of(rules: Iterable[Any], labels: Sequence[str]) -> dict[int, str]:
    """The labels that some rules speak of, by their numbers."""
    numbers = {
        number
        for rule in rules
        for key in ("labels", "exempt")
        for number in getattr(rule, key, None) or ()
    }
    return {number: labels[number] for number in sorted(numbers)}


def _sources(
    rule: Any, tokens: NDArray[np.int64], wishes: Wishes, labels: Sequence[str]
) -> list[tuple[str, int, int]]:
    """What has led to a rule about one token; nothing for the rules of the option."""
    from ...decoders.tree import FixedArc, FixedLabel, ForbiddenArc, ForbiddenLabel

    if not isinstance(rule, (FixedArc, FixedLabel, ForbiddenArc, ForbiddenLabel)):
        return []
    token = int(tokens[rule.token - 1])
    if isinstance(rule, FixedArc):
        return wishes.sources_of("fixed_head", token)
    if isinstance(rule, FixedLabel):
        return wishes.sources_of("fixed_dep", token)
    if isinstance(rule, ForbiddenArc):
        head = token if rule.head == 0 else int(tokens[rule.head - 1])
        return wishes.sources_of("forbidden_heads", token, [head])
    return wishes.sources_of("forbidden_deps", token, [labels[of] for of in rule.labels])
