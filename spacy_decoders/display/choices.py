"""The decisions of a Doc's components and their alternatives: heads, tags, entities and links."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span
from spacy.training.iob_utils import iob_to_biluo, tags_to_entities
from spacy.util import filter_spans

__all__ = [
    "Alternative", "Choice", "head_choices", "link_choices", "mentions_in", "ranked_choices",
    "tag_choices",
]  # fmt: skip


class Alternative(NamedTuple):
    """Another value of a choice, and how much lower the best answer with it scores."""

    value: str
    loss: float


class Choice(NamedTuple):
    """A decision and its alternatives, the one of least loss first.

    `margin` is the least loss of any other value, where it is known exactly.
    """

    place: str
    chosen: str
    options: tuple[Alternative, ...]
    margin: float | None = None


def ranked_choices(
    scores: Sequence[float],
    answers: Sequence[Mapping[Any, str]],
    name: Callable[[Any], str],
    absent: str = "",
) -> list[Choice]:
    """Return a choice for each place where ranked answers, the best first, differ.

    Each answer maps places to values; `name` names a place, and `absent` is the value of one that
    an answer lacks.

    Examples
    --------
    >>> found = ranked_choices([2.0, 1.5], [{0: "DT", 1: "NN"}, {0: "DT", 1: "VB"}], str)
    >>> [(choice.chosen, choice.options) for choice in found]
    [('NN', (Alternative(value='VB', loss=0.5),))]
    """
    choices = []
    for place in sorted({place for answer in answers for place in answer}):
        first: dict[str, Alternative] = {}
        for score, answer in zip(scores, answers, strict=True):
            value = answer.get(place, absent)
            first.setdefault(value, Alternative(value, max(scores[0] - score, 0.0)))
        chosen, *others = first.values()
        if others:
            choices.append(Choice(name(place), chosen.value, tuple(others)))
    return choices


def head_choices(doc: Doc, span: Span) -> list[Choice]:
    """The choices among the heads of a sentence's k best trees, of which it has the best."""
    parses = _parses_of(doc, span)
    if not parses:
        return []
    names = _names_of([(token, doc[token].text) for token in parses[0]["tokens"]])
    answers = [
        {
            token: f"{'root of the sentence' if head == token else names[head]} · {label}"
            for token, head, label in zip(p["tokens"], p["heads"], p["deps"], strict=True)
        }
        for p in parses
    ]
    return ranked_choices([p["score"] for p in parses], answers, names.__getitem__)


def _parses_of(doc: Doc, span: Span) -> list[Mapping[str, Any]]:
    for parses in doc._.parses:
        tokens = parses[0]["tokens"] if parses else [len(doc)]
        if span.start <= tokens[0] < span.end and tokens[-1] < len(doc):
            heads = [doc[token].head.i for token in tokens]
            if heads == list(parses[0]["heads"]):
                return list(parses)
    return []


def tag_choices(doc: Doc, span: Span) -> Iterator[tuple[str, list[Choice]]]:
    """A heading and the choices of each tagger, for its units that begin in the sentence."""
    taggings = [t for t in doc._.taggings if span.start <= t["start"] < span.end]
    if taggings and doc._.taggings[-1]["end"] > len(doc):
        return  # tokens were merged since
    units = groupby(taggings, key=lambda t: (t["component"], t["start"], t["end"]))
    for (component, start, end), group in units:
        ranked = list(group)
        scores = [t["score"] for t in ranked]
        answers: list[dict[Any, str]]
        if all(label == "O" or label[1:2] == "-" for label in ranked[0]["labels"]):
            answers = [
                {
                    (start + first, start + last + 1): label
                    for label, first, last in tags_to_entities(iob_to_biluo(t["labels"]))
                }
                for t in ranked
            ]
            spans = sorted({span for answer in answers for span in answer})
            names = _names_of([(span, doc[span[0] : span[1]].text) for span in spans])
            heading, absent = "Entities", "no entity"
        else:
            answers = [dict(enumerate(t["labels"], start)) for t in ranked]
            names = _names_of([(i, doc[i].text) for i in range(start, end)])
            heading, absent = "Tags", ""
        yield (
            f"{heading} ({component})",
            ranked_choices(scores, answers, names.__getitem__, absent),
        )


def mentions_in(doc: Doc) -> list[Span]:
    """The entities and, where these leave room, the spans of any group that a linker has seen."""
    aside = [span for group in doc.spans.values() for span in group if span._.link]
    return sorted(filter_spans([*doc.ents, *aside]), key=lambda span: span.start)


def link_choices(doc: Doc) -> list[Choice]:
    """The candidates of each mention, each with its loss while all other links stay."""
    mentions = [ent for ent in mentions_in(doc) if len(ent._.link.get("candidates", ())) > 1]
    names = _names_of([(ent.start, ent.text) for ent in mentions])
    choices = []
    for ent in mentions:
        link = ent._.link
        chosen, *others = link["candidates"]
        if not link["id"]:
            others = [chosen, *others]
        options = tuple(
            Alternative(other["title"] or other["id"], _log_odds(chosen["score"], other["score"]))
            for other in others
        )
        title = link["title"] or link["id"] or "no concept"
        margin = link["margin"] if link.get("exact_margin") else None
        choices.append(Choice(names[ent.start], title, options, margin))
    return choices


def _log_odds(chosen: float, other: float) -> float:
    """The loss of choosing another candidate, by the probabilities of the two.

    Negative if a heuristic chose a worse one; a probability of 0 counts as the least positive one.
    """
    smallest = math.ulp(0.0)
    return math.log(max(chosen, smallest)) - math.log(max(other, smallest))


def _names_of(places: Sequence[tuple[Any, str]]) -> dict[Any, str]:
    """Name places by their texts, which are numbered where they repeat."""
    totals, seen, names = Counter(text for _, text in places), Counter[str](), {}
    for place, text in places:
        seen[text] += 1
        names[place] = text if totals[text] == 1 else f"{text} ({seen[text]})"
    return names
