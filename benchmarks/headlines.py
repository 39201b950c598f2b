"""Headline quality: each textbook held out whole, bodies without their titles, own lengths.

    python benchmarks/headlines.py [--quick] [--held BOOK ...] [--more FILE ...]

needs the data folder. The component is trained on the other books as it ships, without a parser,
and judged beside the paper's scoring, beams, and what needs no training. `--more` are further
titled texts to train on, such as `projects/headlines/scripts/sections.py` makes of documentation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from timing import Report, arguments  # before numpy: it sets the threads

# isort: split
import numpy as np
import spacy
import srsly
from headline_data import BOOKS, NLP, PAPER, sections_of
from headline_peers import first_noun_phrase, lead_words, text_rank, yake
from spacy.training import Example

from spacy_decoders.components.headline.reading import read_words
from spacy_decoders.components.headline.rouge import rouge
from spacy_decoders.decoders.path import Beam
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.words import Vertices
from spacy_decoders.readers.headlines import HeadlineCorpus

Write = Callable[[Example], str]
STEMMER = Stemmer("en")
SHEET = 50
BEST = "phrases, exact"


def main() -> None:
    """Run everything and write the report and a sheet of random headlines."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--held", nargs="+", choices=BOOKS, default=BOOKS, help="books held out")
    parser.add_argument("--more", nargs="*", default=[], help="JSON lines to train on, too")
    parser.add_argument("--keep", type=Path, help="folder of finished books, which are not run")
    options = parser.parse_args()
    report = Report("headlines", options.results)
    sections = {
        book: [e for e in sections_of(options.data, book) if e.reference._.headline.strip()]
        for book in BOOKS
    }
    more = [e for path in options.more for e in HeadlineCorpus(path, strip_title=True)(NLP)]
    rows: list[dict[str, Any]] = []
    for book in options.held[:1] if options.quick else options.held:
        kept = options.keep and options.keep / f"{book}.jsonl"
        if kept and kept.exists():
            rows += srsly.read_jsonl(kept)
            continue
        train = [e for other in BOOKS if other != book for e in sections[other]]
        found = [{"book": book, **row} for row in written(train, more, sections[book])]
        rows += found
        if kept:
            srsly.write_jsonl(kept, found)
    tell(report, rows)
    shuffled = random.Random(0).sample(rows, min(SHEET, len(rows)))
    srsly.write_jsonl(options.results / "headlines_sheet.jsonl", shuffled)
    report.close()


def written(
    train: list[Example], more: list[Example], test: list[Example]
) -> Iterator[dict[str, Any]]:
    """The headlines of each section of a book, by every system."""
    shipped, paper = generator(train + more), generator(train, **PAPER, mode="words")
    systems: dict[str, Write] = {
        "phrases, untrained": of(generator(None)),
        "phrases, beam 1": of(shipped, decoder=Beam(1)),
        "phrases, beam 80": of(shipped, decoder=Beam(80)),
        "words, exact": of(shipped, mode="words"),
        "paper's scoring, exact": of(paper),
        "paper's scoring, beam 80": of(paper, decoder=Beam(80)),
        "paper's scoring, beam 1": of(paper, decoder=Beam(1)),
        "top 3 words by TF*IDF": top_words(train),
        "TextRank phrase": lambda example: text_rank(example.predicted),
        "YAKE phrase": lambda example: yake(example.predicted),
        "first noun phrase": lambda example: first_noun_phrase(example.predicted),
        "first 4 words": lambda example: lead_words(example.predicted),
    }
    for example in test:
        begin = process_time()
        doc = shipped(example.predicted.copy())
        milliseconds = 1e3 * (process_time() - begin)
        yield {
            "title": example.reference._.headline,
            "words": len(doc),
            "ms": milliseconds,
            "certified": all(is_certified(headline) for headline in doc._.headlines),
            "headlines": {
                BEST: doc._.headline,
                **{name: write(example) for name, write in systems.items()},
            },
        }


def tell(report: Report, rows: Sequence[dict[str, Any]]) -> None:
    """Make tables of the systems' scores, by book too, and compare with the targets."""
    books = list(dict.fromkeys(row["book"] for row in rows))
    of_book = np.array([books.index(row["book"]) for row in rows])
    scores = {
        name: np.array([rouge(row["title"], row["headlines"][name]) for row in rows])
        for name in rows[0]["headlines"]
    }
    lines = []
    for name, table in scores.items():
        exact = 100 * float(np.mean(table[:, 0] * (table[:, 2] > 0.999)))
        by_book = [float(table[of_book == place, 2].mean()) for place in range(len(books))]
        lines.append([name, *table.mean(axis=0).tolist(), exact, float(np.mean(by_book))])
    report.table(
        f"{len(rows)} sections of {', '.join(books)}, each book held out whole, own lengths",
        ["headlines", "ROUGE-1", "ROUGE-2", "ROUGE-L", "exact title %", "ROUGE-L, mean of books"],
        lines,
    )
    best = scores[BEST]
    lines = [
        [book, int((of_book == place).sum()), *best[of_book == place].mean(axis=0).tolist()]
        for place, book in enumerate(books)
    ]
    columns = ["book", "sections", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
    report.table(f"{BEST}, by the book held out", columns, lines)
    for kind, wanted, got in zip(
        ("1", "2", "L"), (0.42, 0.24, 0.41), best.mean(axis=0), strict=True
    ):
        report.target(f"ROUGE-{kind}, leave one book out", wanted, float(got))
    certified = 100 * float(np.mean([row["certified"] for row in rows]))
    report.target("certified", 100, certified, unit="%")
    usual = [row["ms"] for row in rows if 400 <= row["words"] <= 600]
    if usual:
        case = "a section of 400 to 600 tokens"
        report.target(case, 5.0, float(np.median(usual)), unit="ms", most=True)


def generator(train: Sequence[Example] | None, **config: Any) -> Any:
    """A component on its own, trained if there are sections to train on."""
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("headline_generator", config=config)
    if train is not None:
        nlp.initialize(lambda: train)
    return pipe


def of(pipe: Any, **options: Any) -> Write:
    """What writes the component's headlines, with some options changed for each."""

    def write(example: Example) -> str:
        before = {name: getattr(pipe, name) for name in options}
        pipe.configure(**options)
        text: str = pipe(example.predicted.copy())._.headline
        pipe.configure(**before)
        return text

    return write


def is_certified(headline: dict[str, Any]) -> bool:
    """Whether a headline is proven optimal over the whole text."""
    certificate = headline["certificate"]
    return bool(certificate["status"] == "optimal" and certificate["scope"] == "full")


def top_words(train: Sequence[Example]) -> Write:
    """What takes the three words of highest TF*IDF, in the order of the text."""
    seen: dict[int, int] = {}
    for example in train:
        for stem in set(Vertices.of(read_words(example.predicted, STEMMER)).stems.tolist()):
            seen[stem] = seen.get(stem, 0) + 1

    def write(example: Example) -> str:
        words = read_words(example.predicted, STEMMER)
        vertices = Vertices.of(words)
        rarity = [np.log((len(train) + 1) / (seen.get(s, 0) + 1)) for s in vertices.stems.tolist()]
        best = np.argsort(-vertices.counts * np.array(rarity), kind="stable")[:3]
        return " ".join(example.predicted[int(i)].text for i in np.sort(vertices.first[best]))

    return write


if __name__ == "__main__":
    assert NLP.lang == "en"
    main()
