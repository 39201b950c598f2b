"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

from ...certificate import Certificate
from ...errors import ProblemError
from ...models.headline.meaning import TIMES, attach_conjuncts, set_off, words_of_meaning
from .headlines import Headline
from .subtree_search import SubtreeSearch, attainable_sizes

if TYPE_CHECKING:
    from ...models.headline.compression import Compression

__all__ = ["USUAL_WORDS", "ShortSentences", "is_word"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)
#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence; and no subject, where it is
#: no sentence.
PRONOUN, FRAGMENT = 0.5, 0.5
#: Relations of greetings and of who is greeted.
ADDRESSING = frozenset({"vocative", "discourse", "intj"})
#: Relations of what a clause is about begin so.
SUBJECTS = ("nsubj", "csubj", "expl")
#: Punctuation that is read aloud; "#" is before a number.
SIGNS = frozenset("%‰&§@")
#: Punctuation that no blank precedes.
CLOSING = frozenset({",", ":", ";", ")"})
#: Tags of English words that ask or begin a relative clause; others have their kind of pronoun.
ASKING_TAGS = frozenset({"WDT", "WP", "WP$", "WRB"})
#: A relation that is always required.
REQUIRED_PART = "fixed"


@dataclass(frozen=True, eq=False)
class SentenceTree:
    """A sentence as a tree of words that stay or go together.

    Attributes
    ----------
    tokens
        Of the sentence.
    read
        Which of them are words. **Shape:** ``(tokens,)``
    heads, relations
        As parsed, within the sentence.
    compression
        The groups and their tree.
    wanted
        For each required word the groups that have it.
    sizes
        Numbers of words that the sentence can be shortened to.
    """

    tokens: list[Token]
    read: NDArray[np.bool_]
    heads: NDArray[np.int64]
    relations: list[str]
    compression: Compression
    wanted: list[frozenset[int]]
    sizes: list[int]

    def limit(self) -> float:
        """More than any part scores."""
        problem = self.compression.problem
        other = problem.scores[1:]
        return float(problem.scores[0] + other[other > 0].sum()) + 1e-9

    def places(self, nodes: list[int]) -> list[int]:
        """The tokens of a headline, ascending."""
        groups = self.compression.groups
        inside = sorted(place for node in nodes for place in groups[node].tolist())
        words = [place for place in inside if self.read[place]]
        if not words:
            return []
        known = set(inside)
        kept = [place for place in inside if self._is_kept(place, known)]
        lower = [token.lower_ for token in self.tokens]
        commas = set_off(words, lower, self.heads, self.relations, self.read)
        return sorted({*kept, *commas})

    def _is_kept(self, place: int, kept: set[int]) -> bool:
        """Drop punctuation, but for what is inside of a compound of which both parts stay."""
        if self.read[place]:
            return True
        return _hyphen(self.tokens[place]) and {place - 1, place + 1} <= kept

    def text(self, nodes: list[int]) -> str:
        """The headline of some nodes."""
        return _written([self.tokens[place] for place in self.places(nodes)])


