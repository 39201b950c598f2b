"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np
from spacy.tokens import Token

from ...certificate import Certificate
from ...decoders.path.subtree import best_subtree
from ...errors import ProblemError
from ...models.headline.stems import word_keys
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .reading import HYPHENS, MARKS, QUOTE_MARKS, SILENT, Texts

__all__ = ["chosen", "headlines_of_sentences", "trees_of", "written"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)
#: The most ways to choose, of the places that required words have, one for each.
MOST_WAYS = 1000
#: Marks that a headline may have.
ALL_MARKS = MARKS | HYPHENS
#: Those that part what belongs together where words are left out.
PARTING = frozenset({",", "--", "—"})
#: What a quotation ends with besides.
ASKING = frozenset("?!")
#: What no blank precedes, even where words between are left out.
CLOSING = frozenset({",", ":", ";", ")", "'", "’", "'s", "’s"})


def headlines_of_sentences(scored: ScoredUnit, options: HeadlineOptions) -> list[Headline]:
    """Shorten the sentences of a parsed text; the best, best first.

    Where no sentence can have as many words, the largest number below is taken; where the length
    is automatic, else the least above. The certificates compare with the best short sentence of
    the whole text.
    """
    if not scored.has_words:
        return []
    if not scored.unit.doc.has_annotation("DEP"):
        raise ProblemError(
            "mode: 'sentence' shortens sentences along their trees, and the document has "
            "none; add a parser before this component."
        )
    begins, bound = scored.of.sentences.begins, -np.inf
    numbers = range(bisect_left(begins, scored.begin), bisect_left(begins, scored.end))
    for lengths in _lengths(scored, numbers, options):
        headlines, bound = _best(scored, numbers, options, lengths, bound)
        if headlines:
            return headlines
        if bound > -np.inf:  # whether so many words fit `max_chars` is left open
            bound = np.inf
    return []


