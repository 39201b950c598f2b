"""How unsure a pipeline is of a text: by this, texts are ranked for annotation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_decoders import ProblemError

__all__ = ["Measure", "prepared", "uncertainty"]

#: What uncertainty is measured by; see :func:`uncertainty`.
Measure = Literal["share", "errors"]


def prepared(nlp: Language, components: Sequence[str] = ()) -> list[str]:
    """Make components of a pipeline keep their probabilities, and return their names.

    Parameters
    ----------
    nlp
        The pipeline; options of its components are changed.
    components
        The names of those to ask; by default all that have probabilities.

    Raises
    ------
    ProblemError
        If a name is unknown, or no component has probabilities.
    """
    able = [name for name, pipe in nlp.pipeline if hasattr(pipe, "probabilities")]
    unknown = [name for name in components if name not in able]
    if unknown or not able:
        raise ProblemError(
            f"components: {', '.join(unknown) or 'the pipeline'} has no probabilities; those of "
            f"this pipeline that have some: {', '.join(able) or 'none'}."
        )
    chosen = list(components) or able
    for name in chosen:
        nlp.get_pipe(name).probabilities = True
    return chosen


def uncertainty(text: Doc | Span, components: Sequence[str], by: Measure = "share") -> float:
    """Return how unsure components are of an annotated document or sentence; more is less sure.

    Parameters
    ----------
    text
        The document, or one sentence of it.
    components
        The names of those that count.
    by
        "errors": the expected number of tokens that are labelled wrong (of the parser, that have
        a wrong head or label), and of links that are wrong; "share": the same for each token.
    """
    if by not in get_args(Measure):
        raise ProblemError(f"by: expected one of {', '.join(get_args(Measure))}; got {by!r}.")
    span = text[:] if isinstance(text, Doc) else text
    links = [entity._.link.get("prob") for entity in span.ents]
    doubts = [1.0 - prob for prob in links if prob is not None]
    for name in components:
        found = span.doc._.probabilities.get(name, {})
        of_tokens = found.get("tokens", found.get("deps", ()))[span.start : span.end]
        doubts += [1.0 - chance for chance in of_tokens if chance is not None]
    return math.fsum(doubts) / (max(1, len(span)) if by == "share" else 1)
