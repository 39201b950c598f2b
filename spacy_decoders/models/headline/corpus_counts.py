"""The counts of a corpus of titled texts: stems, bigrams, auxiliaries, lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..saved import array_of, counts_of, damaged, fields_of, saved_counts, whole_number
from .auxiliaries import AUXILIARIES, auxiliaries_of_titles
from .bigrams import BigramModel
from .title_counts import TitleCounts
from .words import Vertices, Words

__all__ = ["CorpusCounts", "HeadlineKnowledge"]

#: Content words of a headline, at least and at most, where no titles have been counted.
DEFAULT_LENGTHS = (2, 5)


@dataclass(frozen=True, eq=False)
class CorpusCounts:
    """The number of texts, and of titles, in which each stem occurs."""

    #: Ascending keys. **Shape:** ``(stems,)``
    stems: NDArray[np.uint64]
    #: How many texts have the stem, and how many of their titles. **Shape:** ``(stems,)``
    texts: NDArray[np.int64]
    titles: NDArray[np.int64]
    #: The number of texts.
    size: int

    @classmethod
    def count(
        cls, texts: Sequence[NDArray[np.uint64]], titles: Sequence[NDArray[np.uint64]]
    ) -> CorpusCounts:
        """Count the different stems of each text, and those of its title that it has."""
        in_text = [np.unique(stems) for stems in texts]
        in_title = [
            np.intersect1d(stems, title) for stems, title in zip(in_text, titles, strict=True)
        ]
        nothing = np.empty(0, dtype=np.uint64)
        stems, counts = np.unique(np.concatenate([nothing, *in_text]), return_counts=True)
        chosen, times = np.unique(np.concatenate([nothing, *in_title]), return_counts=True)
        titled = np.zeros(len(stems), dtype=np.int64)
        titled[np.searchsorted(stems, chosen)] = times
        return cls(stems, counts, titled, len(in_text))

    @classmethod
    def empty(cls) -> CorpusCounts:
        """The counts of no text."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing.astype(np.uint64), nothing, nothing, 0)

    def look_up(
        self, stems: NDArray[np.uint64], *, without: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Texts and titles with each stem, and the number of texts.

        Parameters
        ----------
        without
            If given, one text that has all these stems, and in its title those where `without` is
            true, is left out: a text's features must not depend on its own title.
        """
        texts = np.zeros(len(stems), dtype=np.int64)
        titles = np.zeros(len(stems), dtype=np.int64)
        if len(self.stems):
            place = np.minimum(np.searchsorted(self.stems, stems), len(self.stems) - 1)
            known = self.stems[place] == stems
            texts[known] = self.texts[place[known]]
            titles[known] = self.titles[place[known]]
        if without is None:
            return texts, titles, self.size
        return np.maximum(texts - 1, 0), np.maximum(titles - without, 0), max(self.size - 1, 0)

    def arrays(self) -> dict[str, Any]:
        """The fields by name, for saving; `restored` takes them back."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: saved_counts(field) for name, field in fields.items()}

    @classmethod
    def restored(cls, saved: Any) -> CorpusCounts:
        """Check and take back what `arrays` returned."""
        part = "knowledge, corpus"
        stems, texts, titles, size = fields_of(saved, list(cls.__dataclass_fields__), part)
        stems = array_of(stems, np.uint64, (-1,), part)
        texts = counts_of(texts, (len(stems),), part)
        titles = counts_of(titles, (len(stems),), part)
        return cls(stems, texts, titles, whole_number(size, 0, 1 << 62, part))


@dataclass(frozen=True, eq=False)
class HeadlineKnowledge:
    """Counts of a corpus."""

    #: Texts and titles of each stem.
    corpus: CorpusCounts = field(default_factory=CorpusCounts.empty)
    #: Bigrams of the texts; None before training: each text is then its own corpus.
    language_model: BigramModel | None = None
    #: Words that may stand between content words.
    auxiliaries: tuple[str, ...] = ()
    #: Content words of a title, from the 25th to the 95th percentile, at least 2 where
    #: titles of 2 occur.
    lengths: tuple[int, int] = DEFAULT_LENGTHS
    #: What titles contain, begin and end with.
    titles: TitleCounts = field(default_factory=TitleCounts.empty)

    @classmethod
    def untrained(cls, language: str) -> HeadlineKnowledge:
        """Return the defaults of a language, for use without a corpus."""
        return cls(auxiliaries=tuple(AUXILIARIES.get(language, ())))

    @classmethod
    def count(
        cls,
        texts: Sequence[Words],
        titles: Sequence[Sequence[tuple[str, bool]]],
        title_stems: Sequence[NDArray[np.uint64]],
        language: str,
        title_keys: Sequence[NDArray[np.uint64]] | None = None,
        *,
        bigrams: bool = True,
    ) -> HeadlineKnowledge:
        """Count texts and their titles.

        Parameters
        ----------
        texts
            The bodies.
        titles
            Of each title the words, and whether each is content.
        title_stems
            The stem keys of each title's content words.
        language
            The language code.
        title_keys
            The keys of all words of each title, of their stems if they are content;
            `title_stems` by default.
        bigrams
            Whether to count a language model, which takes most of the time.
        """
        corpus = CorpusCounts.count([Vertices.of(words).stems for words in texts], title_stems)
        runs = (run for words in texts for run in words.runs())
        model = BigramModel.count(runs) if bigrams else None
        sizes = [sum(content for _, content in words) for words in titles]
        sizes = [size for size in sizes if size]
        least, most = DEFAULT_LENGTHS
        if sizes:
            low, high = np.percentile(sizes, [25, 95])
            least, most = max(int(low), min(2, int(high))), int(np.ceil(high))
        auxiliaries = auxiliaries_of_titles(titles, language)
        known = {*AUXILIARIES.get(language, ()), *auxiliaries}
        keys = title_stems if title_keys is None else title_keys
        # a content word opens a phrase anyway, and an article or a preposition is no loss
        openers = [
            0 if not words or words[0][1] or words[0][0] in known else int(stems[0])
            for words, stems in zip(titles, keys, strict=True)
        ]
        counts = TitleCounts.count(keys, openers)
        return cls(corpus, model, tuple(auxiliaries), (least, most), counts)

    def as_dict(self) -> dict[str, Any]:
        """Arrays and plain types, for saving."""
        model = self.language_model
        return {
            "corpus": self.corpus.arrays(),
            "language_model": None if model is None else model.arrays(),
            "auxiliaries": list(self.auxiliaries),
            "lengths": list(self.lengths),
            "titles": self.titles.arrays(),
        }

    @classmethod
    def from_dict(cls, saved: Any) -> HeadlineKnowledge:
        """Restore what `as_dict` returned.

        Raises
        ------
        StorageError
            If it is something else.
        """
        part = "knowledge"
        names = ("corpus", "language_model", "auxiliaries", "lengths")
        corpus, model, auxiliaries, lengths = fields_of(saved, names, part)
        if not all(isinstance(word, str) for word in auxiliaries):
            raise damaged(f"{part}, auxiliaries", "expected words")
        least, most = (whole_number(size, 1, 1 << 31, f"{part}, lengths") for size in lengths)
        return cls(
            CorpusCounts.restored(corpus),
            None if model is None else BigramModel.restored(model),
            tuple(auxiliaries),
            (least, most),
            TitleCounts.restored(saved["titles"]) if "titles" in saved else TitleCounts.empty(),
        )