@dataclass(frozen=True, eq=False)
class ShortSentences:
    """Shortens the sentences of a text, and ranks them.

    Attributes
    ----------
    unit
        A parsed document or span.
    chances
        How likely each token is in the title. **Shape:** ``(tokens,)``
    least, most
        Words of the result; where no sentence can have so many, the largest number below them.
    max_chars
        The most characters, or None.
    required
        Lower-cased words that the result must have.
    stretched
        Whether more than `most` words are allowed where nothing shorter is feasible.
    """

    unit: Doc | Span
    chances: NDArray[np.float64]
    least: int
    most: int
    max_chars: int | None
    required: tuple[str, ...]
    stretched: bool = False

    def write(self, count: int) -> list[Headline]:
        """Return up to `count` sentences, each shortened in the best way, the best first.

        The certificates compare with the best short sentence of the whole text.
        """
        if not any(is_word(token) for token in list(self.unit)):
            return []
        doc = self.unit if isinstance(self.unit, Doc) else self.unit.doc
        if not doc.has_annotation("DEP"):
            raise ProblemError(
                "mode: 'sentence' shortens sentences along their trees, and the document has "
                "none; add a parser before this component."
            )
        origin = 0 if isinstance(self.unit, Doc) else self.unit.start
        given: Any = self.unit  # a span has sentences too, which its stub lacks
        trees = [
            self._tree(sentence, number, sentence.start - origin)
            for number, sentence in enumerate(given.sents)
            if set(self.required) <= {token.lower_ for token in sentence}
            and any(is_word(token) for token in sentence)
        ]
        sizes = sorted({size for tree in trees for size in tree.sizes})
        limits = [(self.least, self.most)]
        limits += [(size, size) for size in reversed(sizes) if size < self.least]
        if self.stretched:
            limits += [(size, size) for size in sizes if size > self.most]
        undecided = False
        for least, most in limits:
            headlines, bound = self._best(trees, least, most, count, undecided)
            if headlines:
                return headlines
            undecided |= bound > -np.inf
        return []

    def _best(
        self, trees: Sequence[SentenceTree], least: int, most: int, count: int, undecided: bool
    ) -> tuple[list[Headline], float]:
        """The best headlines with so many words, and a bound on them.

        There is no bound if it is `undecided` whether other lengths, which come first, have any.
        """
        found: list[tuple[float, int, str, list[int]]] = []
        bounds: list[float] = [np.inf if undecided else -np.inf]
        for number, tree in enumerate(trees):
            if not any(least <= size <= most for size in tree.sizes):
                continue
            limit = tree.limit()
            ranked = sorted((entry[0] for entry in found), reverse=True)
            if len(ranked) >= count and limit < ranked[count - 1]:
                bounds.append(limit)
                continue
            best = self._search(tree, least, most).best()
            bounds.append(best.bound)
            if best.nodes is not None:
                places = tree.places(best.nodes)
                indices = [tree.tokens[place].i for place in places]
                found.append((best.score, number, tree.text(best.nodes), indices))
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        headlines = [
            Headline(text, indices, [], _certificate(score, max(bounds)), "sentence")
            for score, _, text, indices in found[:count]
        ]
        return headlines, max(bounds)

    def _search(self, tree: SentenceTree, least: int, most: int) -> SubtreeSearch:
        limit = self.max_chars
        weights = np.array(
            [
                sum(_least_characters(tree.tokens[place]) for place in group.tolist())
                for group in tree.compression.groups
            ],
            dtype=np.int64,
        )
        return SubtreeSearch(
            tree.compression.problem,
            least,
            most,
            tree.wanted,
            weights,
            None if limit is None else limit + 1,  # no blank follows the last word
            lambda nodes: limit is None or len(tree.text(nodes)) <= limit,
        )

    def _scores(
        self, tokens: Sequence[Token], words: NDArray[np.bool_], begin: int
    ) -> NDArray[np.float64]:
        content = np.array(
            [
                not (token.is_stop or token.lower_ in TIMES or token.dep_ in ADDRESSING)
                for token in tokens
            ]
        )
        chances = self.chances[begin : begin + len(tokens)] * content
        # an address names nobody that a reader knows
        costs = [1.0 if token.like_url or token.like_email else COST for token in tokens]
        return np.where(words, chances - costs, 0.0)

    def _tree(self, sentence: Span, number: int, begin: int) -> SentenceTree:
        from ...models.headline.compression import compression

        tokens = list(sentence)
        inside = range(sentence.start, sentence.end)
        own = np.arange(len(tokens))
        parsed = np.array(
            [token.head.i - sentence.start if token.head.i in inside else place
             for place, token in enumerate(tokens)]
        )  # fmt: skip
        roots: Any = np.flatnonzero(parsed == own)
        parsed[roots] = roots[0]  # one tree, whatever the parser made of the sentence
        read = np.array([is_word(token) for token in tokens])
        scores = self._scores(tokens, read, begin)
        scores[roots[0]] += LEAD / (1.0 + number)
        scores[roots[0]] -= _cost_of(tokens[roots[0]])
        lower = [token.lower_ for token in tokens]
        plain = [token.dep_ for token in tokens]
        relations = [REQUIRED_PART if _is_part(token) else token.dep_ for token in tokens]
        heads = parsed.copy()
        tied = attach_conjuncts(heads, plain)
        _keep_compounds(tokens, heads, relations)
        _keep_joint_names(tokens, heads, relations)
        numbers = np.array([token.like_num or token.pos_ == "NUM" for token in tokens])
        asking = np.array([_asks(token) for token in tokens])
        tied |= np.array([_is_rank(token) for token in tokens])
        needed = tied | words_of_meaning(lower, heads, plain, numbers, asking)
        tree = compression(heads, relations, needed, scores, read.astype(np.int64))
        wanted = [
            frozenset(
                node
                for node, group in enumerate(tree.groups)
                if any(lower[place] == word for place in group.tolist())
            )
            for word in self.required
        ]
        return SentenceTree(
            tokens, read, parsed, plain, tree, wanted, attainable_sizes(tree.problem)
        )


