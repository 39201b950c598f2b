"""The factory of ``headline_generator``, which spaCy imports when it looks for components."""

from typing import Any, Literal

from ...decoders.protocols import PathDecoding
from ...errors import ProblemError
from ..option_checks import alternatives, decoder_of, number, strings, whole
from ..options import WithOptions, option
from .factory import register_factory

__all__ = ["HeadlineOptions", "Length", "make_headline_generator"]

#: A number of content words, "auto", or the least and the most.
Length = int | Literal["auto"] | list[int]


def _checked_length(name: str, value: Any) -> int | Literal["auto"] | tuple[int, ...]:
    """A number of words, "auto", or the least and the most."""
    if value == "auto":
        return "auto"
    ends = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if len(ends) not in (1, 2) or not all(type(end) is int for end in ends):
        raise ProblemError(f"{name}: expected a number, 'auto' or [least, most]; got {value!r}.")
    if not 1 <= ends[0] <= ends[-1]:
        raise ProblemError(f"{name}: expected 1 <= least <= most; got {value!r}.")
    return ends if isinstance(value, (list, tuple)) else ends[0]


def _single_words(name: str, value: Any) -> tuple[str, ...]:
    """Single words."""
    words: tuple[str, ...] = strings(name, value)
    for word in words:
        if len(word.split()) != 1:
            raise ProblemError(
                f"{name}: expected single words, such as 'of'; got {word!r}. Give its words one "
                "by one."
            )
    return words


class HeadlineOptions(WithOptions):
    """The options of ``headline_generator``.

    Attributes
    ----------
    mode
        "best" takes the more probable of the best phrase and, in a parsed text, the best
        shortened sentence; "phrases" and "sentence" force one of them. "words" selects and orders
        single words by a path decoder, as the paper does.
    min_prob
        Below this probability of being good, ``doc._.headline`` is empty; ``doc._.headlines``
        keeps what was found. Mode "words" gives no probability.
    length
        Content words (all words of sentences), or ``[least, most]``. "auto" takes the best
        headline of any length; among single words, which score more the more they are, that with
        the best mean score per step. A text without a headline as long gets the longest possible.
    max_chars
        The most characters, or null: the best headline that fits, shorter if need be.
    n_best
        The number of headlines in ``doc._.headlines``.
    spans_key
        Write a headline for each span of ``doc.spans[spans_key]``, such as sections,
        instead of one for the document.
    required
        Words that the headline must have, in whatever case, or null; mode "sentence" only.
    ordering
        Weight of the language model against the selection of single words.
    contiguity
        Score of a step between single words that occurs in the text.
    ends
        Weight of the language model for the first and the last of single words.
    auxiliaries
        Words that may stand between single words; null for those counted in training,
        or the language's prepositions and articles.
    max_vertices
        Longer texts keep this many words: first those excluded by safe bounds are removed, then
        the least likely, in which case the certificate's scope is "pruned".
    iterations
        The decoder's iterations for each decoding, or null for no limit: work, not time, so that
        the same text gets the same headline on a busy machine. The default takes the exact decoder
        1 or 2 s on the hardest texts.
    seconds
        A limit on the time for each decoding, or null; headlines then depend on the load of the
        machine.
    decoder
        Any path decoder of ``@decoders``.
    """

    mode: Literal["best", "phrases", "sentence", "words"] = option("best")
    min_prob: float = option(0.0, number(least=0, most=1))
    length: Length = option("auto", _checked_length)
    max_chars: int | None = option(None, whole(1))
    n_best: int = option(1, alternatives)
    spans_key: str | None = option(None)
    required: list[str] | None = option(None, _single_words)
    ordering: float = option(0.1, number(least=0))
    contiguity: float = option(1.0, number())
    ends: float = option(0.0, number(least=0))
    auxiliaries: list[str] | None = option(None, _single_words)
    max_vertices: int = option(1000, whole(2))
    iterations: int | None = option(200, whole(1))
    seconds: float | None = option(None, number(above=0))
    decoder: PathDecoding = option(
        {"@decoders": "spacy-decoders.ExactPath.v1"}, decoder_of("path"), saved=False
    )


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
