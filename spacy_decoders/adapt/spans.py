"""The best set of scored spans without overlap, in place of ``filter_spans``.

Weighted interval scheduling (Kleinberg, Tardos 2006, *Algorithm Design*, section 6.1), with a
bound that is computed apart.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from spacy.tokens import Doc, SpanGroup

from ..arrays import Floats, Integers, checked_indices, checked_list, checked_scores
from ..certificate import Certificate, tolerance_of
from ..components import extensions
from ..components.option_checks import check_of
from ..errors import ProblemError
from ..models import calibration
from .adapted_pipe import AdaptedPipe
from .factories import BestSpansOptions

__all__ = ["BestSpansPipe", "best_entities", "best_spans", "log_odds", "select"]

THRESHOLD = check_of(Annotated[float, Field(gt=0.0, lt=1.0)])


def select(borders: ArrayLike, scores: ArrayLike) -> tuple[list[int], Certificate]:
    """Choose spans that do not overlap and whose scores have the largest sum.

    Parameters
    ----------
    borders
        **Shape (s, 2)**: the first token of each span, and the token after its last.
    scores
        **Shape (s,)**: only spans with positive scores are chosen.

    Returns
    -------
    The numbers of the chosen spans in the order of the text, and the certificate.

    Raises
    ------
    ProblemError
        If a shape does not fit, a span has no token, or a score is NaN or ``+inf``.

    Examples
    --------
    >>> chosen, certificate = select([(0, 2), (1, 3), (2, 4)], [1.0, 1.5, 1.0])
    >>> chosen, certificate.status
    ([0, 2], 'optimal')
    """
    given = borders if np.size(borders) else np.zeros((0, 2), dtype=np.int64)
    spans = checked_indices("spans", given, (None, 2), low=0, dtype=np.int64)
    worth = checked_scores("scores", scores, (len(spans),), dtype=np.float64)
    empty = np.flatnonzero(spans[:, 0] >= spans[:, 1])
    if empty.size:
        begin, end = spans[empty[0]].tolist()
        raise ProblemError(
            f"spans: span {int(empty[0])} from token {begin} to {end} has no token; the second "
            "number is the token after the last."
        )
    useful = np.flatnonzero(worth > 0.0)
    chosen = useful[_scheduled(spans[useful], worth[useful])].tolist()
    score = math.fsum(worth[chosen])
    certificate = Certificate.from_bound(
        "best_spans",
        score,
        _bound(spans[useful], worth[useful]),
        tolerance=tolerance_of(score),
        scale=score,
        iterations=1,
    )
    return chosen, certificate


def _scheduled(borders: Integers, scores: Floats) -> list[int]:
    """Find a best set: in order of ends, each span may extend the best set that ends before it."""
    order = np.lexsort(borders.T)
    begins, ends = borders[order].T
    before = np.searchsorted(ends, begins, side="right").tolist()
    best = [0.0]  # the best score among the first i spans
    for joined, score in zip(before, scores[order].tolist(), strict=True):
        best.append(max(best[-1], best[joined] + score))
    chosen, place = [], len(order)
    while place:
        place -= 1
        if best[place + 1] > best[place]:
            chosen.append(int(order[place]))
            place = before[place]
    return chosen[::-1]


def _bound(borders: Integers, scores: Floats) -> float:
    """Bound the score of spans without overlap, by potentials.

    In order of first tokens, let ``next[i]`` be the first span that begins where i has ended. For
    any potentials G of 0..s, the score of spans without overlap is at most::

        G[0] - G[s] + sum(max(0, G[i + 1] - G[i])) + sum(max(0, scores[i] + G[next[i]] - G[i]))

    since the terms of the chosen spans telescope. The bound thus holds for any potentials; with
    the best score from each span on, computed from right to left, all but the first term vanish.
    This is the dual of the linear program over spans, whose interval matrix is totally unimodular.
    """
    order = np.argsort(borders[:, 0])
    (begins, ends), worth = borders[order].T, scores[order]
    following = np.searchsorted(begins, ends)
    values = [0.0] * (len(worth) + 1)
    backwards = zip(following[::-1].tolist(), worth[::-1].tolist(), strict=True)
    for place, (joined, score) in zip(range(len(worth) - 1, -1, -1), backwards, strict=True):
        values[place] = max(values[place + 1], values[joined] + score)
    potentials = np.array(values)
    rises = np.maximum(0.0, np.diff(potentials)).sum()
    excess = np.maximum(0.0, worth + potentials[following] - potentials[:-1]).sum()
    return float(potentials[0] - potentials[-1] + rises + excess)


def log_odds(probabilities: ArrayLike, threshold: float = 0.5) -> Floats:
    """Return the log-odds of probabilities, less those of a threshold.

    With a `threshold` of 0.5, the set with the largest sum is the most probable one if spans are
    independent. Spans below the threshold have negative scores.

    Parameters
    ----------
    probabilities
        **Shape (s,)**, from 0 to 1.
    threshold
        The probability that scores 0, between 0 and 1.

    Raises
    ------
    ProblemError
        If a probability is out of range.

    Examples
    --------
    >>> log_odds([0.5, 0.9, 0.1]).round(3).tolist()
    [0.0, 2.197, -2.197]
    """
    given = checked_scores("probabilities", probabilities, (None,), dtype=np.float64)
    THRESHOLD("threshold", threshold)
    outside = np.flatnonzero(~((given >= 0.0) & (given <= 1.0)))
    if outside.size:
        raise ProblemError(
            f"probabilities: expected numbers from 0 to 1, got {given[outside[0]]} at index "
            f"{int(outside[0])}; use scores that are no probabilities without log_odds."
        )
    return calibration.log_odds(given) - calibration.log_odds(threshold)


def best_spans(
    spans: Iterable[Any], scores: ArrayLike | None = None
) -> tuple[list[Any], Certificate]:
    """Choose the best spans that do not overlap.

    Parameters
    ----------
    spans
        spaCy ``Span`` objects, or anything with `start` and `end`.
    scores
        The score of each span. By default, ``attrs["scores"]`` of a ``SpanGroup``, which the span
        categoriser sets, are taken as probabilities (:func:`log_odds`); otherwise the score is the
        number of tokens, and a little more for earlier spans: then the result is like that of
        ``spacy.util.filter_spans``, but never covers fewer tokens.

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
    given = checked_list("spans", spans, "objects with `start` and `end`")
    for span in given:
        if not (hasattr(span, "start") and hasattr(span, "end")):
            raise ProblemError(f"spans: expected objects with `start` and `end`; got {span!r}.")
    if scores is None and group_scores is not None:
        scores = log_odds(group_scores)
    elif scores is None:
        # of sets that cover as many tokens, prefer fewer and earlier spans
        last = max((span.end for span in given), default=1)
        small = 1e-3 / (1.0 + len(given))
        scores = [span.end - span.start - small * (1.0 + span.start / last) for span in given]
    chosen, certificate = select([(span.start, span.end) for span in given], scores)
    return [given[number] for number in chosen], certificate


