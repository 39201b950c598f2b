"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, product
from math import prod
from operator import itemgetter, mul
from typing import Any

import numpy as np
from spacy.tokens import Token

from ...certificate import Certificate
from ...decoders.path.subtree import best_subtree
from ...errors import ProblemError
from ..factories.headline_generator import HeadlineOptions
from .headlines import Headline, ScoredUnit, capitalised, limits_of
from .reading import HYPHENS, MARKS, QUOTE_MARKS, SILENT, word_keys

__all__ = ["chosen", "headlines_of_sentences", "trees_of", "written"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)
#: The most ways to choose, of the places that required words have, one for each.
MOST_WAYS = 1000
#: Marks that a headline may have.
ALL_MARKS = MARKS | HYPHENS
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
    if not scored.unit.doc.has_annotation("DEP"):
        if not scored.has_words:
            return []
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
            tokens = chosen(scored, number, chain.from_iterable(groups[i] for i in nodes))
            if limit is None or len(written(tokens)) <= limit:
                best = max(best, (certificate.score, tokens), key=itemgetter(0))
                break
            # with its commas it is too long
            high[0] = sum(sizes[node][0] for node in nodes) - 1
    return best[0], bound, best[1]


def trees_of(
    scored: ScoredUnit, number: int, options: HeadlineOptions
) -> Iterator[tuple[list[list[int]], list[float], list[int], list[list[int]]]]:
    """Read a sentence as a tree, or as several where a required word is in several places.

    Its nodes are groups of tokens, counted from the first of the sentence, that stay together.
    Beside these stand the score of each, its parent, and its sizes: its characters with a blank
    for each word, where these are limited, and its words.
    """
    of, texts = scored.of.sentences, scored.of.texts
    place = of.place(number)
    keys, values = texts.columns["LOWER"][place].tolist(), scored.of.values[place]
    required = dict.fromkeys(word_keys(options.required).tolist()) if options.required else ()
    places = [[i for i, key in enumerate(keys) if key == word] for word in required]
    ways = prod(map(len, places))
    if ways > MOST_WAYS:
        raise ProblemError(
            f"required: {ways:,} choices of places where a sentence has these words, of which "
            f"at most {MOST_WAYS:,} are tried; leave out the most frequent of them."
        )
    limited = [texts.read[place].tolist()]
    if options.max_chars is not None:
        lengths = [len(token.text_with_ws) for token in scored.sentence(number)]
        limited.insert(0, [*map(mul, lengths, limited[0])])
    heads, needed = (of.heads[place] - place.start).tolist(), of.needed[place].tolist()
    single = values.tolist()
    for wanted in product(*places):
        groups, parents = groups_of(heads, needed, wanted)
        scores = [
            single[group[0]] if len(group) == 1 else float(values[group].sum()) for group in groups
        ]
        scores[0] += of.leads[number]
        sizes = [[sum(map(taken.__getitem__, group)) for taken in limited] for group in groups]
        yield groups, scores, parents, sizes


def chosen(scored: ScoredUnit, number: int, places: Iterable[int]) -> list[Token]:
    """The tokens of a headline that keeps these places of a sentence, in order."""
    of, tokens = scored.of.sentences, scored.sentence(number)
    span = of.place(number)
    heads, root = (of.heads[span] - span.start).tolist(), of.roots[span.start] - span.start
    read = scored.of.texts.read[span].tolist()
    marks = [*scored.of.texts.kinds["quote"][span].tolist(), False]
    kept = {place for place in places if read[place] or not marks[place]}
    words = sorted(place for place in kept if read[place])
    articles = [*scored.of.texts.related({"det"})[span].tolist(), False]
    begin, end = (bisect_left(of.quotes, (place, 0)) for place in (span.start, span.stop))
    for first, last in of.quotes[begin:end]:  # a quotation is as it stands in the text
        within = range(first - span.start, last - span.start)
        if all(place in kept for place in within if read[place]):
            asked = [place for place in within if tokens[place].text in ASKING]
            for place in (within.start, within.stop, *asked):
                kept.add(place)
                marks[place] = True
    found: list[int] = []
    for place in sorted(kept) if words else ():
        text, last = tokens[place].text, found[-1] if found else 0
        if read[place] or marks[place]:
            found.append(place)
        elif text in ALL_MARKS and words[0] < place and (place < words[-1] or text == ")"):
            if text in HYPHENS or heads[place] == root:
                following = place + 1 + marks[place + 1]
                while articles[following] and following not in kept:
                    following += 1
                stays = {place - 1 - marks[place - 1], following} <= kept
            else:
                # the second of two commas goes with the first and what was between them
                closing = text == "," and heads[place] < place
                gone = closing and last + 1 < place and tokens[last + 1].text == ","
                stays = not gone and (text == "(" or read[last] or marks[last])
            if stays:
                found.append(place)
    brackets = {tokens[place].text for place in found} & {"(", ")"}
    lone = brackets if len(brackets) == 1 else set[str]()
    return [tokens[place] for place in found if tokens[place].text not in lone]


def groups_of(
    heads: Sequence[int], needed: Sequence[bool], wanted: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """The tokens that stay or go together, and the parent of each group, -1 of the first.

    The first group, which always stays, has the root, which depends on itself, and the `wanted`
    places.
    """
    children: list[list[int]] = [[] for _ in heads]
    kept, root = list(needed), 0
    for place, head in enumerate(heads):
        if place == head:
            root = place
        else:
            children[head].append(place)
    for place in wanted:
        while place != root:
            kept[place] = True
            place = heads[place]
    groups, parents, number, order = [[root]], [-1], {root: 0}, [root]
    for head in order:
        for place in children[head]:
            own = number[head]
            if not kept[place]:
                parents.append(own)
                groups.append([])
                own = len(parents) - 1
            number[place] = own
            groups[own].append(place)
            order.append(place)
    return list(map(sorted, groups)), parents


def written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    marks = [token.text in QUOTE_MARKS and token.dep_ in SILENT for token in tokens]
    parts, quoted = list[str](), False
    for (token, mark), (following, marked) in pairwise(zip(tokens, marks, strict=True)):
        quoted ^= mark
        glued = token.text == "(" or (mark and quoted)
        glued |= quoted if marked else following.text in CLOSING
        blank = " " if following.i > token.i + 1 else token.whitespace_
        parts += [token.text, "" if glued else blank]
    return capitalised("".join([*parts, *(token.text for token in tokens[-1:])]))
