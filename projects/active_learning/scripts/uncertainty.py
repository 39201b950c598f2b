"""How unsure a pipeline is of a text: by this, texts are ranked for annotation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_decoders import ProblemError

__all__ = ["Measure", "prepared", "uncertainty"]

#: What uncertainty is measured by; see :func:`uncertainty`.
Measure = Literal["errors", "share", "sentence", "margin", "disagreement"]

#: Labellings and trees that are compared for disagreement.
K_BEST = 5
#: Of the probabilities of a component, the lists of one number a token, the first that it has.
_OF_TOKENS = ("tokens", "deps")


def prepared(nlp: Language, by: Measure, components: Sequence[str] = ()) -> list[str]:
    """Make the components of a pipeline keep what a measure needs, and return their names.

    Parameters
    ----------
    nlp
        The pipeline; options of its components are changed.
    by
        The measure.
    components
        The names of those to ask; by default all that have probabilities.

    Raises
    ------
    ProblemError
        If a name or the measure is unknown, or no component has probabilities.
    """
    if by not in get_args(Measure):
        raise ProblemError(f"by: expected one of {', '.join(get_args(Measure))}; got {by!r}.")
    able = [name for name, pipe in nlp.pipeline if hasattr(pipe, "probabilities")]
    unknown = [name for name in components if name not in able]
    if unknown or not able:
        raise ProblemError(
            f"components: {', '.join(unknown) or 'the pipeline'} has no probabilities; those of "
            f"this pipeline that have some: {', '.join(able) or 'none'}."
        )
    needed: dict[str, Any] = {"probabilities": True}
    if by == "margin":
        needed |= {"margins": True, "head_margins": True}
    if by == "disagreement":
        needed |= {"k_best": K_BEST}
    chosen = list(components) or able
    for name in chosen:
        pipe = nlp.get_pipe(name)
        for option, value in needed.items():
            if hasattr(pipe, option):
                setattr(pipe, option, value)
    return chosen


def uncertainty(text: Doc | Span, components: Sequence[str], by: Measure = "errors") -> float:
    """Return how unsure components are of an annotated document or sentence; more is less sure.

    Parameters
    ----------
    text
        The document, or one sentence of it.
    components
        The names of those that count.
    by
        - "errors": the expected number of tokens that are labelled wrong (of the parser, that
          have a wrong head or label), and of links that are wrong.
        - "share": the same for each token.
        - "sentence": 1 minus the product of the probabilities of all sentences.
        - "margin": minus the smallest margin of a token.
        - "disagreement": the share of tokens on which the k best labellings or trees differ from
          the best.
    """
    span = text[:] if isinstance(text, Doc) else text
    doc = span.doc
    if by in ("errors", "share"):
        total = math.fsum(
            _expected_errors(span, doc._.probabilities.get(c, {})) for c in components
        )
        total += math.fsum(1.0 - _link_prob(ent) for ent in span.ents)
        return total / max(1, len(span)) if by == "share" else total
    if by == "sentence":
        chances = [
            chance
            for name in components
            for chance in _units(span, doc._.probabilities.get(name, {}))
        ]
        return 1.0 - math.prod(chances)
    if by == "margin":
        margins = [
            margin
            for name in components
            for margin in doc._.margins.get(name, [])[span.start : span.end]
            if margin is not None
        ]
        return -min(margins, default=math.inf)
    return _disagreement(span, components)


def _expected_errors(span: Span, found: Mapping[str, Any]) -> float:
    key = next((key for key in _OF_TOKENS if key in found), None)
    values = found[key][span.start : span.end] if key else ()
    return math.fsum(1.0 - value for value in values if value is not None)


def _link_prob(entity: Span) -> float:
    """The probability of an entity's link; 1 if it has none."""
    link: Mapping[str, Any] = entity._.link
    prob = link.get("prob")
    return 1.0 if prob is None else float(prob)


def _units(span: Span, found: Mapping[str, Any]) -> Sequence[float]:
    """The probabilities of the sentences of a span, or that of the document that it is part of."""
    units: Sequence[float] = found.get("units", ())
    if not span.doc.has_annotation("SENT_START"):
        return units
    sentences = list(span.doc.sents)
    if len(sentences) != len(units):  # white space alone is no sentence to parse
        sentences = [sentence for sentence in sentences if not sentence.text.isspace()]
    if len(sentences) != len(units):
        return units
    return [
        unit
        for sentence, unit in zip(sentences, units, strict=True)
        if span.start <= sentence.start < span.end
    ]


def _disagreement(span: Span, components: Sequence[str]) -> float:
    """The mean, over alternatives and tokens, of what differs from the best."""
    doc = span.doc
    groups: dict[tuple[str, int], list[Sequence[Any]]] = {}
    for entry in doc._.taggings:
        if entry["component"] in components and span.start <= entry["start"] < span.end:
            key = (entry["component"], entry["start"])
            groups.setdefault(key, []).append(entry["labels"])
    for parses in doc._.parses:
        for entry in parses:
            first = min(entry["tokens"], default=-1)
            if entry["component"] in components and span.start <= first < span.end:
                answer = list(zip(entry["heads"], entry["deps"], strict=True))
                groups.setdefault((entry["component"], first), []).append(answer)
    differences = [
        sum(one != best for one, best in zip(other, answers[0], strict=True)) / (len(answers) - 1)
        for answers in groups.values()
        for other in answers[1:]
    ]
    return math.fsum(differences) / max(1, len(span))
