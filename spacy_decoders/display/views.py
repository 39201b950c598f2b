"""What the page shows of a Doc."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..components.linker.mentions import MATCH_LABEL
from .arcs import OtherArcs, TreeDrawing, Word
from .ranking import Alternative, Change, Choice, Ranking, Reading

__all__ = ["DocumentView", "Piece", "SentenceView", "headlines_by_component"]


class Piece(NamedTuple):
    """A run of the text, with the label of the entity that it is and what it is linked to."""

    text: str
    is_entity: bool = False
    label: str = ""
    concept: str = ""

    @property
    def note(self) -> str:
        """What the page adds to the text: a concept of the same name says nothing new."""
        concept = "" if self.concept.casefold() == self.text.casefold() else self.concept
        return " → ".join(filter(None, (self.label, concept)))


@dataclass(frozen=True)
class SentenceView:
    """A sentence: its words with their tags, its tree, and what else was possible.

    Attributes
    ----------
    text
        As it stands in the document.
    words
        Those that are no white space, with their tags.
    tree
        Its drawing, if it was parsed.
    rankings
        A heading and a ranking for tags, entities and heads.
    other_arcs
        For each reading of the heads, by its number, the arcs that the best tree has not.
    """

    text: str
    words: list[Word]
    tree: TreeDrawing | None
    rankings: list[tuple[str, Ranking]]
    other_arcs: dict[int, OtherArcs]

    @classmethod
    def of(cls, doc: Doc, span: Span) -> SentenceView:
        """Collect what a sentence holds."""
        words = [
            Word(token.text, token.tag_ or token.pos_, token._.tag_margin)
            for token in span
            if not token.is_space
        ]
        tree = _tree(span, words) if words and doc.has_annotation("DEP") else None
        rankings, other_arcs = [], {}
        parses = _parses(doc, span)
        heads = _head_ranking(doc, parses)
        if heads is not None and tree is not None:
            rankings = [("Heads", heads)]
            other_arcs = {
                reading.number: tree.others(_difference(span, parses, reading.number))
                for reading in heads.readings
            }
        rankings += _tag_rankings(doc, span)
        return cls(span.text.strip(), words, tree, rankings, other_arcs)

    @property
    def closest(self) -> Reading:
        """The cheapest of all other answers."""
        return min((ranking.closest for _, ranking in self.rankings), key=lambda r: r.loss)


@dataclass(frozen=True)
class DocumentView:
    """A document: the text with its entities, sentences, links, headlines and certificates."""

    heading: str
    pieces: list[Piece]
    sentences: list[SentenceView]
    links: Ranking | None
    headlines: Mapping[str, Sequence[Mapping[str, Any]]]
    certificates: Mapping[str, Sequence[Mapping[str, Any]]]

    @classmethod
    def of(cls, doc: Doc, number: int) -> DocumentView:
        """Collect what the `number`-th document holds."""
        spans = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
        headlines = headlines_by_component(doc)
        first = next((ranked[0]["text"] for ranked in headlines.values()), f"Document {number}")
        return cls(
            heading=doc._.headline or first,
            pieces=list(_pieces(doc)),
            sentences=[SentenceView.of(doc, span) for span in spans] if len(doc) else [],
            links=_link_ranking(doc),
            headlines=headlines,
            certificates=doc._.certificates,
        )

    @property
    def readings(self) -> int:
        """The largest number of a reading."""
        found = [ranking for sentence in self.sentences for _, ranking in sentence.rankings]
        if self.links is not None:
            found.append(self.links)
        return max((r.number for ranking in found for r in ranking.readings), default=0)


def headlines_by_component(doc: Doc) -> dict[str, list[Mapping[str, Any]]]:
    """The headlines that each generator of a pipeline has written, best first."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for headline in doc._.headlines:
        # documents of the first release do not tell who wrote what
        found.setdefault(headline.get("component", "headline"), []).append(headline)
    return found


