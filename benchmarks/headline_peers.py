"""Unsupervised keyphrases as headlines, by the formulas of their papers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from statistics import mean, median, pstdev

import numpy as np
from spacy.tokens import Doc

__all__ = ["first_noun_phrase", "lead_words", "text_rank", "yake"]

#: Words of a keyphrase at most, and the reach of co-occurrence.
LONGEST, WINDOW = 3, 2
DAMPING, STEPS = 0.85, 30
#: Parts of speech in a noun phrase, beside its last word, which is a noun.
INSIDE = frozenset({"NOUN", "PROPN", "ADJ", "NUM"})


def _sentences(doc: Doc) -> list[list[str]]:
    """The tokens of each sentence, which end at full stops if nothing else says so."""
    if doc.has_annotation("SENT_START"):
        return [[token.text for token in sentence] for sentence in doc.sents]
    found: list[list[str]] = [[]]
    for token in doc:
        found[-1].append(token.text)
        if token.text in ".!?":
            found.append([])
    return [sentence for sentence in found if sentence]


def text_rank(doc: Doc) -> str:
    """The phrase of highest TextRank.

    Words are ranked by PageRank over co-occurrence within two words, runs of the best third
    become phrases, and a phrase counts as much as its words together (Mihalcea and Tarau 2004,
    section 3).
    Without tags, every content word may be a vertex.
    """
    tagged = doc.has_annotation("POS")

    def counted(place: int) -> bool:
        token = doc[place]
        if tagged:
            return token.pos_ in INSIDE and token.is_alpha
        return token.is_alpha and not token.is_stop and len(token.text) > 1

    places = [place for place in range(len(doc)) if counted(place)]
    names = sorted({doc[place].lower_ for place in places})
    if not names:
        return ""
    number = {name: row for row, name in enumerate(names)}
    near = np.zeros((len(names), len(names)))
    for place in places:
        for other in range(place + 1, min(place + WINDOW + 1, len(doc))):
            one, two = number[doc[place].lower_], number.get(doc[other].lower_)
            if two is not None and one != two and counted(other):
                near[one, two] = near[two, one] = 1.0
    degree = np.maximum(near.sum(axis=0), 1.0)
    rank = np.ones(len(names))
    for _ in range(STEPS):
        rank = 1.0 - DAMPING + DAMPING * near @ (rank / degree)
    kept = {names[row] for row in np.argsort(-rank)[: max(3, len(names) // 3)]}
    best, score = "", -1.0
    run: list[int] = []
    for place in [*places, len(doc) + 1]:
        if run and (place != run[-1] + 1 or (place < len(doc) and doc[place].lower_ not in kept)):
            value = sum(float(rank[number[doc[i].lower_]]) for i in run)
            if value > score:
                best, score = doc[run[0] : run[-1] + 1].text, value
            run = []
        if place < len(doc) and doc[place].lower_ in kept:
            run.append(place)
    return best


def yake(doc: Doc) -> str:
    """The keyphrase of lowest YAKE score (Campos et al. 2020, equations 1 to 8)."""
    sentences = _sentences(doc)
    count: Counter[str] = Counter()
    upper: Counter[str] = Counter()
    where: dict[str, list[int]] = defaultdict(list)
    left: dict[str, Counter[str]] = defaultdict(Counter)
    right: dict[str, Counter[str]] = defaultdict(Counter)
    runs: list[list[str]] = []
    for number, sentence in enumerate(sentences):
        run: list[str] = []
        for place, text in enumerate(sentence):
            if not re.search(r"\w", text):
                runs.append(run)
                run = []
                continue
            word = text.lower()
            count[word] += 1
            upper[word] += text[:1].isupper() and place > 0
            where[word].append(number)
            run.append(text)
        runs.append(run)
    for run in runs:
        for one, two in pairwise(text.lower() for text in run):
            right[one][two] += 1
            left[two][one] += 1
    content = {w: c for w, c in count.items() if not doc.vocab[w].is_stop and w.isalpha()}
    if not content:
        return ""
    usual = mean(content.values()) + pstdev(content.values())
    highest = max(count.values())
    scores: dict[str, float] = {}
    for word, times in count.items():
        case = upper[word] / (1.0 + np.log(times))
        position = float(np.log(np.log(3.0 + median(where[word]))))
        frequency = times / usual
        sides = [side[word] for side in (left, right)]
        spread = sum(len(side) / max(1, side.total()) for side in sides)
        related = 1.0 + spread * times / highest
        different = len(set(where[word])) / len(sentences)
        scores[word] = related * position / (case + frequency / related + different / related)
    phrases: Counter[tuple[str, ...]] = Counter()
    spelling: dict[tuple[str, ...], str] = {}
    for run in runs:
        for size in range(1, LONGEST + 1):
            for low in range(len(run) - size + 1):
                words = tuple(text.lower() for text in run[low : low + size])
                if words[0] in content and words[-1] in content:
                    phrases[words] += 1
                    spelling.setdefault(words, " ".join(run[low : low + size]))

    def of(words: tuple[str, ...]) -> float:
        inside = [scores[word] for word in words if word in content]
        return float(np.prod(inside)) / (phrases[words] * (1.0 + sum(inside)))

    return spelling[min(phrases, key=of)]


def first_noun_phrase(doc: Doc) -> str:
    """The first run of adjectives and nouns that ends with a noun.

    Without tags it is the first run of content words of at least two, or else the first word.
    """
    tagged = doc.has_annotation("POS")
    first, run = "", list[int]()
    for token in doc:
        inside = token.pos_ in INSIDE if tagged else token.is_alpha and not token.is_stop
        if inside:
            run.append(token.i)
            continue
        while tagged and run and doc[run[-1]].pos_ not in ("NOUN", "PROPN"):
            run.pop()
        if run:
            first = first or doc[run[0] : run[-1] + 1].text
            if tagged or len(run) > 1:
                return doc[run[0] : run[-1] + 1].text
        run = []
    return first


def lead_words(doc: Doc) -> str:
    """The first four words, as many as a title has."""
    return " ".join([token.text for token in doc if token.is_alpha][:4])
