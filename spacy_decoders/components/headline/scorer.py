"""Scoring headlines by ROUGE against the titles that people gave."""

import string
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from spacy.tokens import Doc
from spacy.training import Example

from ..scoring import score_certified

__all__ = [
    "Rouge",
    "make_headline_scorer",
    "rouge",
    "rouge_of_words",
    "score_headlines",
    "title_words",
    "words_of",
]


class Rouge(NamedTuple):
    """F1 over words, over pairs of neighbours, and over the longest common subsequence."""

    rouge1: float
    rouge2: float
    rougeL: float


def rouge(reference: str, text: str) -> Rouge:
    """Score a text against a reference.

    Words are alphanumeric in any script, lower-cased and not stemmed. The scores equal those of
    the package `rouge-score` for such words.

    References
    ----------
    Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, sections 2 and 3.

    Examples
    --------
    >>> rouge("the cat sat", "The cat was there")
    Rouge(rouge1=0.5714285714285714, rouge2=0.4, rougeL=0.5714285714285714)
    """
    return rouge_of_words(words_of(reference), words_of(text))


def rouge_of_words(wanted: Sequence[Hashable], given: Sequence[Hashable]) -> Rouge:
    """Score a sequence of words, or of their keys, against a reference; see :func:`rouge`."""
    pairs = list(pairwise(wanted)), list(pairwise(given))
    return Rouge(
        _f1((Counter(wanted) & Counter(given)).total(), len(wanted), len(given)),
        _f1((Counter(pairs[0]) & Counter(pairs[1])).total(), len(pairs[0]), len(pairs[1])),
        _f1(_longest_common_subsequence(wanted, given), len(wanted), len(given)),
    )


def words_of(text: str) -> list[str]:
    """The lower-cased words of a text: runs of alphanumeric characters of any script."""
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def title_words(text: str, stop_words: Any) -> list[tuple[str, bool]]:
    """The lower-cased words of a title, and whether each is a content word."""
    return [
        (word, word.isalpha() and word not in stop_words and word not in string.ascii_lowercase)
        for word in words_of(text)
    ]


def _longest_common_subsequence(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    lengths = [0] * (len(other) + 1)
    for word in one:
        before = 0  # the length without this word and without the other's
        for place, another in enumerate(other, start=1):
            above = lengths[place]
            lengths[place] = before + 1 if word == another else max(above, lengths[place - 1])
            before = above
    return lengths[-1]


def _f1(shared: int, wanted: int, given: int) -> float:
    return 2 * shared / (wanted + given) if shared else 0.0


def score_headlines(
    examples: Iterable[Example], *, component: str = "headline_generator", **_: Any
) -> dict[str, Any]:
    """Return the mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L, and the share certified.

    Each generator of a pipeline is scored by its own headlines. Documents without a headline in
    the reference are not counted; if none has one, the scores are None.
    """
    examples = list(examples)
    results = [
        rouge(example.reference._.headline, _headline_of(example.predicted, component))
        for example in examples
        if example.reference._.headline
    ]
    scores: dict[str, Any] = {
        f"headline_{kind}": (
            sum(getattr(result, kind) for result in results) / len(results) if results else None
        )
        for kind in Rouge._fields
    }
    return {**scores, **score_certified(examples, component)}


def _headline_of(doc: Doc, component: str) -> str:
    """Return a component's best headline; without its certificates, that of the document."""
    if component not in doc._.certificates:
        return str(doc._.headline)
    own = (entry["text"] for entry in doc._.headlines if entry.get("component") == component)
    return next(own, "")


def make_headline_scorer() -> Callable[..., dict[str, Any]]:
    """Build ``spacy-decoders.headline_scorer.v1``."""
    return score_headlines