def _pieces(doc: Doc) -> Iterator[Piece]:
    position = 0
    for ent in doc.ents:
        yield Piece(doc.text[position : ent.start_char])
        link = ent._.link
        # spaCy writes NIL where nothing fits, and a mention that is no entity has a stopgap
        concept = link.get("title") or link.get("id") or ent.kb_id_.removeprefix("NIL")
        label = "" if ent.label_ == MATCH_LABEL else ent.label_
        yield Piece(ent.text, True, label, concept)
        position = ent.end_char
    yield Piece(doc.text[position:])


def _tree(span: Span, words: Sequence[Word]) -> TreeDrawing:
    tokens = [token for token in span if not token.is_space]
    at = {token.i: place for place, token in enumerate(tokens)}
    return TreeDrawing.of(
        words,
        {at[t.i]: (at.get(t.head.i, at[t.i]), t.dep_) for t in tokens},
        [token._.head_margin for token in tokens],
    )


def _parses(doc: Doc, span: Span) -> list[Mapping[str, Any]]:
    """The k best trees of a sentence, the first of which it has; none if it has another."""
    for parses in doc._.parses:
        if parses and span.start <= parses[0]["tokens"][0] < span.end:
            heads = [doc[token].head.i for token in parses[0]["tokens"]]
            return list(parses) if heads == list(parses[0]["heads"]) else []
    return []


def _arcs(parse: Mapping[str, Any]) -> dict[int, tuple[int, str]]:
    heads = zip(parse["heads"], parse["deps"], strict=True)
    return dict(zip(parse["tokens"], heads, strict=True))


def _head_ranking(doc: Doc, parses: Sequence[Mapping[str, Any]]) -> Ranking | None:
    if not parses:
        return None
    names = _names([(token, doc[token].text) for token in parses[0]["tokens"]])

    def under(token: int, head: int, label: str) -> str:
        return f"root of the sentence · {label}" if head == token else f"{names[head]} · {label}"

    answers = [{token: under(token, *arc) for token, arc in _arcs(p).items()} for p in parses]
    return Ranking.of([p["score"] for p in parses], answers, names.__getitem__)


def _difference(
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


def _tag_rankings(doc: Doc, span: Span) -> Iterator[tuple[str, Ranking]]:
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
            names = _names([(i, doc[i].text) for i in range(start, end)])
            answers = [dict(enumerate(sequence, start)) for sequence in labels]
            found = Ranking.of(scores, answers, names.__getitem__)
            heading = "Tags"
        if found is not None:
            yield f"{heading} ({component})", found


def _entity_ranking(
    doc: Doc, start: int, scores: Sequence[float], labels: Sequence[Sequence[str]]
) -> Ranking | None:
    answers = [dict(_entities(sequence, start)) for sequence in labels]
    spans = sorted({span for answer in answers for span in answer})
    names = _names([(span, doc[span[0] : span[1]].text) for span in spans])
    return Ranking.of(scores, answers, names.__getitem__, absent="no entity")


def _entities(labels: Sequence[str], start: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Where the entities of B-, I- and O labels begin and end, and what they are."""
    begin = None
    for place, label in enumerate([*labels, "O"]):
        if begin is not None and label != f"I-{labels[begin][2:]}":
            yield (start + begin, start + place), labels[begin][2:]
            begin = None
        if begin is None and label != "O":
            begin = place


def _link_ranking(doc: Doc) -> Ranking | None:
    """The candidates of each mention; what one costs while all other links stay."""
    mentions = [ent for ent in doc.ents if len(ent._.link.get("candidates", ())) > 1]
    names = _names([(ent.start, ent.text) for ent in mentions])
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


def _names(places: Sequence[tuple[Any, str]]) -> dict[Any, str]:
    """Names of places by their texts; a text that occurs again is counted."""
    totals, seen, names = Counter(text for _, text in places), Counter[str](), {}
    for place, text in places:
        seen[text] += 1
        names[place] = text if totals[text] == 1 else f"{text} ({seen[text]})"
    return names
