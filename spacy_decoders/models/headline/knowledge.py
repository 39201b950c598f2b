"""What is counted in a corpus of titled texts: stems, titles, bigrams, auxiliaries, lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..saved import array_of, counts_of, damaged, fields_of, saved_counts, whole_number
from .bigrams import BigramModel
from .words import Vertices, Words

__all__ = ["AUXILIARIES", "HeadlineKnowledge", "Title"]

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]

NO_KEYS, NO_COUNTS = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
NO_TITLES = np.empty((0, 3), dtype=np.int64)

#: The lower-cased words of a title, and whether each is content.
Title = Sequence[tuple[str, bool]]
#: Content words of a headline, at least and at most, where no titles have been counted.
DEFAULT_LENGTHS = (2, 5)
#: Words between content words; the number that the paper uses.
AUXILIARY_COUNT = 24
#: Function words that begin at least this share of titles, and as many titles, may begin a phrase.
OPENER_SHARE, OPENER_COUNT = 0.004, 3
#: Prepositions and articles by language, where no titles have been counted.
AUXILIARIES = {
    "en": (
        "a", "an", "the", "of", "in", "on", "for", "to", "with", "by", "from", "at", "as", "into",
        "and", "or", "between", "over", "without", "through", "via", "under", "against", "using",
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class HeadlineKnowledge:
    """Counts of a corpus of titled texts; those of no text by default."""

    #: The stems of texts and titles as ascending keys. **Shape:** ``(s,)``
    stems: Keys = field(default_factory=NO_KEYS.copy)
    #: How many texts have each stem. **Shape:** ``(s,)``
    texts: Counts = field(default_factory=NO_COUNTS.copy)
    #: How many titles have it anywhere, first and last. **Shape:** ``(s, 3)``
    titles: Counts = field(default_factory=NO_TITLES.copy)
    #: Pairs of stems that follow each other in titles as ascending keys. **Shape:** ``(p,)``
    pairs: Keys = field(default_factory=NO_KEYS.copy)
    #: How many titles have each pair. **Shape:** ``(p,)``
    pair_counts: Counts = field(default_factory=NO_COUNTS.copy)
    #: Function words that titles begin with, as ascending keys. **Shape:** ``(o,)``
    openers: Keys = field(default_factory=NO_KEYS.copy)
    #: The number of texts.
    size: int = 0
    #: The mean number of words of a title.
    title_words: float = 4.0
    #: Content words of a title, from the 25th to the 95th percentile, at least 2 where
    #: titles of 2 occur.
    lengths: tuple[int, int] = DEFAULT_LENGTHS
    #: Words that may stand between content words.
    auxiliaries: tuple[str, ...] = ()
    #: Bigrams of the texts; None before training: each text is then its own corpus.
    language_model: BigramModel | None = None

    @classmethod
    def untrained(cls, language: str) -> HeadlineKnowledge:
        """Return the defaults of a language, for use without a corpus."""
        return cls(auxiliaries=AUXILIARIES.get(language, ()))

    @classmethod
    def count(
        cls,
        texts: Sequence[Words],
        titles: Sequence[Title],
        title_keys: Sequence[Keys],
        language: str,
        *,
        bigrams: bool = True,
    ) -> HeadlineKnowledge:
        """Count texts and their titles.

        Parameters
        ----------
        texts
            The bodies.
        titles
            The title of each.
        title_keys
            The key of each word of each title, that of its stem if it is content.
        language
            The language code.
        bigrams
            Whether to count a language model, which takes most of the time.
        """
        titled = [(*pair,) for pair in zip(titles, title_keys, strict=True) if len(pair[0])]
        bodies = [np.unique(Vertices.of(words).stems) for words in texts]
        keys = [title for _, title in titled]
        stems = np.unique(np.concatenate([NO_KEYS, *bodies, *keys]))

        def counted(found: Sequence[Keys]) -> Counts:
            places = np.searchsorted(stems, np.concatenate([NO_KEYS, *found]))
            return np.bincount(places, minlength=len(stems)).astype(np.int64)

        pairs, pair_counts = np.unique(
            np.concatenate([NO_KEYS, *(np.unique(_pairs(of[:-1], of[1:])) for of in keys)]),
            return_counts=True,
        )
        of_titles = [np.unique(title) for title in keys], [of[:1] for of in keys]
        sizes = [size for title in titles if (size := sum(content for _, content in title))]
        lengths = DEFAULT_LENGTHS
        if sizes:
            low, high = np.percentile(sizes, [25, 95])
            lengths = max(int(low), min(2, int(high))), int(np.ceil(high))
        auxiliaries = _auxiliaries(titles, language)
        return cls(
            stems,
            counted(bodies),
            np.column_stack([*map(counted, of_titles), counted([of[-1:] for of in keys])]),
            pairs,
            pair_counts,
            _openers(titled, {*AUXILIARIES.get(language, ()), *auxiliaries}),
            len(texts),
            float(np.mean([len(title) for title in keys])) if keys else 4.0,
            lengths,
            auxiliaries,
            BigramModel.count(run for of in texts for run in of.runs()) if bigrams else None,
        )

    def look_up(self, stems: Keys) -> tuple[Counts, Counts]:
        """Texts with each stem, and titles with it anywhere, first and last.

        **Shapes:** ``(n,)``, ``(n, 3)``
        """
        place, known = _found(self.stems, stems)
        if not len(self.stems):
            return np.zeros(len(stems), dtype=np.int64), np.zeros((len(stems), 3), dtype=np.int64)
        return self.texts[place] * known, self.titles[place] * known[:, None]

    def pairs_of(self, first: Keys, second: Keys) -> Counts:
        """Titles in which the second stem follows the first. **Shape:** ``(n,)``"""
        place, known = _found(self.pairs, _pairs(first, second))
        return self.pair_counts[place] * known if len(self.pairs) else np.zeros(len(first), "l")

    def as_dict(self) -> dict[str, Any]:
        """Arrays and plain types, for saving."""
        saved = {of.name: saved_counts(getattr(self, of.name)) for of in fields(self)}
        model = self.language_model
        lists = {name: list(saved[name]) for name in ("lengths", "auxiliaries")}
        return {**saved, **lists, "language_model": None if model is None else model.arrays()}

    @classmethod
    def from_dict(cls, saved: Any) -> HeadlineKnowledge:
        """Restore what `as_dict` returned.

        Raises
        ------
        StorageError
            If it is something else.
        """
        part = "knowledge"
        given = fields_of(saved, [of.name for of in fields(cls)], part)
        stems, texts, titles, pairs, pair_counts, openers, size, words, lengths, *others = given
        auxiliaries, model = others
        stems, pairs, openers = (
            array_of(keys, np.uint64, (-1,), part) for keys in (stems, pairs, openers)
        )
        if not all(isinstance(word, str) for word in auxiliaries):
            raise damaged(f"{part}, auxiliaries", "expected words")
        least, most = (whole_number(size, 1, 1 << 31, f"{part}, lengths") for size in lengths)
        return cls(
            stems,
            counts_of(texts, (len(stems),), part),
            counts_of(titles, (len(stems), 3), part),
            pairs,
            counts_of(pair_counts, (len(pairs),), part),
            openers,
            whole_number(size, 0, 1 << 62, part),
            float(words),
            (least, most),
            tuple(auxiliaries),
            None if model is None else BigramModel.restored(model),
        )


def _found(known: Keys, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of each key among some that ascend, and whether it is there."""
    place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    return place, known[place] == keys if len(known) else np.zeros(len(keys), dtype=bool)


def _pairs(first: Keys, second: Keys) -> Keys:
    """One key for each ordered pair of keys."""
    return np.asarray((first ^ (first >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + second)


def _openers(titled: Sequence[tuple[Title, Keys]], known: set[str]) -> Keys:
    """The function words that titles begin with, but for articles and prepositions."""
    seen = Counter(
        int(keys[0]) for words, keys in titled if not words[0][1] and words[0][0] not in known
    )
    least = max(OPENER_COUNT, OPENER_SHARE * len(titled))
    return np.array(sorted(word for word, count in seen.items() if count >= least), np.uint64)


def _auxiliaries(titles: Sequence[Title], language: str) -> tuple[str, ...]:
    """The words that most often stand between content words of titles, or the language's."""
    counts: Counter[str] = Counter()
    for title in titles:
        for place in range(1, len(title) - 1):
            (_, left), (word, content), (_, right) = title[place - 1 : place + 2]
            if left and right and not content:
                counts[word] += 1
    found = [word for word, times in counts.most_common(AUXILIARY_COUNT) if times > 1]
    others = [word for word in AUXILIARIES.get(language, ()) if word not in found]
    return (*found, *others[: AUXILIARY_COUNT - len(found)])