def best_entities(
    entities: Iterable[Mapping[str, Any]], *, threshold: float = 0.5
) -> tuple[list[Mapping[str, Any]], Certificate]:
    """Choose the best of scored entities, as GLiNER and ``transformers`` pipelines return them.

    Parameters
    ----------
    entities
        Dicts with `start` and `end`, in characters, and `score`, a probability; of GLiNER's, all
        that it scored, overlaps included.
    threshold
        The probability above which an entity is worth choosing.

    Returns
    -------
    The chosen dicts in the order of the text, and the certificate.

    Raises
    ------
    ProblemError
        If an entity lacks one of the three, or a number is out of range.

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
    given = checked_list("entities", entities, "dicts with `start`, `end` and `score`")
    for place, entity in enumerate(given):
        lacking = {"start", "end", "score"}.difference(
            entity if isinstance(entity, Mapping) else ()
        )
        if lacking:
            raise ProblemError(
                f"entities[{place}]: has no {', '.join(sorted(lacking))}; each needs all three."
            )
    scores = log_odds([entity["score"] for entity in given], threshold)
    chosen, certificate = select([(entity["start"], entity["end"]) for entity in given], scores)
    return [given[number] for number in chosen], certificate


class BestSpansPipe(BestSpansOptions, AdaptedPipe):
    """Chooses among the spans that a span categoriser scored.

    The options are those of :class:`~..factories.BestSpansOptions`. The probability of a chosen
    span is in ``span._.prob``, the certificate in ``doc._.certificates[name]``. A span that begins
    or ends with white space is never chosen.

    Examples
    --------
    >>> import spacy
    >>> from spacy.tokens import Span, SpanGroup
    >>> nlp = spacy.blank("en")
    >>> chooser = nlp.add_pipe("best_spans")
    >>> doc = nlp.make_doc("New York Times building")
    >>> spans = [Span(doc, 0, 2, "GPE"), Span(doc, 0, 3, "ORG"), Span(doc, 3, 4, "FAC")]
    >>> doc.spans["sc"] = SpanGroup(doc, spans=spans, attrs={"scores": [0.7, 0.9, 0.6]})
    >>> [(ent.text, ent.label_) for ent in chooser(doc).ents]
    [('New York Times', 'ORG'), ('building', 'FAC')]
    """

    def __call__(self, doc: Doc) -> Doc:
        """Choose the spans of one document; one without scored spans stays as it is."""
        if self.spans_key not in doc.spans:
            return doc
        group = doc.spans[self.spans_key]
        likely = group.attrs.get("scores", None if len(group) else [])
        if likely is None:
            raise ProblemError(
                f"{self.name}: doc.spans[{self.spans_key!r}] has no attrs['scores'], the "
                "probabilities of its spans."
            )
        spans = list(group)
        at_space = [span.text != span.text.strip() for span in spans]
        scores = checked_scores(
            "scores", log_odds(likely, self.threshold), (len(spans),), dtype=np.float64
        )
        numbers, certificate = select(
            [(span.start, span.end) for span in spans], np.where(at_space, -np.inf, scores)
        )
        chosen = [spans[number] for number in numbers]
        if self.output_key is None:
            doc.ents = chosen
        else:
            attrs = {"scores": np.asarray(likely)[numbers]}
            doc.spans[self.output_key] = SpanGroup(doc, spans=chosen, attrs=attrs)
        for number in numbers:
            spans[number]._.prob = float(likely[number])
        extensions.record_certificates(doc, self.name, [certificate])
        return doc