def _lengths(
    scored: ScoredUnit, numbers: Sequence[int], options: HeadlineOptions
) -> Iterator[tuple[int, int]]:
    """The least and the most words that are tried, one pair after the other."""
    least, most = limits_of(options, USUAL_WORDS)
    yield least, most
    longest = max((scored.of.sentences.words[number] for number in numbers), default=0)
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
    """The best headlines with so many words, and a bound on them, at least the one given.

    The sentences that could be best come first: most are never read as trees.
    """
    of, n_best, (least, most) = scored.of.sentences, options.n_best, lengths
    found: list[tuple[float, int, list[Token]]] = []  # minus the score, the number, the tokens
    possible = [
        (-of.ceilings[number], number)
        for number in numbers
        if of.fewest[number] <= most and of.words[number] >= least
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
        headlines.append(Headline(written(tokens), indices, [], certificate, "sentence"))
    return headlines, bound


def _shortened(
    scored: ScoredUnit, number: int, options: HeadlineOptions, least: int, most: int
) -> tuple[float, float, list[Token]]:
    """The best part of a sentence with so many words: its score, a bound on it, the tokens.

    The tokens are none if no part was found, and the bound minus infinity if there is none.
    """
    best: tuple[float, list[Token]] = -np.inf, []
    bound, limit = -np.inf, options.max_chars
    for groups, scores, parents, sizes in trees_of(scored, number, options):
        # no blank follows the last word
        high, low = ([most], [least]) if limit is None else ([limit + 1, most], [0, least])
        while solution := best_subtree(scores, parents, sizes, high, low):
            nodes: list[int] = solution.nodes.tolist()
            certificate: Any = solution.certificate
            bound = max(bound, certificate.bound)
            kept = {*nodes}
            tokens = chosen(scored, number, {i for i, of in enumerate(groups) if of in kept})
            if limit is None or len(written(tokens)) <= limit:
                best = max(best, (certificate.score, tokens), key=itemgetter(0))
                break
            # with its commas it is too long
            high[0] = sum(sizes[node][0] for node in nodes) - 1
    return best[0], bound, best[1]


def trees_of(
    scored: ScoredUnit, number: int, options: HeadlineOptions
) -> Iterator[tuple[list[int], list[float], list[int], list[list[int]]]]:
    """Read a sentence as a tree, or as several where a required word is in several places.

    Its nodes are groups of tokens that stay together: first comes the group of each token, counted
    from the first of the sentence. Then there are of each group the score, the parent, and the
    sizes: its characters with a blank for each word, where these are limited, and its words.
    """
    of, texts = scored.of.sentences, scored.of.texts
    place, nodes = of.place(number), slice(*of.firsts[number : number + 2])
    groups, parents, scores = of.groups[place], of.parents[nodes], of.scores[nodes]
    sizes = [[size] for size in of.sizes[nodes]]
    if options.max_chars is not None:
        characters = [0] * len(sizes)
        tokens = scored.sentence(number)
        for token, said, group in zip(tokens, of.read[place], groups, strict=True):
            characters[group] += len(token.text_with_ws) * said
        sizes = [[count, *size] for count, size in zip(characters, sizes, strict=True)]
    if not options.required:
        yield groups, scores, parents, sizes
        return
    keys = texts.columns["LOWER"][place]
    required = dict.fromkeys(word_keys(options.required).tolist())
    places = [np.flatnonzero(keys == word).tolist() for word in required]
    ways = prod(map(len, places))
    if ways > MOST_WAYS:
        raise ProblemError(
            f"required: {ways:,} choices of places where a sentence has these words, of which "
            f"at most {MOST_WAYS:,} are tried; leave out the most frequent of them."
        )
    for wanted in product(*places):
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


def chosen(scored: ScoredUnit, number: int, kept: set[int]) -> list[Token]:
    """The tokens of a headline that keeps these places of a sentence, in order."""
    of, texts, tokens = scored.of.sentences, scored.of.texts, scored.sentence(number)
    span = of.place(number)
    heads = [head - span.start for head in of.heads[span]]
    read, articles = of.read[span], of.articles[span]
    words = [place for place in sorted(kept) if read[place]]
    shown = {*words}
    begin, end = (bisect_left(texts.quotations, (at, 0)) for at in (span.start, span.stop))
    for first, last in texts.quotations[begin:end]:  # a quotation is as it stands in the text
        within = range(first - span.start, last - span.start)
        if shown.issuperset(place for place in within if read[place]):
            shown |= {within.start, within.stop}
            shown.update(place for place in within if tokens[place].text in ASKING)
    found: list[int] = []
    for place in range(len(tokens)) if words else ():
        text = tokens[place].text
        if place in shown:
            found.append(place)
        elif text in ALL_MARKS and words[0] < place and (place < words[-1] or text == ")"):
            last, following = found[-1], words[bisect_left(words, place) % len(words)]
            parts = None
            if text in PARTING and last in shown:
                around = last, place - 1, read.index(True, place), following
                commas = [at for at in found if tokens[at].text == text]
                parts = _parts(texts, span.start, heads, around, commas)
            # between what stood beside it
            if parts is not None or place not in kept:
                stays = bool(parts)
            elif text in HYPHENS or heads[place] == of.roots[span.start] - span.start:
                beside = all(articles[place + 1 : following])
                stays = last == place - 1 and (beside or place + 1 in shown | kept)
            else:
                stays = text == "(" or last in shown
            if stays:
                found.append(place)
    brackets = {tokens[place].text for place in found} & {"(", ")"}
    lone = brackets if len(brackets) == 1 else set[str]()
    return [tokens[place] for place in found if tokens[place].text not in lone]


def _parts(
    texts: Texts, start: int, heads: Sequence[int], around: Sequence[int], commas: list[int]
) -> bool | None:
    """Whether a comma stays by what it parts; None where what it belongs to decides.

    `around` are the last word that stays, the words on both sides, and the next one that stays;
    `commas` those that stay before it. It stays behind what is before its head ("Born in Iowa, he
    ...") and before appositions and conjuncts. Where a word beside it is left out, it goes after a
    subject ("Ann[, a lawyer], won"); where that before it is, before "and" but between clauses.
    """
    kinds = texts.kinds
    last, left, right, following = (_chain(heads, place) for place in around)
    # the largest parts around it
    before = next((word for word in last[::-1] if word not in following), last[0])
    behind = next((word for word in following[::-1] if word not in last), following[0])
    shortened = last[0] < left[0]
    either = shortened or right[0] < following[0]
    if heads[before] >= right[0] and before not in following:
        if kinds["fronted"][start + before] and before in left and before not in right:
            return True
        if kinds["subject"][start + before] and either and commas[-1:] < [before]:
            return False
    between = heads[behind] <= left[0] and behind in right and behind not in left
    if between and kinds["listed"][start + behind]:
        joint = kinds["joint"] & ~kinds["exception"]
        clause = (kinds["VERB"] | kinds["AUX"])[start + behind]
        return bool(clause or not (shortened and joint[start + following[0]]))
    return None


def _chain(heads: Sequence[int], place: int) -> list[int]:
    """A token and those above it."""
    chain = [place]
    while heads[chain[-1]] != chain[-1]:
        chain.append(heads[chain[-1]])
    return chain


def written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    marks = [token.text in QUOTE_MARKS and token.dep_ in SILENT for token in tokens]
    parts, quoted = list[str](), False
    for (token, mark), (following, marked) in pairwise(zip(tokens, marks, strict=True)):
        quoted ^= mark
        glued = token.text == "(" or (mark and quoted)
        glued |= quoted if marked else following.text in CLOSING
        apart = following.i > token.i + 1 and token.text not in HYPHENS
        blank = " " if apart else token.whitespace_
        parts += [token.text, "" if glued else blank]
    return capitalised("".join([*parts, *(token.text for token in tokens[-1:])]))
