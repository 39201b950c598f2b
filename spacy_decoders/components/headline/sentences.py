"""Headlines that are sentences: one of the text's own, shortened along its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, Token

from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError
from .headlines import Headline

if TYPE_CHECKING:
    from ...models.headline.compression import Compression

__all__ = ["USUAL_WORDS", "ShortSentences"]

#: The most words of a sentence whose length is automatic, and the least of one that says anything.
USUAL_WORDS = (4, 12)
#: What a word costs: the selection of words must expect it in the title more often than this.
COST = 0.06
#: A sentence counts this much more the earlier it is.
LEAD = 0.5
#: What a pronoun as the subject costs: it refers to another sentence.
PRONOUN = 0.5
#: A relation that is always required.
REQUIRED_PART = "fixed"
#: Words that negate, beside those that the parser says do.
NEGATIONS = frozenset({"not", "n't", "n’t", "never", "no", "nor", "neither", "without"})


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
        Words of the result.
    max_chars
        The most characters, or None.
    required
        Lower-cased words that the result must have.
    """

    unit: Doc | Span
    chances: NDArray[np.float64]
    least: int
    most: int
    max_chars: int | None
    required: tuple[str, ...]

    def write(self, count: int) -> list[Headline]:
        """Return up to `count` sentences, each shortened in the best way, the best first.

        The certificates compare with the best short sentence of the whole text.
        """
        doc = self.unit if isinstance(self.unit, Doc) else self.unit.doc
        if not doc.has_annotation("DEP"):
            raise ProblemError(
                "mode: 'sentence' shortens sentences along their trees, and the document has "
                "none; add a parser before this component."
            )
        origin = 0 if isinstance(self.unit, Doc) else self.unit.start
        found: list[tuple[float, int, Headline]] = []
        bounds: list[float] = []
        given: Any = self.unit  # a span has sentences too, which its stub lacks
        for number, sentence in enumerate(given.sents):
            if not set(self.required) <= {token.lower_ for token in sentence}:
                continue
            limit = self._limit(sentence, number, sentence.start - origin)
            ranked = sorted((score for score, _, _ in found), reverse=True)
            if len(ranked) >= count and limit < ranked[count - 1]:
                bounds.append(limit)
                continue
            headline = self._shorten(sentence, number, sentence.start - origin)
            if headline is not None:
                score, bound = headline.certificate.score, headline.certificate.bound
                assert score is not None
                assert bound is not None
                bounds.append(bound)
                found.append((score, number, headline))
        found.sort(key=lambda entry: (-entry[0], entry[1]))
        return [_against(headline, max(bounds)) for _, _, headline in found[:count]]

    def _scores(self, tokens: Sequence[Token], number: int, begin: int) -> NDArray[np.float64]:
        words = np.array([_is_word(token) for token in tokens])
        content = np.array([not token.is_stop for token in tokens])
        chances = self.chances[begin : begin + len(tokens)] * content
        return np.where(words, chances - COST, 0.0)

    def _limit(self, sentence: Span, number: int, begin: int) -> float:
        """More than any part of the sentence scores."""
        scores = self._scores(list(sentence), number, begin)
        best = np.sort(scores[scores > 0])[::-1][: self.most]
        return float(best.sum()) + LEAD / (1.0 + number) + 1e-9

    def _shorten(self, sentence: Span, number: int, begin: int) -> Headline | None:
        from ...decoders.path import TreeKnapsack
        from ...models.headline.compression import compression

        tokens = list(sentence)
        inside = range(sentence.start, sentence.end)
        own = np.arange(len(tokens))
        heads = np.array(
            [token.head.i - sentence.start if token.head.i in inside else place
             for place, token in enumerate(tokens)]
        )  # fmt: skip
        roots: Any = np.flatnonzero(heads == own)
        heads[roots] = roots[0]  # one tree, whatever the parser made of the sentence
        scores = self._scores(tokens, number, begin)
        scores[roots[0]] += LEAD / (1.0 + number)
        if any(_is_pronoun_subject(token) for token in tokens[roots[0]].children):
            scores[roots[0]] -= PRONOUN
        sizes = np.array([int(_is_word(token)) for token in tokens])
        relations = [
            REQUIRED_PART if _hyphen(token) or _is_name_part(token) else token.dep_
            for token in tokens
        ]
        _keep_compounds(tokens, heads, relations)
        negations = np.array([token.lower_ in NEGATIONS for token in tokens])
        tree = compression(heads, relations, negations, scores, sizes)
        tree = self._with_required(tree, tokens)
        for most in range(self.most, 0, -1):
            try:
                solution = TreeKnapsack().decode(tree.problem, most)
            except InfeasibleError:
                return None
            kept = np.sort(np.concatenate([tree.groups[node] for node in solution.nodes.tolist()]))
            kept = np.array([place for place in kept.tolist() if _is_kept(tokens, place, kept)])
            text = _written([tokens[place] for place in kept.tolist()])
            if int(sizes[kept].sum()) < self.least:
                return None
            if not set(self.required) <= {tokens[place].lower_ for place in kept.tolist()}:
                return None
            if self.max_chars is None or len(text) <= self.max_chars:
                indices = [tokens[place].i for place in kept.tolist()]
                return Headline(text, indices, [], solution.certificate)
        return None

    def _with_required(self, tree: Compression, tokens: Sequence[Token]) -> Compression:
        """Make the nodes with required words, and all above them, part of the root."""
        if not self.required:
            return tree
        from ...decoders.path import SubtreeProblem
        from ...models.headline.compression import Compression

        parents = tree.problem.parents.tolist()
        joined = {0}
        wanted = set(self.required)
        for node, group in enumerate(tree.groups):
            here = {tokens[place].lower_ for place in group.tolist()} & wanted
            if here:
                wanted -= here
                while node > 0:
                    joined.add(node)
                    node = parents[node]
        kept = [node for node in range(len(parents)) if node == 0 or node not in joined]
        number = {node: place for place, node in enumerate(kept)} | dict.fromkeys(joined, 0)
        count = len(kept)
        of = np.array([number[node] for node in range(len(parents))])
        groups = [
            np.sort(np.concatenate([tree.groups[node] for node in np.flatnonzero(of == place)]))
            for place in range(count)
        ]
        problem = SubtreeProblem(
            np.bincount(of, weights=tree.problem.scores, minlength=count),
            [-1, *(number[parents[node]] for node in kept[1:])],
            np.bincount(of, weights=tree.problem.sizes, minlength=count).astype(np.int64),
        )
        return Compression(problem, groups)


