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
    """The options of ``headline_generator``."""

    mode: Literal["best", "phrases", "sentence", "words"] = option("best")
    """"best" takes the more probable of the best phrase and, in a parsed text, the best
    shortened sentence; "phrases" and "sentence" force one of them. "words" selects and orders
    single words by a path decoder, as the paper does."""
    min_prob: Share = option(0.0)
    """Below this probability of being good, ``doc._.headline`` is empty; ``doc._.headlines``
    keeps what was found. Mode "words" gives no probability, and everything
    that it finds."""
    length: PositiveInt | Literal["auto"] | _Range = option("auto")
    """Content words (all words of sentences), or ``[least, most]``. "auto" takes the best
    headline of any length; among single words, which score more the more they are, that with
    the best mean score per step. A text without a headline as long gets the longest possible."""
    max_chars: PositiveInt | None = option(None)
    """The most characters, or null: the best headline that fits, shorter if need be."""
    n_best: Alternatives = option(1)
    """The number of headlines in ``doc._.headlines``, and of candidates: mode "best" takes so many
    of each kind and sorts them by ``prob``, so that more may bring another ``doc._.headline``;
    other modes sort them by ``score``."""
    spans_key: Annotated[str, Field(min_length=1)] | None = option(None)
    """Write a headline for each span of ``doc.spans[spans_key]``, such as sections,
    instead of one for the document."""
    required: _Words | None = option(None)
    """Words that the headline must have, in whatever case, or null; mode "sentence" only."""
    ordering: NonNegativeFloat = option(0.1)
    """Weight of the language model against the selection of single words."""
    contiguity: float = option(1.0)
    """Score of a step between single words that occurs in the text."""
    auxiliaries: _Words | None = option(None)
    """Words that may stand between single words; null for those counted in training,
    or the language's prepositions and articles."""
    iterations: PositiveInt | None = option(200)
    """The decoder's iterations for each decoding, or null for no limit: work, not time, so that
    the same text gets the same headline on a busy machine. The default takes the exact decoder
    1 or 2 s on the hardest texts."""
    seconds: PositiveFloat | None = option(None)
    """A limit on the time for each decoding, or null; headlines then depend on the load of the
    machine."""
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
