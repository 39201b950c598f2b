"""Counts of a corpus of titled texts: stems, titles, bigrams, auxiliary words, lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import srsly
from numpy.typing import NDArray
from thinc.model import deserialize_attr, serialize_attr

from ...arrays import Integers
from ..saved import array_of, damaged, reading, whole_number
from .bigrams import BigramModel
from .words import TextTokens

__all__ = ["AUXILIARIES", "HeadlineKnowledge", "TitledText"]

Keys = NDArray[np.uint64]

NO_KEYS, NO_COUNTS = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)

#: The least and largest number of content words of a headline, if no titles were counted.
DEFAULT_LENGTHS = (2, 5)
#: The number of words that may stand between content words, as in the paper.
AUXILIARY_COUNT = 24
#: Prepositions and articles by language, if no titles were counted.
AUXILIARIES = {
    "en": (
        "a", "an", "the", "of", "in", "on", "for", "to", "with", "by", "from", "at", "as", "into",
        "and", "or", "between", "over", "without", "through", "via", "under", "against", "using",
    ),
}  # fmt: skip


class TitledText(NamedTuple):
    """A text with its title."""

    tokens: TextTokens
    #: The lower-cased words of its title, and whether each is content.
    title: list[tuple[str, bool]]
    #: The key of each word of the title, or of its stem if it is content.
    keys: Keys

    @property
    def content(self) -> Keys:
        """The keys of the title's content words."""
        return self.keys[[content for _, content in self.title]]


@dataclass(frozen=True, eq=False)
class HeadlineKnowledge:
    """Counts of a corpus of titled texts; by default, of an empty one."""

    #: The stems of texts and titles as ascending keys. **Shape:** ``(s,)``
    stems: Keys = field(default_factory=NO_KEYS.copy)
    #: The number of texts that have each stem. **Shape:** ``(s,)``
    texts: Integers = field(default_factory=NO_COUNTS.copy)
    #: The number of titles that have it. **Shape:** ``(s,)``
    titles: Integers = field(default_factory=NO_COUNTS.copy)
    #: The number of texts.
    size: int = 0
    #: The mean number of words of a title.
    title_words: float = 4.0
    #: The 25th and 95th percentile of the number of content words of titles; the first is at least
    #: 2 if the second is.
    lengths: tuple[int, int] = DEFAULT_LENGTHS
    #: Words that may stand between content words.
    auxiliaries: tuple[str, ...] = ()
    #: Bigrams of the texts; None before training, when each text is its own corpus.
    language_model: BigramModel | None = None

    @classmethod
    def count(
        cls, texts: Sequence[TitledText], language: str, *, bigrams: bool = True
    ) -> HeadlineKnowledge:
        """Count texts and their titles, and `bigrams`, which takes most of the time."""
        bodies = [np.unique(of.tokens.stems[of.tokens.content]) for of in texts]
        titles = [of.title for of in texts]
        keys = [of.keys for of in texts if len(of.keys)]
        stems = np.unique(np.concatenate([NO_KEYS, *bodies, *keys]))

        def counted(found: Sequence[Keys]) -> Integers:
            places = np.searchsorted(stems, np.concatenate([NO_KEYS, *found]))
            return np.bincount(places, minlength=len(stems)).astype(np.int64)

        sizes = [size for title in titles if (size := sum(content for _, content in title))]
        lengths = DEFAULT_LENGTHS
        if sizes:
            low, high = np.percentile(sizes, [25, 95])
            lengths = max(int(low), min(2, int(high))), int(np.ceil(high))
        return cls(
            stems,
            counted(bodies),
            counted([np.unique(title) for title in keys]),
            len(texts),
            float(np.mean([len(title) for title in keys])) if keys else 4.0,
            lengths,
            _auxiliaries(titles, language),
            BigramModel.count(x for of in texts for x in of.tokens.runs()) if bigrams else None,
        )

    def look_up(self, stems: Keys) -> tuple[Integers, Integers]:
        """The numbers of texts and titles that have each stem. **Shape of both:** ``(n,)``"""
        if not len(self.stems):
            nothing = np.zeros(len(stems), dtype=np.int64)
            return nothing, nothing
        place = np.minimum(np.searchsorted(self.stems, stems), len(self.stems) - 1)
        known = self.stems[place] == stems
        return self.texts[place] * known, self.titles[place] * known

    def to_bytes(self) -> bytes:
        """Return the counts as bytes: arrays and plain types, counts in four bytes."""
        lists = {name: list(getattr(self, name)) for name in ("lengths", "auxiliaries")}
        counts = {name: getattr(self, name).astype(np.int32) for name in ("texts", "titles")}
        model = self.language_model
        saved = {**vars(self), **lists, **counts, "language_model": model and vars(model)}
        return bytes(srsly.msgpack_dumps(saved))

    @classmethod
    def from_bytes(cls, data: bytes) -> HeadlineKnowledge:
        """Restore counts from bytes; raises `StorageError` if they are damaged."""
        part = "knowledge"
        with reading(part):
            saved = srsly.msgpack_loads(data)
            given = (saved[of.name] for of in fields(cls))
            stems, texts, titles, size, words, lengths, auxiliaries, model = given
            stems = array_of(stems, np.uint64, (-1,), part)
            texts, titles = (
                array_of(np.asarray(of, dtype=np.int64), np.int64, (len(stems),), part)
                for of in (texts, titles)
            )
            if not all(isinstance(word, str) for word in auxiliaries):
                raise damaged(f"{part}, auxiliaries", "expected words")
            least, most = (whole_number(size, 1, 1 << 31, f"{part}, lengths") for size in lengths)
            return cls(
                stems,
                texts,
                titles,
                whole_number(size, 0, 1 << 62, part),
                float(words),
                (least, most),
                tuple(auxiliaries),
                None if model is None else BigramModel.restored(model),
            )


@serialize_attr.register(HeadlineKnowledge)
def _saved(_: HeadlineKnowledge, value: HeadlineKnowledge, name: str, model: Any) -> bytes:
    return value.to_bytes()


@deserialize_attr.register(HeadlineKnowledge)
def _restored(_: HeadlineKnowledge, value: bytes, name: str, model: Any) -> HeadlineKnowledge:
    return HeadlineKnowledge.from_bytes(value)


def _auxiliaries(titles: Sequence[Sequence[tuple[str, bool]]], language: str) -> tuple[str, ...]:
    """The words that are most often between content words of titles, then the language's."""
    counts: Counter[str] = Counter()
    for title in titles:
        for place in range(1, len(title) - 1):
            (_, left), (word, content), (_, right) = title[place - 1 : place + 2]
            if left and right and not content:
                counts[word] += 1
    found = [word for word, times in counts.most_common(AUXILIARY_COUNT) if times > 1]
    others = [word for word in AUXILIARIES.get(language, ()) if word not in found]
    return (*found, *others[: AUXILIARY_COUNT - len(found)])
