"""The choices that the components of a Doc had: heads, tags, entities and links."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from .ranking import Alternative, Change, Choice, Ranking, Reading

__all__ = [
    "difference", "head_in_words", "head_ranking", "link_ranking", "mentions_in", "named_spans",
    "names_of", "parses_of", "tag_rankings",
]  # fmt: skip


def parses_of(doc: Doc, span: Span) -> list[Mapping[str, Any]]:
    """The k best trees of a sentence, by the parser whose best it has; none if it has another."""
    for parses in doc._.parses:
        if parses and span.start <= parses[0]["tokens"][0] < span.end:
            heads = [doc[token].head.i for token in parses[0]["tokens"]]
            if heads == list(parses[0]["heads"]):
                return list(parses)
    return []


def _arcs(parse: Mapping[str, Any]) -> dict[int, tuple[int, str]]:
    heads = zip(parse["heads"], parse["deps"], strict=True)
    return dict(zip(parse["tokens"], heads, strict=True))


def head_ranking(doc: Doc, parses: Sequence[Mapping[str, Any]]) -> Ranking | None:
    """The heads of a sentence's k best trees."""
    if not parses:
        return None
    names = names_of([(token, doc[token].text) for token in parses[0]["tokens"]])
    answers = [
        {token: head_in_words(names, token, *arc) for token, arc in _arcs(p).items()}
        for p in parses
    ]
    return Ranking.of([p["score"] for p in parses], answers, names.__getitem__)


def head_in_words(names: Mapping[int, str], token: int, head: int, label: str) -> str:
    """Say what a token's head is, and its label."""
    return f"{'root of the sentence' if head == token else names[head]} · {label}"


def difference(
    span: Span, parses: Sequence[Mapping[str, Any]], number: int
) -> dict[int, tuple[int, str]]:
    """The arcs of another tree that the best one has not, by places in the drawing."""
    at = {t.i: place for place, t in enumerate(t for t in span if not t.is_space)}
    best, other = _arcs(parses[0]), _arcs(parses[number])
    return {
        at[token]: (at[head], label)
        for token, (head, label) in other.items()
        if best[token] != (head, label)
    }


def tag_rankings(doc: Doc, span: Span) -> Iterator[tuple[str, Ranking]]:
    """Each tagger's choices in its units that begin in the sentence."""
    taggings = [t for t in doc._.taggings if span.start <= t["start"] < span.end]
    units = groupby(taggings, key=lambda t: (t["component"], t["start"], t["end"]))
    for (component, start, end), group in units:
        ranked = list(group)
        labels = [t["labels"] for t in ranked]
        scores = [t["score"] for t in ranked]
        if all(label == "O" or label[1:2] == "-" for label in labels[0]):
            found = _entity_ranking(doc, start, scores, labels)
            heading = "Entities"
        else:
            names = names_of([(i, doc[i].text) for i in range(start, end)])
            answers = [dict(enumerate(sequence, start)) for sequence in labels]
            found = Ranking.of(scores, answers, names.__getitem__)
            heading = "Tags"
        if found is not None:
            yield f"{heading} ({component})", found


def _entity_ranking(
    doc: Doc, start: int, scores: Sequence[float], labels: Sequence[Sequence[str]]
) -> Ranking | None:
    answers = [dict(named_spans(sequence, start)) for sequence in labels]
    spans = sorted({span for answer in answers for span in answer})
    names = names_of([(span, doc[span[0] : span[1]].text) for span in spans])
    return Ranking.of(scores, answers, names.__getitem__, absent="no entity")


def named_spans(labels: Sequence[str], start: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Where the entities of B-, I- and O labels begin and end, and what they are."""
    begin = None
    for place, label in enumerate([*labels, "O"]):
        if begin is not None and label != f"I-{labels[begin][2:]}":
            yield (start + begin, start + place), labels[begin][2:]
            begin = None
        if begin is None and label != "O":
            begin = place


def mentions_in(doc: Doc) -> list[Span]:
    """Entities and, between them, the concepts that the linker puts aside."""
    aside = [span for span in doc.spans.get("concepts", ()) if span._.link]
    return sorted(filter_spans([*doc.ents, *aside]), key=lambda span: span.start)


def link_ranking(doc: Doc) -> Ranking | None:
    """The candidates of each mention; what one costs while all other links stay."""
    mentions = [ent for ent in mentions_in(doc) if len(ent._.link.get("candidates", ())) > 1]
    names = names_of([(ent.start, ent.text) for ent in mentions])
    choices: list[Choice] = []
    readings: list[Reading] = []
    for ent in mentions:
        chosen, *others = ent._.link["candidates"]
        title = ent._.link["title"] or ent._.link["id"] or "no concept"
        if not ent._.link["id"]:
            others = [chosen, *others]
        margin = ent._.link["margin"] if ent._.link.get("exact_margin") else None
        options = []
        for other in others:
            name = other["title"] or other["id"]
            loss = _log_odds(chosen["score"], other["score"])
            change = Change(names[ent.start], name, title)
            readings.append(Reading(len(readings) + 1, loss, (change,)))
            options.append(Alternative(name, loss, len(readings)))
        choices.append(Choice(names[ent.start], title, tuple(options), margin))
    if not choices:
        return None
    return Ranking(tuple(choices), tuple(readings), 0, 0.0)


def _log_odds(chosen: float, other: float) -> float:
    """What it costs to choose a candidate of one probability instead of another.

    Below 0 where a heuristic chose; a probability too small for a float counts as the smallest.
    """
    smallest = math.ulp(0.0)
    return math.log(max(chosen, smallest)) - math.log(max(other, smallest))


def names_of(places: Sequence[tuple[Any, str]]) -> dict[Any, str]:
    """Names of places by their texts; a text that occurs again is counted."""
    totals, seen, names = Counter(text for _, text in places), Counter[str](), {}
    for place, text in places:
        seen[text] += 1
        names[place] = text if totals[text] == 1 else f"{text} ({seen[text]})"
    return names
