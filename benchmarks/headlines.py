"""Headline quality: each textbook held out whole, bodies without their titles, own lengths.

    python benchmarks/headlines.py [--quick] [--held BOOK ...] [--more FILE ...]

needs the data folder. The component is trained on the other books as it ships, without a parser,
and judged beside the paper's scoring, beams, and what needs no training. `--more` are further
titled texts to train on, such as `projects/headlines/scripts/sections.py` makes of documentation.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from timing import Report, arguments  # before numpy: it sets the threads

# isort: split
import numpy as np
import spacy
from headline_data import BOOKS, NLP, PAPER, sections_of
from headline_peers import first_noun_phrase, lead_words, text_rank, yake
from spacy.training import Example

from spacy_decoders.components.headline.reading import read_words
from spacy_decoders.components.headline.rouge import rouge
from spacy_decoders.decoders.path import Beam, ExactPath
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.models.headline.words import Vertices
from spacy_decoders.readers.headlines import HeadlineCorpus

Write = Callable[[Example], str]
STEMMER = Stemmer("en")
SHEET = 50


def main() -> None:
    """Run everything and write the report and a sheet of random headlines."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--held", nargs="+", choices=BOOKS, default=BOOKS, help="books held out")
    parser.add_argument("--more", nargs="*", default=[], help="JSON lines to train on, too")
    options = parser.parse_args()
    report = Report("headlines", options.results)
    sections = {
        book: [e for e in sections_of(options.data, book) if e.reference._.headline.strip()]
        for book in BOOKS
    }
    more = [e for path in options.more for e in HeadlineCorpus(path, strip_title=True)(NLP)]
    scores: dict[str, list[tuple[float, float, float]]] = {}
    sheet, seconds, certified = [], [], []
    held = options.held[:1] if options.quick else options.held
    for book in held:
        train = [e for other in BOOKS if other != book for e in sections[other]]
        test = sections[book]
        only_books, paper = generator(train), generator(train, **PAPER, mode="words")
        shipped = generator(train + more) if more else only_books
        writers: dict[str, Write] = {
            "phrases, exact": of(shipped),
            "phrases, trained on books alone": of(only_books),
            "phrases, untrained": of(generator(None)),
            "phrases, beam 1": of(shipped, decoder=Beam(1)),
            "phrases, beam 80": of(shipped, decoder=Beam(80)),
            "words, exact": of(only_books, mode="words"),
            "paper's scoring, exact": of(paper),
            "paper's scoring, beam 80": of(paper, decoder=Beam(80)),
            "paper's scoring, beam 1": of(paper, decoder=Beam(1)),
            "top 3 words by TF*IDF": top_words(train),
            "TextRank phrase": lambda example: text_rank(example.predicted),
            "YAKE phrase": lambda example: yake(example.predicted),
            "first noun phrase": lambda example: first_noun_phrase(example.predicted),
            "first 4 words": lambda example: lead_words(example.predicted),
        }
        for name, write in writers.items():
            begin = process_time()
            found = [(e.reference._.headline, write(e)) for e in test]
            if name == "phrases, exact":
                seconds.append((process_time() - begin) / len(test))
                sheet += [{"book": book, "title": t, "headline": h} for t, h in found]
                certified += [is_certified(shipped, e) for e in test[:40]]
            scores.setdefault(name, []).extend(tuple(rouge(t, h)) for t, h in found)
            print(
                book, name, np.mean([rouge(t, h) for t, h in found], axis=0).round(3), flush=True
            )
    rows = []
    for name, of_all in scores.items():
        table = np.array(of_all)
        exact = 100 * float(np.mean(table[:, 0] * (table[:, 2] > 0.999)))
        rows.append([name, *table.mean(axis=0).tolist(), exact])
    report.table(
        f"{len(sheet)} sections of {', '.join(held)}, each book held out whole, own lengths",
        ["headlines", "ROUGE-1", "ROUGE-2", "ROUGE-L", "exact title %"],
        rows,
    )
    of_exact = np.array(scores["phrases, exact"]).mean(axis=0)
    for kind, wanted, got in zip(("1", "2", "L"), (0.42, 0.24, 0.41), of_exact, strict=True):
        report.target(f"ROUGE-{kind}, leave one book out", wanted, float(got))
    report.target("certified", 100, 100 * float(np.mean(certified)), unit="%")
    report.target("a section", 5.0, 1e3 * float(np.mean(seconds)), unit="ms", most=True)
    random.Random(0).shuffle(sheet)
    lines = [json.dumps(line, ensure_ascii=False) for line in sheet[:SHEET]]
    (options.results / "headlines_sheet.jsonl").write_text("\n".join(lines) + "\n")
    report.close()


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


def is_certified(pipe: Any, example: Example) -> bool:
    """Whether the headline is proven optimal over the whole text."""
    assert isinstance(pipe.decoder, ExactPath)
    found = pipe(example.predicted.copy())._.headlines
    return not found or (
        found[0]["certificate"]["status"] == "optimal"
        and found[0]["certificate"]["scope"] == "full"
    )


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
