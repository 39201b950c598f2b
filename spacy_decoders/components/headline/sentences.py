"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...certificate import Certificate
from ...errors import ProblemError
from ...models.headline.knowledge import HeadlineKnowledge
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, limits_of
from .sentence_trees import SentenceTree, lead_of, written

__all__ = ["headlines_of_sentences", "sentences_of"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)


def headlines_of_sentences(
    scored: ScoredUnit, _: HeadlineKnowledge, options: HeadlineOptions
) -> list[Headline]:
    """Shorten the sentences of a parsed text; the best, best first.

    Where no sentence can have as many words, the largest number below is taken. The certificates
    compare with the best short sentence of the whole text.
    """
    if not scored.doc.has_annotation("DEP"):
        if not scored.words.any():
            return []
        raise ProblemError(
            "mode: 'sentence' shortens sentences along their trees, and the document has "
            "none; add a parser before this component."
        )
    trees = sentences_of(scored, options)
    undecided = False
    for least, most in _lengths(trees, options):
        headlines, bound = _best(trees, least, most, options, undecided)
        if headlines:
            return headlines
        undecided |= bound > -np.inf
    return []


def sentences_of(scored: ScoredUnit, options: HeadlineOptions) -> list[SentenceTree]:
    """The sentences that have words, all that are required among them."""
    unit: Any = scored.unit  # a span has sentences too, which its stub lacks
    origin, found = scored.origin, []
    required = tuple(word.lower() for word in options.required or ())
    for number, whole in enumerate(unit.sents):
        begin, end = max(0, whole.start - origin), min(len(unit), whole.end - origin)
        span, words = unit[begin:end], scored.words[begin:end]
        lower = {token.lower_ for token in span} if required else set()
        if words.any() and lower.issuperset(required):
            lead, values = lead_of(span.root, number), scored.values[begin:end]
            found.append(SentenceTree(span, values, words, lead, required))
    return found


def _lengths(trees: Sequence[SentenceTree], options: HeadlineOptions) -> Iterator[tuple[int, int]]:
    """The least and the most words that are tried, one pair after the other."""
    least, most = limits_of(options, USUAL_WORDS)
    yield least, most
    sizes = sorted({size for tree in trees for size in tree.sizes})
    yield from ((size, size) for size in reversed(sizes) if size < least)
    if options.length == "auto":
        yield from ((size, size) for size in sizes if size > most)


def _best(
    trees: Sequence[SentenceTree],
    least: int,
    most: int,
    options: HeadlineOptions,
    undecided: bool,
) -> tuple[list[Headline], float]:
    """The best headlines with so many words, and a bound on them.

    There is no bound if it is `undecided` whether other lengths, which come first, have any.
    The sentences that could be best come first: most are never read as trees.
    """
    found: list[tuple[float, int, str, list[int]]] = []
    bounds: list[float] = [np.inf if undecided else -np.inf]
    ceilings = np.array([tree.ceiling(most) for tree in trees])
    for place in np.argsort(-ceilings, kind="stable").tolist():
        ranked = sorted((entry[0] for entry in found), reverse=True)
        wanted = ranked[options.n_best - 1] if len(ranked) >= options.n_best else -np.inf
        if ceilings[place] < wanted:
            bounds.append(ceilings[place])
            break
        tree = trees[place]
        if not any(least <= size <= most for size in tree.sizes):
            continue
        score, bound, tokens = tree.shortened(least, most, options.max_chars)
        bounds.append(bound)
        if tokens:
            found.append((score, place, written(tokens), [token.i for token in tokens]))
    found.sort(key=lambda entry: (-entry[0], entry[1]))
    headlines = []
    for score, _, text, indices in found[: options.n_best]:
        certificate = Certificate.from_bound(
            "TreeKnapsack", score, max(bounds), tolerance=1e-9, scale=abs(score) + 1.0
        )
        headlines.append(Headline(text, indices, [], certificate, "sentence"))
    return headlines, max(bounds)
