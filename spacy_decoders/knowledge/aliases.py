"""Aliases: how they are written, and the concepts that they may mean, with frequencies."""

import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Floats32, Integers32, checked_list
from ..errors import ProblemError
from .database import Database

__all__ = ["CASES", "AliasTable", "Meanings", "in_case", "letter_case", "normalise"]


def normalise(alias: str) -> str:
    """Reduce an alias to its stored form.

    Unicode compatibility forms, case, the shape of apostrophes and runs of white space make no
    difference.

    Examples
    --------
    >>> normalise("  Ｏ’Hare\\nAirport ")
    "o'hare airport"
    """
    plain = unicodedata.normalize("NFKC", alias).replace("’", "'")
    return " ".join(plain.casefold().split())


#: The longest alias that is looked for in a text, in words.
_LONGEST = 6
#: The letter cases that are told apart.
CASES = ("lower", "capitalised", "upper", "mixed")


@lru_cache(maxsize=2**14)
def letter_case(text: str) -> int:
    """The index in `CASES` of the letter case of a text.

    Examples
    --------
    >>> [CASES[letter_case(name)] for name in ("mercury", "Mercury", "NASA", "iPod", "A", "42")]
    ['lower', 'capitalised', 'upper', 'mixed', 'capitalised', 'lower']
    """
    if text.islower():
        return 0
    if text.isupper():
        # a single capital letter begins a name rather than being an acronym
        return 2 if sum(map(str.isupper, text)) > 1 else 1
    for character in text:
        if character.isupper() or character.istitle():
            return 1
        if character.islower():
            return 3
    return 0


def in_case(alias: str, case: int) -> str:
    """Write a normalised alias in the letter case that has an index in `CASES`.

    Examples
    --------
    >>> [in_case("the sun", case) for case in range(4)]
    ['the sun', 'The sun', 'THE SUN', 'tHe sun']
    """
    letters = [place for place, letter in enumerate(alias) if letter.islower()]
    large = ((), letters[:1], letters, letters[1:2])[case]
    return "".join(c.upper() if place in large else c for place, c in enumerate(alias))


class Meanings(NamedTuple):
    """The concepts that an alias may mean, the most frequent first; ties by number."""

    #: The numbers of the concepts. **Shape:** ``(candidates,)``
    concepts: Integers32
    #: The share of the alias's uses that mean each. **Shape:** ``(candidates,)``
    priors: Floats32
    #: The share of each candidate's uses under this alias that are written in each of
    #: :data:`CASES`; NaN where that is unknown. **Shape:** ``(4, candidates)``
    shares: Floats32
    #: The share of the alias's occurrences in texts that are links; None where unknown.
    link: float | None

    def written(self, *texts: str) -> Floats32:
        """The share of each candidate's uses that are in the letter case of a text.

        Of several texts the largest share; NaN where that is unknown. **Shape:**
        ``(candidates,)``
        """
        share: Floats32
        share, *others = (self.shares[letter_case(text)] for text in texts)
        for other in others:
            share = np.fmax(share, other)
        return share


_NONE = Meanings(
    np.empty(0, np.int32),
    np.empty(0, np.float32),
    np.empty((len(CASES), 0), np.float32),
    None,
)


