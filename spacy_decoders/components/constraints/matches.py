"""The matches of constraints in a document, and descriptions of conflicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spacy.matcher import Matcher, PhraseMatcher
from spacy.tokens import Doc
from spacy.util import filter_spans, get_lang_class
from spacy.vocab import Vocab

from ...errors import ProblemError
from ..extensions import record_list
from .constraint import Constraint

__all__ = ["ConstraintMatcher", "Match", "Source", "WithConstraints", "conflict"]


class Source(NamedTuple):
    """The origin of a demand, as conflicts name it."""

    #: ``constraints[2]``, ``fixed_head``, ``present annotation``.
    name: str
    #: The tokens of the match, or of the annotation: ``doc[start:end]``.
    start: int
    end: int


class Match(NamedTuple):
    """A match of a constraint."""

    #: The index of the constraint in the list.
    number: int
    constraint: Constraint
    #: The tokens of the match are ``doc[start:end]``.
    start: int
    end: int
    #: The label of a span of ``doc.spans``; empty for other matches.
    label: str = ""

    @property
    def tokens(self) -> range:
        """The tokens that are meant; empty if the match has no such token."""
        number = self.constraint.token
        if number is None:
            return range(self.start, self.end)
        return self.token(number)

    def token(self, of: int) -> range:
        """A token of the match by its number; empty if it has no such token."""
        i = self.start + of if of >= 0 else self.end + of
        return range(i, i + 1) if self.start <= i < self.end else range(0)

    @property
    def source(self) -> Source:
        """The constraint and its match, as conflicts name them."""
        return Source(f"constraints[{self.number}]", self.start, self.end)


class ConstraintMatcher:
    """Finds the matches of the constraints of a component's option, given as dictionaries.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> matcher = ConstraintMatcher([{"phrases": ["New York"], "entity": "CITY"}], nlp.vocab)
    >>> [match[2:4] for match in matcher.find(nlp("From New York."))]
    [(1, 3)]
    """

    def __init__(self, given: Sequence[Mapping[str, Any]], vocab: Vocab) -> None:
        self.given = given
        self.vocab = vocab
        self.constraints = [Constraint(**constraint) for constraint in given]
        self._matchers = [_matcher(constraint, vocab) for constraint in self.constraints]

    def __reduce__(self) -> tuple[Any, ...]:
        # making a matcher is faster than sending it to another process
        return type(self), (self.given, self.vocab)

    def find(self, doc: Doc) -> list[Match]:
        """Return all matches in a document, constraint by constraint."""
        return [
            Match(number, constraint, start, end, label)
            for number, constraint in enumerate(self.constraints)
            for start, end, label in self._spans(number, constraint, doc)
        ]

    def _spans(
        self, number: int, constraint: Constraint, doc: Doc
    ) -> Iterable[tuple[int, int, str]]:
        if constraint.spans is not None:
            spans = doc.spans.get(constraint.spans, ())
            return [(span.start, span.end, span.label_) for span in spans if len(span)]
        found = [doc[start:end] for _, start, end in self._matchers[number](doc) if end > start]
        if constraint.pattern is None or constraint.about in ("entities", "links"):
            found = filter_spans(found)
        return sorted({(span.start, span.end, "") for span in found})


class WithConstraints:
    """A mixin that finds the matches of the option `constraints`, and reports conflicts.

    It comes before :class:`~spacy_decoders.components.decoding_pipe.DecodingPipe` in the bases.
    """

    vocab: Vocab
    name: str
    constraints: Any
    warn_once: Callable[..., None]
    _matcher: ConstraintMatcher | None = None

    def configure(self, **values: Any) -> None:
        """Set several options at once, all or none."""
        if "constraints" in values:
            given = self._checked("constraints", values["constraints"])  # type: ignore[attr-defined]
            _check_tokens(given, self.vocab)
        super().configure(**values)  # type: ignore[misc]

    def matches_in(self, doc: Doc) -> list[Match]:
        """Return the matches of the constraints in a document."""
        if not self.constraints:
            return []
        matcher = self._matcher
        # matchers belong to a vocabulary, and a sourced component may get Docs of another
        if (
            matcher is None
            or matcher.given is not self.constraints
            or matcher.vocab is not doc.vocab
        ):
            matcher = self._matcher = ConstraintMatcher(self.constraints, doc.vocab)
        return matcher.find(doc)

    def record_conflicts(self, doc: Doc, found: Sequence[dict[str, Any]]) -> None:
        """Write conflicts to ``doc._.conflicts``; warn of the first."""
        record_list(doc, self.name, "conflicts", found)
        if found:
            demands = found[0]["demands"]
            named = " and ".join(f"{of['source']} on {of['text']!r:.80}" for of in demands[:3])
            self.warn_once(
                f"{named} can't hold, and what they are about is left out (later conflicts are "
                "not reported; doc._.conflicts lists all).",
                topic="conflicts",
            )


def conflict(
    doc: Doc, start: int, end: int, sources: Iterable[Source], *, is_least: bool = True
) -> dict[str, Any]:
    """Describe a conflict of demands in ``doc[start:end]``, in plain types.

    ``"is_least": False`` marks one whose sources may be more than needed.
    """
    described: dict[str, Any] = {
        "start": start,
        "end": end,
        "demands": [
            {
                "source": source.name,
                "start": source.start,
                "end": source.end,
                "text": doc[source.start : source.end].text,
            }
            for source in dict.fromkeys(sources)
        ],
    }
    return described if is_least else {**described, "is_least": False}


def _matcher(constraint: Constraint, vocab: Vocab) -> Any:
    if constraint.phrases is None:
        matcher: Any = Matcher(vocab)
        if constraint.pattern is not None:
            matcher.add("constraint", constraint.pattern)
        return matcher
    matcher = PhraseMatcher(vocab, attr=constraint.attr)
    matcher.add("constraint", _phrases(vocab, constraint.phrases))
    return matcher


def _phrases(vocab: Vocab, phrases: Iterable[str]) -> list[Doc]:
    """Return phrases as documents, by the tokenizer of the vocabulary's language."""
    tokenizer = get_lang_class(vocab.lang or "xx")(vocab).tokenizer
    return [doc for phrase in phrases if len(doc := tokenizer(phrase.strip()))]


def _check_tokens(constraints: Iterable[Mapping[str, Any]], vocab: Vocab) -> None:
    """Raise if no match of a constraint can have the tokens that it means."""
    for number, given in enumerate(constraints):
        keys = [key for key in ("token", "head") if given.get(key) is not None]
        longest = _longest_match(given, vocab) if keys else None
        for key in keys:
            if longest and not -longest <= given[key] < longest:
                raise ProblemError(
                    f"constraints[{number}].{key}: no match has a token {given[key]}; the longest "
                    f"has {longest}, counted from 0, or from -1 at the end."
                )
        alone = keys == ["head"] and longest == 1
        if alone or (len(keys) == 2 and given["token"] == given["head"]):
            raise ProblemError(
                f"constraints[{number}].head: a token can't be its own head; let a match have "
                "the head beside it, or demand `root`."
            )


def _longest_match(given: Mapping[str, Any], vocab: Vocab) -> int | None:
    """The number of tokens of a constraint's longest match; None if unlimited or unknown."""
    if "phrases" in given:
        return max(map(len, _phrases(vocab, given["phrases"])), default=None)
    patterns = given.get("pattern") or []
    keys = {str(key).upper() for pattern in patterns for token in pattern for key in token}
    return None if "OP" in keys else max(map(len, patterns), default=None)
