"""The factory of ``headline_generator``, which spaCy imports when it looks for components."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from ...decoders.protocols import PathDecoding
from ..option_checks import Alternatives, Share, decoder_of
from ..options import WithOptions, option
from .factory import register_factory

__all__ = ["HeadlineOptions", "make_headline_generator"]


def _ascending(ends: list[int]) -> list[int]:
    if ends[0] > ends[1]:
        raise ValueError("expected [least, most]")
    return ends


def _single(word: str) -> str:
    if len(word.split()) != 1:
        raise ValueError("expected a single word, such as 'of'; give its words one by one")
    if not any(map(str.isalnum, word)):
        raise ValueError(f"expected words with letters or digits; headlines have no {word!r}")
    return word


_Range = Annotated[
    list[PositiveInt], Field(min_length=2, max_length=2), AfterValidator(_ascending)
]
_Words = list[Annotated[str, AfterValidator(_single)]]


class HeadlineOptions(WithOptions):
    """The options of the generator; its page in ``docs/components`` says more of each."""

    mode: Literal["best", "phrases", "sentence", "words"] = option("best")
    """The kind of headline; "best" is the more probable of phrase and sentence."""
    min_prob: Share = option(0.0)
    """Below this probability of being good, ``doc._.headline`` is empty."""
    length: PositiveInt | Literal["auto"] | _Range = option("auto")
    """The number of content words (all words in sentences), or ``[least, most]``; "auto": any."""
    max_chars: PositiveInt | None = option(None)
    """The most characters; null for any."""
    n_best: Alternatives = option(1)
    """The number of headlines in ``doc._.headlines``, and of candidates of each kind."""
    spans_key: Annotated[str, Field(min_length=1)] | None = option(None)
    """Write a headline for each span of ``doc.spans[spans_key]``, such as sections."""
    required: _Words | None = option(None)
    """Words that the headline must have, whatever their case; mode "sentence" only."""
    ordering: NonNegativeFloat = option(0.1)
    """The weight of the language model relative to the selection of single words."""
    contiguity: float = option(1.0)
    """The score of a step between single words that are neighbours in the text."""
    auxiliaries: _Words | None = option(None)
    """Words that may stand between single words; null for those counted in training."""
    iterations: PositiveInt | None = option(200)
    """The most iterations of each decoding; null for no limit."""
    seconds: PositiveFloat | None = option(None)
    """The most seconds of each decoding; null for no limit."""
    decoder: PathDecoding = option(
        {"@decoders": "spacy-decoders.ExactPath.v1"}, decoder_of("path")
    )
    """Any path decoder of ``@decoders``."""


make_headline_generator = register_factory(
    "headline_generator",
    "components.headline.generator:HeadlineGenerator",
    HeadlineOptions,
    model={"@architectures": "spacy-decoders.PhraseSelection.v1"},
    scorer="spacy-decoders.headline_scorer.v1",
    assigns=["doc._.headline", "doc._.headlines", "doc._.certificates"],
    scores={
        "headline_rougeL": 1.0,
        "headline_rouge1": None,
        "headline_rouge2": None,
    },
)
