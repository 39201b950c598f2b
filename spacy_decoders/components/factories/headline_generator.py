"""The factory of ``headline_generator``: what spaCy imports whenever it looks for a component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc

from ... import registry  # noqa: F401 - creates `@decoders`
from .. import extensions

__all__ = ["DEFAULT_CONFIG", "make_headline_generator"]

extensions.install()

DEFAULT_CONFIG = {
    "mode": "words",
    "length": "auto",
    "max_chars": None,
    "n_best": 1,
    "spans_key": None,
    "ordering": 0.1,
    "contiguity": 1.0,
    "ends": 0.0,
    "auxiliaries": None,
    "max_vertices": 1000,
    "iterations": 200,
    "seconds": None,
    "model": {"@architectures": "spacy-decoders.WordSelection.v1"},
    "decoder": {"@decoders": "spacy-decoders.ExactPath.v1"},
    "scorer": {"@scorers": "spacy-decoders.headline_scorer.v1"},
}


@Language.factory(
    "headline_generator",
    assigns=["doc._.headline", "doc._.headlines", "doc._.certificates"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "headline_rougeL": 1.0,
        "headline_rouge1": None,
        "headline_rouge2": None,
        "certified": None,
        "certified_pruned": None,
    },
)
def make_headline_generator(
    nlp: Language,
    name: str,
    model: Any,
    decoder: Any,
    mode: Literal["words", "extractive"],
    length: int | Literal["auto"] | list[int],
    max_chars: int | None,
    n_best: int,
    spans_key: str | None,
    ordering: float,
    contiguity: float,
    ends: float,
    auxiliaries: list[str] | None,
    max_vertices: int,
    iterations: int | None,
    seconds: float | None,
    scorer: Callable[..., dict[str, Any]] | None,
) -> Callable[[Doc], Doc]:
    """Make a headline generator.

    Parameters
    ----------
    nlp
        The pipeline.
    name
        The component's name.
    model
        Selects words: ``spacy-decoders.WordSelection.v1``.
    decoder
        Any path decoder of ``@decoders``.
    mode
        "words" selects and orders words; "extractive" whole sentences.
    length
        Content words (or sentences), "auto", or ``[least, most]``.
    max_chars
        The most characters, or null.
    n_best
        How many headlines go to ``doc._.headlines``.
    spans_key
        Write a headline for each span of ``doc.spans[spans_key]``, such as sections,
        instead of one for the document.
    ordering
        Weight of the language model against the selection of words.
    contiguity
        Worth of a step that the text itself makes.
    ends
        Weight of the language model for the first and the last word.
    auxiliaries
        Words that may stand between content words; null for those counted in training, or
        the language's prepositions and articles.
    max_vertices
        Longer texts keep this many words: first those that safe bounds exclude go, then
        the least likely, and the certificate's scope says "pruned".
    iterations
        The decoder's iterations for each decoding, or null for no limit: work, not time, so
        that the same text gets the same headline on a busy machine.
    seconds
        A ceiling on the time for each decoding, or null.
    scorer
        The scoring method.
    """
    from ..headline.generator import HeadlineGenerator

    return HeadlineGenerator(
        nlp.vocab,
        model,
        name,
        decoder=decoder,
        language=nlp.lang or "xx",
        mode=mode,
        length=length,
        max_chars=max_chars,
        n_best=n_best,
        spans_key=spans_key,
        ordering=ordering,
        contiguity=contiguity,
        ends=ends,
        auxiliaries=auxiliaries,
        max_vertices=max_vertices,
        iterations=iterations,
        seconds=seconds,
        scorer=scorer,
    )
