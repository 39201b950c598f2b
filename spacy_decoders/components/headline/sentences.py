"""Headlines that are sentences of the text, shortened along their dependency trees."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np
from spacy.tokens import Token

from ...certificate import Certificate
from ...decoders.path.subtree import Knapsack
from ...errors import ProblemError
from ...models.headline.stems import word_keys
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .reading import HYPHENS, MARKS, QUOTE_MARKS, SILENT, Texts

__all__ = ["headlines_of_sentences", "kept_tokens", "render", "trees_of"]

#: The fewest and the most words where the length is automatic; fewer say nothing.
USUAL_WORDS = (4, 12)
#: The most ways to choose an occurrence of each required word.
MOST_WAYS = 1000
#: Marks that a headline may contain.
ALL_MARKS = MARKS | HYPHENS
#: Marks that would separate what belongs together once the words beside them are left out.
PARTING = frozenset({",", "--", "—"})
#: Tokens without a blank before them, even where words in between are left out.
CLOSING = frozenset({",", ":", ";", ")", "]", "'", "’", "'s", "’s"})


def headlines_of_sentences(scored: ScoredUnit, options: HeadlineOptions) -> list[Headline]:
    """Shorten the sentences of a parsed text; return the best ones, best first.

    If no sentence can have the wanted number of words, the largest smaller number is used, or,
    with an automatic length, the smallest larger one. The bound of a certificate is that of the
    best shortened sentence of the whole text.
    """
    if not scored.has_words or not scored.unit.doc.has_annotation("DEP"):
        return []
    begins, bound = scored.batch.sentences.begins, -np.inf
    numbers = range(bisect_left(begins, scored.begin), bisect_left(begins, scored.end))
    for lengths in _lengths(scored, numbers, options):
        headlines, bound = _best(scored, numbers, options, lengths, bound)
        if headlines:
            return headlines
        if bound > -np.inf:  # there may be one of this length that fits `max_chars`
            bound = np.inf
    return []


def _lengths(
    scored: ScoredUnit, numbers: Sequence[int], options: HeadlineOptions
) -> Iterator[tuple[int, int]]:
    """Yield the fewest and the most words to try, one pair after the other."""
    least, most = limits_of(options, USUAL_WORDS)
    yield least, most
    longest = max((scored.batch.sentences.words[number] for number in numbers), default=0)
    yield from ((size, size) for size in range(min(least - 1, longest), 0, -1))
    if options.length == "auto":
        trees = (tree for number in numbers for tree in trees_of(scored, number, options))
        smallest = {sizes[0][-1] for *_, sizes in trees}
        yield from ((size, size) for size in sorted(smallest) if size > most)


def _best(
    scored: ScoredUnit,
    numbers: Sequence[int],
    options: HeadlineOptions,
    lengths: tuple[int, int],
    bound: float,
) -> tuple[list[Headline], float]:
    """Return the best headlines of this length and a bound on their scores, at least `bound`.

    Sentences are visited by their ceilings, highest first, so most are never built as trees.
    """
    of, n_best, (least, most) = scored.batch.sentences, options.n_best, lengths
    found: list[tuple[float, int, list[Token]]] = []  # negated score, sentence number, tokens
    possible = [
        (-of.ceilings[number], number)
        for number in numbers
        if of.sizes[of.firsts[number]] <= most and of.words[number] >= least
    ]
    for loss, number in sorted(possible):
        if len(found) >= n_best and loss > found[n_best - 1][0]:
            bound = max(bound, -loss)
            break
        score, own, tokens = _shortened(scored, number, options, least, most)
        bound = max(bound, own)
        if tokens:
            found.append((-score, number, tokens))
            found.sort()
    headlines = []
    for loss, _, tokens in found[:n_best]:
        certificate = Certificate.from_bound(
            "TreeKnapsack", -loss, bound, tolerance=1e-9, scale=abs(loss) + 1.0
        )
        indices = [token.i for token in tokens]
        headlines.append(Headline(render(tokens), indices, [], certificate, "sentence"))
    return headlines, bound


def _shortened(
    scored: ScoredUnit, number: int, options: HeadlineOptions, least: int, most: int
) -> tuple[float, float, list[Token]]:
    """Shorten one sentence: return the best score, a bound on it, and the tokens.

    There are no tokens if nothing was found; the bound is minus infinity if nothing exists.
    """
    best: tuple[float, list[Token]] = -np.inf, []
    bound, limit = -np.inf, options.max_chars
    for groups, scores, parents, sizes in trees_of(scored, number, options):
        # one more: no blank follows the last word
        high, low = ([most], [least]) if limit is None else ([limit + 1, most], [0, least])
        while solution := Knapsack(scores, parents, sizes, high, low).solved():
            nodes: list[int] = solution.nodes.tolist()
            certificate: Any = solution.certificate
            bound = max(bound, certificate.bound)
            kept = {*nodes}
            tokens = kept_tokens(scored, number, {i for i, of in enumerate(groups) if of in kept})
            if limit is None or len(render(tokens)) <= limit:
                best = max(best, (certificate.score, tokens), key=itemgetter(0))
                break
            # its commas make it too long
            high[0] = sum(sizes[node][0] for node in nodes) - 1
    return best[0], bound, best[1]


def trees_of(
    scored: ScoredUnit, number: int, options: HeadlineOptions
) -> Iterator[tuple[list[int], list[float], list[int], list[list[int]]]]:
    """Yield a sentence as a tree: several trees if a required word occurs more than once.

    The nodes are groups of tokens that stay together. Each tree is the group of each token of the
    sentence and then, for each group, its score, its parent and its sizes: its number of words
    and, if `max_chars` is set, before that its characters including a blank for each word.
    """
    of, texts = scored.batch.sentences, scored.batch.texts
    place, nodes = of.place(number), slice(*of.firsts[number : number + 2])
    groups, parents, scores = of.groups[place], of.parents[nodes], of.scores[nodes]
    sizes = [[size] for size in of.sizes[nodes]]
    if options.max_chars is not None:
        lengths = np.array([*map(len, texts.words[place])]) + texts.kinds["SPACY"][place]
        characters = np.bincount(groups, lengths * texts.read[place], len(sizes)).tolist()
        sizes = [[int(count), *size] for count, size in zip(characters, sizes, strict=True)]
    if not options.required:
        yield groups, scores, parents, sizes
        return
    keys = texts.columns["LOWER"][place]
    required = dict.fromkeys(word_keys(options.required).tolist())
    occurrences = [np.flatnonzero(keys == word).tolist() for word in required]
    ways = prod(map(len, occurrences))
    if ways > MOST_WAYS:
        raise ProblemError(
            f"required: these words occur in a sentence so often that there are {ways:,} ways to "
            f"keep them, and at most {MOST_WAYS:,} are tried; leave out the most frequent word."
        )
    for wanted in product(*occurrences):
        stays = {0}
        for group in (groups[token] for token in wanted):
            while group not in stays:
                stays.add(group)
                group = parents[group]
        rest = [group for group in range(len(parents)) if group not in stays]
        number_of = dict.fromkeys(stays, 0) | {group: n for n, group in enumerate(rest, 1)}
        yield (
            [number_of[group] for group in groups],
            [sum(scores[group] for group in stays), *(scores[group] for group in rest)],
            [-1, *(number_of[parents[group]] for group in rest)],
            [[*map(sum, zip(*(sizes[group] for group in stays), strict=True))]]
            + [sizes[group] for group in rest],
        )


def kept_tokens(scored: ScoredUnit, number: int, kept: set[int]) -> list[Token]:
    """The tokens of a headline that keeps these tokens of a sentence, with the marks that stay."""
    of, texts = scored.batch.sentences, scored.batch.texts
    span = of.place(number)
    words = texts.words[span]
    read, articles = texts.read[span].tolist(), texts.kinds["det"][span].tolist()
    said = [place for place in sorted(kept) if read[place]]
    shown = {*said}
    begin, end = (bisect_left(texts.quotations, (at, 0)) for at in (span.start, span.stop))
    for first, last in texts.quotations[begin:end]:  # a quotation keeps its marks
        within = range(first - span.start, last - span.start)
        if shown.issuperset(place for place in within if read[place]):
            shown |= {within.start, within.stop}
            shown.update(place for place in within if words[place] in ("?", "!"))
    found = [place for place in sorted(shown) if place < said[0]] if said else []
    for last, following in pairwise([*said, len(words)]):
        found.append(last)
        gap = range(last + 1, following)
        parting = [place for place in gap if words[place] in PARTING]
        whole = bool(parting) and all(articles[place] or not read[place] for place in gap)
        if parting and not whole and following < len(words):
            ends = span.start + last, span.start + following
            parting = parting if _parts(texts, of.heads, *ends) else []
        for place in gap:
            text = words[place]
            if place in shown:
                stays = True
            elif text not in ALL_MARKS or (following == len(words) and text not in ")]"):
                stays = False
            elif text in PARTING:
                stays = place in parting and (whole or found[-1] in shown)
            else:
                stays = place in kept
            if stays:
                found.append(place)
    marks = {words[place] for place in found}
    lone = {mark for pair in ("()", "[]") for mark in pair if not marks.issuperset(pair)}
    stay = [place for place in found if words[place] not in lone]
    # a comma leaves if nothing is left between it and the next mark
    idle = {
        place for place, behind in pairwise(stay) if words[place] == "," and words[behind] in MARKS
    }
    begin = span.start - scored.begin
    return [scored.unit[begin + place] for place in stay if place not in idle]


def _parts(texts: Texts, heads: Sequence[int], last: int, following: int) -> bool:
    """Whether a comma parts two words between which others are left out.

    It parts appositions, conjuncts without "and", and what stands in front; not a subject.
    """
    kinds, left, right = texts.kinds, _chain(heads, last), _chain(heads, following)
    # the largest phrases on both sides
    before = next((word for word in left[::-1] if word not in right), last)
    behind = next((word for word in right[::-1] if word not in left), following)
    if heads[behind] <= last and kinds["listed"][behind]:
        return not kinds["joint"][following]
    return bool(heads[before] >= following and kinds["front"][before])


def _chain(heads: Sequence[int], place: int) -> list[int]:
    """A token and its ancestors, up to the root."""
    chain = [place]
    while heads[chain[-1]] != chain[-1]:
        chain.append(heads[chain[-1]])
    return chain


def render(tokens: Sequence[Token]) -> str:
    """The text of a headline: blanks are where the text has them, or where words are left out."""
    marks = [token.text in QUOTE_MARKS and token.dep_ in SILENT for token in tokens]
    parts, quoted = list[str](), False
    for (token, mark), (following, marked) in pairwise(zip(tokens, marks, strict=True)):
        quoted ^= mark
        glued = token.text in "([" or (mark and quoted)
        glued |= quoted if marked else following.text in CLOSING
        apart = following.i > token.i + 1
        blank = " " if apart else token.whitespace_
        parts += [token.text, "" if glued else blank]
    return capitalised("".join([*parts, *(token.text for token in tokens[-1:])]))
