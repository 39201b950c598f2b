"""Hand-made patterns of arcs as factors, in the format of spaCy's ``DependencyMatcher``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.matcher import DependencyMatcher, Matcher
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...arrays import Booleans, Integers, checked_list, is_number
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.tree import Factors
    from .tree_scores import SentenceScores

__all__ = ["ArcPattern", "Patterns", "TooManyMatches", "arc_patterns"]


#: Stand for the head of a pattern's first token: any, or the root of the sentence.
TOP, OF_ROOT = -1, -2

#: The operators for an arc, to a dependent or to a sibling, with the side of the later token.
OPERATORS = (">", *(f"{relation}{side}" for relation in ">$" for side in ("+", "-", "++", "--")))

#: The most arcs of a pattern.
MOST_ARCS = 3

#: The largest weight beside which scores are precise enough.
LARGEST_WEIGHT = 1e4

#: The most matches of one pattern in a sentence.
MOST_MATCHES = 200_000


class TooManyMatches(ProblemError):
    """A pattern has more matches in a sentence than can be decoded."""


@dataclass(frozen=True)
class ArcPattern:
    """A set of one to three arcs between tokens that satisfy conditions; heads come first."""

    #: The score that each match in a tree adds.
    weight: float
    #: For each token, the attributes that spaCy's ``Matcher`` compares.
    attributes: tuple[dict[str, Any], ...]
    #: The condition on each token's tag, and on the label of the arc from its head; None for none.
    tags: tuple[Any, ...]
    deps: tuple[Any, ...]
    #: The head of each token, as its number in the pattern; the first has `TOP` or `OF_ROOT`.
    heads: tuple[int, ...]
    #: Rows (left, right, whether adjacent) of tokens whose order is given.
    orders: tuple[tuple[int, int, bool], ...]

    @classmethod
    def of(cls, weight: float, tokens: Sequence[Mapping[str, Any]]) -> ArcPattern:
        """Read one pattern of the option."""
        # spaCy accepts lower case, too
        given = [{key.upper(): of for key, of in token["RIGHT_ATTRS"].items()} for token in tokens]
        if any("OP" in of for of in given):
            raise ProblemError("OP: each token of a pattern must match one token; remove it.")
        is_root = given[0].pop("DEP", None)
        if is_root not in (None, "ROOT"):
            raise ProblemError(
                "DEP of the first token: it has no head in the pattern, so it can only be 'ROOT'."
            )
        heads, orders = [OF_ROOT if is_root else TOP], []
        names = [token["RIGHT_ID"] for token in tokens]
        for number, token in enumerate(tokens[1:], start=1):
            other, operator = names.index(token["LEFT_ID"]), token["REL_OP"]
            if operator not in OPERATORS or (operator[0] == "$" and other == 0):
                raise ProblemError(
                    f"REL_OP: expected one of {' '.join(OPERATORS)}, where a sibling follows a "
                    f"dependant; got {operator!r}. Begin with the head of all."
                )
            heads.append(other if operator[0] == ">" else heads[other])
            if side := operator[1:]:
                pair = (other, number) if side[0] == "+" else (number, other)
                orders.append((*pair, len(side) == 1))
        arcs = sum(head != TOP for head in heads)
        if not 1 <= arcs <= MOST_ARCS:
            raise ProblemError(f"it has {arcs} arcs; expected 1 to {MOST_ARCS}.")
        tags, deps = (tuple(of.pop(key, None) for of in given) for key in ("TAG", "DEP"))
        return cls(float(weight), tuple(given), tags, deps, tuple(heads), tuple(orders))

    def arcs_of(self, places: Integers) -> Integers:
        """Return the arcs of matches, (matches, arcs, 2)."""
        with_root = np.insert(places, 0, 0, axis=1)
        arcs = [(max(head, TOP) + 1, m + 1) for m, head in enumerate(self.heads) if head != TOP]
        return with_root[:, arcs]


def arc_patterns(name: str, value: Any) -> tuple[dict[str, Any], ...]:
    """Return the option `patterns` of a parser, validated, in plain types.

    Raises `ProblemError` if a pattern is invalid; the message names it, and what is expected.

    Examples
    --------
    >>> verb = {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"TAG": "VB"}}
    >>> _ = arc_patterns("patterns", [{"name": "verbs", "weight": 1, "pattern": [verb]}])
    Traceback (most recent call last):
    spacy_decoders.errors.ProblemError: patterns[0] ('verbs'): it has 0 arcs; expected 1 to 3.
    """
    patterns = enumerate(checked_list(name, value, "patterns"))
    return tuple(_checked(f"{name}[{number}]", given) for number, given in patterns)


def _checked(place: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or set(given) != {"name", "weight", "pattern"}:
        raise ProblemError(f"{place}: expected a dict of name, weight and pattern; got {given!r}.")
    weight, name = given["weight"], given["name"]
    if not isinstance(name, str):
        raise ProblemError(f"{place}: expected a text as its name; got {name!r}.")
    place = f"{place} ({name!r})"
    if not is_number(weight) or not 0 < abs(weight) <= LARGEST_WEIGHT:
        raise ProblemError(
            f"{place}: expected a weight other than 0, up to {LARGEST_WEIGHT:g}; got {weight!r}."
        )
    try:
        tokens = checked_list("pattern", given["pattern"], "dicts, one for each token")
        for number, token in enumerate(tokens):
            _check_token(f"pattern[{number}]", token)
        # config files double each dollar
        pattern = [
            {key: re.sub(r"^\$+", "$", of) if key == "REL_OP" else of for key, of in token.items()}
            for token in tokens
        ]
        # names, attributes, their predicates and regular expressions
        DependencyMatcher(Vocab(), validate=True).add("pattern", [pattern])
        ArcPattern.of(weight, pattern)
    except (AttributeError, KeyError, TypeError, ValueError, re.error) as error:
        said = re.sub(r"^.*rule '\d+' Pattern 0: - ", "", " ".join(str(error).split()))
        raise ProblemError(f"{place}: {said}") from None
    return {**given, "weight": float(weight), "pattern": pattern}


def _check_token(place: str, token: Any) -> None:
    """Raise if a token of a pattern has a value of a wrong type, which spaCy would not name."""
    if not isinstance(token, Mapping):
        raise ProblemError(f"{place}: expected a dict; got {token!r}.")
    optional = [key for key in ("LEFT_ID", "REL_OP") if key in token]
    for key in ("RIGHT_ID", "RIGHT_ATTRS", *optional):
        kind, wanted = (Mapping, "a dict") if key == "RIGHT_ATTRS" else (str, "a text")
        if not isinstance(token.get(key), kind):
            raise ProblemError(f"{place}.{key}: expected {wanted}; got {token.get(key)!r}.")


@dataclass(frozen=True)
class Patterns:
    """The patterns of a parser, and the tokens of one document that they may match.

    The tokens of all patterns are concatenated.
    """

    #: The patterns.
    stated: tuple[ArcPattern, ...]
    #: bool (tokens of patterns, labels), the labels that the arc to each may have.
    may_have: Booleans
    #: bool (tokens of patterns, tags + 1), the parser's tags that each may have.
    tagged: Booleans
    #: bool (tokens of patterns, tokens of the document), matches by other attributes.
    may_be: Booleans | None = None

    @classmethod
    def of(
        cls, given: Iterable[Mapping[str, Any]], labels: Sequence[str], tags: Sequence[str]
    ) -> Patterns:
        """Read the result of :func:`arc_patterns`, for a parser's labels, the root last, and tags.

        Raises `ProblemError` if the parser has none of the labels that a pattern names.
        """
        stated = tuple(ArcPattern.of(of["weight"], of["pattern"]) for of in given)
        deps = [dep for pattern in stated for dep in pattern.deps]
        may_have = np.array([_accepted(dep, labels) for dep in deps])
        for dep, accepted in zip(deps, may_have, strict=True):
            if not accepted.any():
                raise ProblemError(
                    f"patterns: the parser has no label {dep!r}; it has {', '.join(labels)}."
                )
        # some tags include morphology
        wholes, parts = list(tags), [tag.partition("|")[0] for tag in tags]
        conditions = [tag for pattern in stated for tag in pattern.tags]
        accepted = [_accepted(of, wholes) | _accepted(of, parts) for of in conditions]
        root = np.zeros((len(conditions), 1), dtype=bool)
        return cls(stated, may_have, np.concatenate([root, np.array(accepted)], axis=1))

    def within(self, doc: Doc) -> Patterns:
        """Return the patterns with the tokens of a document that they may match."""
        matcher = Matcher(doc.vocab)
        attributes = [of for pattern in self.stated for of in pattern.attributes]
        for number, of in enumerate(attributes):
            matcher.add(number, [[of]])
        found = np.zeros((len(attributes), len(doc)), dtype=bool)
        for number, start, _ in matcher(doc):
            found[number, start] = True
        return replace(self, may_be=found)

    def factors(self, sentence: SentenceScores, allowed: Booleans) -> Factors | None:
        """Return a factor for each match of each pattern over the allowed arcs of a sentence.

        Raises `TooManyMatches` if there are more than can be decoded.
        """
        from ...decoders.tree import Factors

        assert self.may_be is not None  # set by `within`
        may_be = np.zeros((len(self.tagged), len(sentence.tokens) + 1), dtype=bool)
        may_be[:, 1:] = self.may_be[:, sentence.tokens] & self.tagged[:, sentence.tags[1:]]
        firsts = accumulate((len(pattern.heads) for pattern in self.stated), initial=0)
        arcs, sizes, worth = [np.zeros((0, 2), dtype=np.int64)], [0], []
        for pattern, first in zip(self.stated, firsts, strict=False):
            own = slice(first, first + len(pattern.heads))
            joined = allowed & self.may_have[own][:, sentence.labels] & may_be[own, None]
            found = pattern.arcs_of(_matches(pattern, may_be[own], joined))
            arcs.append(found.reshape(-1, 2))
            sizes += [found.shape[1]] * len(found)
            worth += [pattern.weight] * len(found)
        # at once, since joining many small collections takes longer
        return Factors(np.concatenate(arcs), np.cumsum(sizes), worth) if worth else None


def _matches(pattern: ArcPattern, may_be: Booleans, joined: Booleans) -> Integers:
    """Return the possible matches of one pattern, as rows of tokens.

    **Shape**: may_be (tokens of the pattern, n + 1); joined (tokens of the pattern, n + 1, n + 1),
    the possible arcs to each token.
    """
    first = may_be[0] & joined[0, 0] if pattern.heads[0] == OF_ROOT else may_be[0]
    found = np.flatnonzero(first)[:, None]
    for token, head in list(enumerate(pattern.heads))[1:]:
        among = joined[token][found[:, head]]
        if among.sum() > MOST_MATCHES:
            raise TooManyMatches(f"patterns: one has more than {MOST_MATCHES:,} matches.")
        places, tokens = np.nonzero(among)
        fits = (found[places] != tokens[:, None]).all(axis=1)
        found = np.concatenate([found[places], tokens[:, None]], axis=1)
        for left, right, adjacent in pattern.orders:
            if max(left, right) == token:
                distance = found[:, right] - found[:, left]
                fits &= distance == 1 if adjacent else distance > 0
        found = found[fits]
    # siblings may swap roles, but each set of arcs counts once
    arcs = np.sort(pattern.arcs_of(found) @ [len(joined[0]), 1], axis=1)
    _, once = np.unique(arcs, axis=0, return_index=True)
    return found[np.sort(once)]


def _accepted(condition: Any, names: Sequence[str]) -> Booleans:
    """Return which names satisfy a condition of spaCy's ``Matcher``; all do if it is None."""
    if condition is None:
        return np.ones(len(names), dtype=bool)
    distinct = list(dict.fromkeys(names))
    doc = Doc(Vocab(), words=distinct)
    matcher = Matcher(doc.vocab)
    matcher.add("condition", [[{"ORTH": condition}]])
    accepted = {distinct[start] for _, start, _ in matcher(doc)}
    return np.array([name in accepted for name in names], dtype=bool)