def _against(headline: Headline, bound: float) -> Headline:
    """Certify a sentence by a bound for all sentences."""
    own = headline.certificate
    assert own.score is not None
    certificate = Certificate.from_bound(
        own.decoder, own.score, bound, tolerance=own.tolerance, scale=abs(own.score) + 1.0
    )
    return replace(headline, certificate=certificate)


def _is_pronoun_subject(token: Token) -> bool:
    """Whether the sentence is about something that another sentence names."""
    return token.dep_.startswith("nsubj") and (token.pos_ == "PRON" or token.tag_ == "PRP")


def _is_name_part(token: Token) -> bool:
    """Whether it belongs to the name that its head is in, such as "Central" to a bank's."""
    head = token.head
    capitals = token.text[:1].isupper() and head.text[:1].isupper()
    return capitals and 0 < head.i - token.i <= 3 and token.dep_ in ("amod", "nmod")


def _keep_compounds(tokens: Sequence[Token], heads: Any, relations: list[str]) -> None:
    """Make the parts around a hyphen depend on each other, so that they stay together."""
    for place in range(1, len(tokens) - 1):
        if _hyphen(tokens[place]):
            left, right = place - 1, place + 1
            if heads[left] == heads[right] and left != heads[left]:
                heads[left] = right
            for one, other in ((left, right), (right, left)):
                if heads[one] == other:
                    relations[one] = REQUIRED_PART


def _is_word(token: Token) -> bool:
    return not (token.is_punct or token.is_space)


def _hyphen(token: Token) -> bool:
    """Whether it is inside of a compound."""
    return (
        token.is_punct
        and token.i > 0
        and not token.whitespace_
        and not (token.nbor(-1).whitespace_)
        and token.text in "-–/"
    )


def _is_kept(tokens: Sequence[Token], place: int, kept: NDArray[np.int64]) -> bool:
    """Drop punctuation, but for what is inside of a compound of which both parts stay."""
    if _is_word(tokens[place]):
        return True
    return _hyphen(tokens[place]) and {place - 1, place + 1} <= set(kept.tolist())


def _written(tokens: Sequence[Token]) -> str:
    """The words as a line, blanks where the text has them or words between are left out."""
    parts: list[str] = []
    for place, token in enumerate(tokens):
        following: Any = tokens[place + 1] if place + 1 < len(tokens) else None
        adjacent = following is not None and following.i == token.i + 1
        blank = token.whitespace_ if adjacent else " "
        parts.append(token.text + ("" if following is None else blank))
    text = "".join(parts).strip()
    return text[:1].upper() + text[1:]
