"""Scored spans of a spaCy Doc: in place of ``spacy.util.filter_spans``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import is_number
from ...budget import UNLIMITED, Budget
from ...certificate import Certificate
from ...errors import ProblemError
from .problem import SpanProblem
from .scheduling import BestSpans

__all__ = ["best_entities", "best_spans", "log_odds"]

#: Probabilities nearer to 0 or 1 than this count as this far from them.
NEAREST = 1e-7


def log_odds(probabilities: ArrayLike, threshold: float = 0.5) -> NDArray[np.float64]:
    """Return by how much spans are more likely than a threshold, as log-odds.

    The set with the largest sum is the most probable one, if each span is a decision of its own
    and `threshold` is 0.5. Spans below the threshold are worth less than nothing.

    Parameters
    ----------
    probabilities
        **Shape (s,)**, from 0 to 1.
    threshold
        The probability that is worth 0, between 0 and 1.

    Raises
    ------
    ProblemError
        If a probability lies outside.

    Examples
    --------
    >>> log_odds([0.5, 0.9, 0.1]).round(3).tolist()
    [0.0, 2.197, -2.197]
    """
    given = np.asarray(probabilities, dtype=np.float64)
    if not is_number(threshold) or not 0.0 < threshold < 1.0:
        raise ProblemError(f"threshold: expected a number between 0 and 1, got {threshold!r}.")
    outside = np.flatnonzero(~((given >= 0.0) & (given <= 1.0)))
    if outside.size:
        raise ProblemError(
            f"probabilities: expected numbers from 0 to 1, got {given.flat[outside[0]]} at index "
            f"{int(outside[0])}; give other scores as they are, without log_odds."
        )
    inner = np.clip(given, NEAREST, 1.0 - NEAREST)
    odds: NDArray[np.float64] = np.log(inner / (1.0 - inner))
    return odds - math.log(threshold / (1.0 - threshold))


def best_spans(
    spans: Iterable[Any],
    scores: ArrayLike | None = None,
    *,
    nested: bool = False,
    apart: bool = False,
    once: Iterable[Hashable] = (),
    budget: Budget = UNLIMITED,
) -> tuple[list[Any], Certificate]:
    """Choose the best spans that do not overlap.

    Parameters
    ----------
    spans
        spaCy ``Span`` objects, or anything with `start`, `end` and `label_`; a ``SpanGroup`` may
        bring its scores.
    scores
        What each span is worth; of a ``SpanGroup`` with ``attrs["scores"]``, as the span
        categoriser sets them, None takes these as probabilities (:func:`log_odds`). Else None
        takes the number of tokens, with a little more for what stands earlier: then the result
        is like that of ``spacy.util.filter_spans``, but never covers fewer tokens.
    nested, apart, once
        As for :class:`SpanProblem`; `once` has labels.
    budget
        Of the search where `once` has any.

    Returns
    -------
    The chosen spans in the order of the text, and the certificate.

    Examples
    --------
    >>> import spacy
    >>> doc = spacy.blank("en")("the New York Times building")
    >>> spans = [doc[1:3], doc[2:5], doc[3:4]]
    >>> best_spans(spans, [2.0, 2.5, 1.0])[0]
    [New York, Times]
    """
    group_scores = getattr(spans, "attrs", {}).get("scores")
    given: Sequence[Any] = list(spans)
    if scores is None and group_scores is not None:
        scores = log_odds(group_scores)
    elif scores is None:
        # fewer spans, and earlier ones, of those that cover as many tokens
        last = max((span.end for span in given), default=1)
        small = 1e-3 / (1.0 + len(given))
        scores = [span.end - span.start - small * (1.0 + span.start / last) for span in given]
    borders, labels = [(s.start, s.end) for s in given], [s.label_ for s in given]
    problem = SpanProblem(borders, scores, labels, nested, apart, once)  # type: ignore[arg-type]
    return _chosen(given, problem, budget)


def best_entities(
    entities: Iterable[Mapping[str, Any]],
    *,
    threshold: float = 0.5,
    nested: bool = False,
    apart: bool = False,
    once: Iterable[Hashable] = (),
    budget: Budget = UNLIMITED,
) -> tuple[list[Mapping[str, Any]], Certificate]:
    """Choose the best of scored entities, as GLiNER and pipelines of ``transformers`` give them.

    Parameters
    ----------
    entities
        Dicts with `start` and `end`, in characters, `label` (or `entity_group`) and `score`, a
        probability: from GLiNER all that it scored, overlaps included.
    threshold
        An entity that is less probable is not worth having.
    nested, apart, once
        As for :class:`SpanProblem`; `apart` counts characters.
    budget
        Of the search where `once` has any.

    Returns
    -------
    The chosen dicts in the order of the text, and the certificate.

    Examples
    --------
    >>> scored = [
    ...     {"start": 0, "end": 8, "label": "place", "score": 0.7},
    ...     {"start": 4, "end": 14, "label": "paper", "score": 0.8},
    ...     {"start": 9, "end": 14, "label": "paper", "score": 0.75},
    ... ]
    >>> [(entity["start"], entity["label"]) for entity in best_entities(scored)[0]]
    [(0, 'place'), (9, 'paper')]
    """
    given = list(entities)
    borders = [(e["start"], e["end"]) for e in given]
    labels = [e["label"] if "label" in e else e["entity_group"] for e in given]
    scores = log_odds([e["score"] for e in given], threshold)
    problem = SpanProblem(borders, scores, labels, nested, apart, once)  # type: ignore[arg-type]
    return _chosen(given, problem, budget)


def _chosen(
    given: Sequence[Any], problem: SpanProblem, budget: Budget
) -> tuple[list[Any], Certificate]:
    solution = BestSpans().decode(problem, budget=budget)
    return [given[number] for number in solution.chosen.tolist()], solution.certificate