def _least_characters(token: Token) -> int:
    """What a word takes at least, with a blank after it if there is always one."""
    if not is_word(token):
        return 0
    return len(token.text) + bool(token.whitespace_)


def _certificate(score: float, bound: float) -> Certificate:
    """Certify a sentence by a bound for all sentences."""
    scale = abs(score) + 1.0
    return Certificate.from_bound("TreeKnapsack", score, bound, tolerance=1e-9, scale=scale)


def _cost_of(root: Token) -> float:
    """What a sentence costs that is about what another one names, or is none."""
    subjects = [child for child in root.children if child.dep_.startswith(SUBJECTS)]
    if not subjects:
        return 0.0 if root.pos_ in ("VERB", "") else FRAGMENT
    pronouns = (child for child in subjects if child.dep_.startswith("nsubj"))
    return PRONOUN * any(child.pos_ == "PRON" or child.tag_ == "PRP" for child in pronouns)


def _is_rank(token: Token) -> bool:
    """Whether it says which of several its noun is: "highest", "third"."""
    which = "Degree=Sup" in str(token.morph) or "NumType=Ord" in str(token.morph)
    return which and token.dep_ == "amod"


def _is_part(token: Token) -> bool:
    """Whether its head is less than the whole without it: hyphens, degrees, parts of names."""
    return _hyphen(token) or token.text == "°" or _is_name_part(token)


def _is_name_part(token: Token) -> bool:
    """Whether it belongs to the name that its head is in, such as "Central" to a bank's."""
    head = token.head
    capitals = token.text[:1].isupper() and head.text[:1].isupper()
    return capitals and 0 < head.i - token.i <= 3 and token.dep_ in ("amod", "nmod")


def _keep_compounds(tokens: Sequence[Token], heads: Any, relations: list[str]) -> None:
    """Make the parts around a hyphen or a degree sign depend on each other, to stay together."""
    for place in range(1, len(tokens) - 1):
        if _hyphen(tokens[place]) or tokens[place].text == "°":
            left, right = place - 1, place + 1
            if heads[left] == heads[right] and left != heads[left]:
                heads[left] = right
            for one, other in ((left, right), (right, left)):
                if heads[one] == other:
                    relations[one] = REQUIRED_PART


def _keep_joint_names(tokens: Sequence[Token], heads: Any, relations: list[str]) -> None:
    """Keep both halves of a joint name: "Marks & Spencer", "Mr. and Mrs. Dursley"."""
    for place, (token, following) in enumerate(pairwise(tokens)):
        titled = token.dep_ == "cc" and following.dep_ == "nmod:desc"
        if titled:
            relations[place] = relations[place + 1] = REQUIRED_PART
        name = heads[place + 1] if titled else heads[place]
        if (titled or token.text == "&") and relations[name] == "conj":
            relations[name] = REQUIRED_PART


def is_word(token: Token) -> bool:
    """Whether it is read: spaCy counts percent signs and ampersands among punctuation."""
    if not token.is_punct:
        return not token.is_space
    if token.text in "'’":  # of a plural's owner
        return token.dep_ == "case" or token.tag_ == "POS"
    if token.text == "#":
        return token.i + 1 < len(token.doc) and token.nbor().like_num
    return token.text in SIGNS and token.dep_ != "punct"


def _asks(token: Token) -> bool:
    """Whether it asks, or begins a relative clause."""
    return token.tag_ in ASKING_TAGS or not {"Int", "Rel"}.isdisjoint(
        token.morph.get("PronType", [])
    )


def _hyphen(token: Token) -> bool:
    """Whether it is inside of a compound."""
    return (
        token.is_punct
        and token.i > 0
        and not token.whitespace_
        and not (token.nbor(-1).whitespace_)
        and token.text in "-–/"
    )


def _written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    parts: list[str] = []
    for place, token in enumerate(tokens):
        following: Any = tokens[place + 1] if place + 1 < len(tokens) else None
        adjacent = following is not None and following.i == token.i + 1
        blank = token.whitespace_ if adjacent else " "
        if token.text == "(" or (following is not None and following.text in CLOSING):
            blank = ""
        elif (
            following is not None
            and following.text in ("'", "’", "'s", "’s")
            and is_word(following)
        ):
            blank = ""  # of an owner, even where words between are left out
        parts.append(token.text + ("" if following is None else blank))
    text = "".join(parts).strip()
    return text[:1].upper() + text[1:] if text.split(" ")[0].islower() else text