class AliasTable:
    """The aliases of a base, whatever their case.

    Examples
    --------
    >>> from .concept_base import ConceptBase
    >>> base = ConceptBase.build([{"id": "cat", "aliases": ["jaguar"]}])
    >>> concepts, priors = base.aliases.candidates("JAGUAR")
    >>> [base.id(concept) for concept in concepts], priors.tolist()
    (['cat'], [1.0])
    >>> "Puma" in base.aliases
    False
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def __len__(self) -> int:
        """The number of aliases; all are counted, which takes seconds for ten million."""
        aliases = "SELECT 1 FROM candidates GROUP BY alias"
        return int(self.database.ask_one(f"SELECT count(*) FROM ({aliases})"))

    def __contains__(self, alias: str) -> bool:
        return bool(self.find([alias])[0])

    def find(self, aliases: Sequence[str]) -> list[Meanings | None]:
        """The candidates of each alias, None where it is unknown; all by one query.

        Raises `ProblemError` if `aliases` is no list of strings.
        """
        try:
            names = [*map(normalise, checked_list("aliases", aliases, "strings"))]
        except TypeError:
            raise ProblemError(f"aliases: expected strings; got {aliases!r}.") from None
        cache = self.database.cache("aliases")
        missing = {*names}.difference(cache)
        if missing:
            # read before any is noted as unknown: reading may fail
            cache.update({**dict.fromkeys(missing), **self._read(missing)})
        return [*map(cache.__getitem__, names)]

    def find_in(
        self,
        words: Sequence[str],
        blanks: Sequence[int],
        fit: Sequence[bool],
        ends: Iterable[int] = (),
    ) -> list[tuple[int, int, str]]:
        """Find the aliases of up to six words in texts: the start, stop and text of each.

        `words` are those of all texts, `blanks` the number of spaces after each word, `fit`
        whether an alias may begin or end with it, and `ends` where the texts end.

        Examples
        --------
        >>> from .concept_base import ConceptBase
        >>> base = ConceptBase.build([{"id": "cat", "aliases": ["big cat"]}])
        >>> base.aliases.find_in(["The", "Big", "cat", "sleeps"], [1, 1, 1, 0], [True] * 4)
        [(1, 3, 'Big cat'), (2, 3, 'cat')]
        """
        ends = {len(words), *ends}
        begins = self._begins({*itertools.compress(words, fit)})  # most words begin no alias
        found: list[tuple[int, int, str]] = []
        for start in itertools.compress(range(len(words)), fit):
            form = words[start]
            for stop in range(start, start + _LONGEST) if begins[form] else ():
                if fit[stop]:
                    found.append((start, stop + 1, form))
                if stop + 1 in ends:
                    break
                form += " " * blanks[stop] + words[stop + 1]
        return [*itertools.compress(found, self.find([form for *_, form in found]))]

    def _begins(self, words: set[str]) -> dict[str, bool]:
        """Whether an alias begins with each word."""
        cache: dict[str, bool] = self.database.cache("begins")
        missing = [*words.difference(cache)]
        if missing:
            keys = [*map(normalise, missing)]
            rows = self.database.ask_many(
                "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM candidates "
                "WHERE alias >= value AND alias < value || char(1114111))",
                {*keys} - {""},
            )
            known = {*itertools.chain.from_iterable(rows)}
            cache.update((word, key in known) for word, key in zip(missing, keys, strict=True))
        return cache

    def candidates(self, alias: str) -> tuple[Integers32, Floats32]:
        """Concepts and priors of one alias, the most frequent first; none if unknown."""
        return self.all_of(alias)[:2]

    def all_of(self, alias: str) -> Meanings:
        """All that is known of one alias's candidates; none if it is unknown."""
        (found,) = self.find([alias])
        return found or _NONE

    def _read(self, aliases: Iterable[str]) -> dict[str, Meanings]:
        rows = self.database.ask_many(
            "SELECT alias, concept, count, lower, capitalised, upper, mixed, coalesce(link, -1) "
            "FROM candidates WHERE alias IN (SELECT value FROM json_each(?)) "
            "ORDER BY alias, count DESC, concept",
            aliases,
        )
        if not rows:
            return {}
        names, *columns = zip(*rows, strict=True)
        try:
            numbers, counts, *cases, links = (np.array(column, np.float64) for column in columns)
            table = np.stack(cases)
            whole = all(isinstance(name, str) for name in names)
        except (TypeError, ValueError) as error:
            raise self.database.damaged(error) from error
        concepts = numbers.astype(np.int32)
        if not (
            whole
            and (concepts == numbers).all()
            and concepts.min() >= 0
            and concepts.max() < self.database.size
            and counts.min() > 0
            and np.isfinite(counts).all()
            and table.min() >= 0
            and np.isfinite(table).all()
        ):
            raise self.database.damaged("an alias has an invalid candidate")
        with np.errstate(invalid="ignore"):
            shares = (table / table.sum(axis=0)).astype(np.float32)
        begins = [i for i, name in enumerate(names) if not i or name != names[i - 1]]
        sums = np.add.reduceat(counts, begins)
        ends = [*begins[1:], len(names)]
        priors = (counts / np.repeat(sums, np.diff([*begins, len(names)]))).astype(np.float32)
        return {
            names[start]: Meanings(
                concepts[start:stop],
                priors[start:stop],
                shares[:, start:stop],
                None if links[start] < 0 else float(links[start]),
            )
            for start, stop in zip(begins, ends, strict=True)
        }
