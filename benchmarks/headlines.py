"""Headline quality: each textbook held out whole, bodies without their titles, own lengths.

    python benchmarks/headlines.py [--quick] [--held BOOK ...] [--more FILE ...]

needs the data folder. The component is trained on the other books as it ships, without a parser,
and judged beside the paper's scoring, beams, and what needs no training. `--more` are further
titled texts to train on, such as `projects/headlines/scripts/sections.py` makes of documentation.
Then the pipeline that ships, with its parser, is judged on texts that it was not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import Any

from harness import Report, arguments  # isort: skip - before numpy: it sets the threads

import networkx
import numpy as np
from path import BOOKS, NLP, PAPER, generator, sections_of
from pipelines import written as headline_by
from spacy.tokens import Doc, Token
from spacy.training import Example

import spacy_decoders
from spacy_decoders.components.headline.scorer import rouge, words_of
from spacy_decoders.decoders.path import Beam
from spacy_decoders.models.headline.stems import Stemmer
from spacy_decoders.readers.headlines import HeadlineCorpus

Write = Callable[[Example], str]
STEMMER = Stemmer("en")
BEST = "phrases"
COLUMNS = ["ROUGE-1", "ROUGE-2", "ROUGE-L", "ROUGE-L, stemmed"]
#: Titled texts that the pipeline was not trained on.
UNSEEN = {"sections": "pythonds/sections", "GUM, dev": "gum/dev", "abstracts": "abstracts/devel"}

#: The reach of co-occurrence.
WINDOW = 2
#: Parts of speech in a noun phrase, beside its last word, which is a noun.
INSIDE = frozenset({"NOUN", "PROPN", "ADJ", "NUM"})


def main() -> None:
    """Run everything and write the report."""
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
    rows: list[dict[str, Any]] = []
    for book in options.held[:1] if options.quick else options.held:
        train = [e for other in BOOKS if other != book for e in sections[other]]
        rows += [{"book": book, **row} for row in written(train, more, sections[book])]
    tell(report, rows)
    as_shipped(report, options.data / "headlines", quick=options.quick)


def written(
    train: list[Example], more: list[Example], test: list[Example]
) -> Iterator[dict[str, Any]]:
    """The headlines of each section of a book, by every system."""
    shipped, paper = generator(train + more), generator(train, **PAPER, mode="words")
    systems: dict[str, Write] = {
        BEST: partial(headline_by, shipped),
        "phrases, untrained": partial(headline_by, generator(None)),
        "words, exact": partial(headline_by, shipped, mode="words"),
        "paper's scoring, exact": partial(headline_by, paper),
        "paper's scoring, beam 80": partial(headline_by, paper, decoder=Beam(80)),
        **UNTRAINED,
    }
    for example in test:
        yield {
            "title": example.reference._.headline,
            "headlines": {name: write(example) for name, write in systems.items()},
        }


def tell(report: Report, rows: Sequence[dict[str, Any]]) -> None:
    """Make tables of the systems' scores, by book too."""
    books = list(dict.fromkeys(row["book"] for row in rows))
    of_book = np.array([books.index(row["book"]) for row in rows])
    scores = {
        name: np.array([scored(row["title"], row["headlines"][name]) for row in rows])
        for name in rows[0]["headlines"]
    }
    lines = []
    for name, table in scores.items():
        exact = 100 * float(np.mean(table[:, 0] * (table[:, 2] > 0.999)))
        by_book = [float(table[of_book == place, 2].mean()) for place in range(len(books))]
        lines.append([name, *table.mean(axis=0).tolist(), exact, float(np.mean(by_book))])
    report.table(
        f"{len(rows)} sections of {', '.join(books)}, each book held out whole, own lengths",
        ["headlines", *COLUMNS, "exact title %", "ROUGE-L, mean of books"],
        lines,
    )
    best = scores[BEST]
    lines = [
        [book, int((of_book == place).sum()), *best[of_book == place].mean(axis=0).tolist()]
        for place, book in enumerate(books)
    ]
    report.table(f"{BEST}, by the book held out", ["book", "sections", *COLUMNS], lines)


def as_shipped(report: Report, folder: Path, *, quick: bool) -> None:
    """Judge the pipeline that ships, by the kind of text, beside what needs no training.

    All read the same parsed documents.
    """
    nlp = spacy_decoders.load()
    pipe: Any = nlp.get_pipe("headline")
    nlp.disable_pipes("headline", "linker")
    for kind, name in UNSEEN.items():
        examples = parsed(nlp, folder / f"{name}.jsonl.gz", 20 if quick else 0)
        systems: dict[str, Write] = {
            "best, as shipped": partial(headline_by, pipe, mode="best", min_prob=0.0),
            "phrases, as shipped": partial(headline_by, pipe, mode="phrases", min_prob=0.0),
            "sentence, as shipped": partial(headline_by, pipe, mode="sentence", min_prob=0.0),
            "first sentence, cut to the title's length": first_sentence,
            **UNTRAINED,
        }
        if kind == "abstracts":
            train = parsed(nlp, folder / "abstracts/train.jsonl.gz", 60 if quick else 0)
            systems["phrases, trained on other abstracts"] = partial(headline_by, generator(train))
        lines = []
        for system, write in systems.items():
            found = [(example.reference._.headline, write(example)) for example in examples]
            means = np.array([scored(*pair) for pair in found]).mean(axis=0).tolist()
            lines.append([system, np.mean([len(text.split()) for _, text in found]), *means])
        titles = [len(example.reference._.headline.split()) for example in examples]
        title = f"{len(examples)} {kind}, titles of {np.mean(titles):.1f} words, parsed"
        report.table(title, ["headlines", "words", *COLUMNS], lines)


def parsed(nlp: Any, path: Path, limit: int) -> list[Example]:
    """Titled texts, without the titles that they begin with, through a pipeline."""
    examples = HeadlineCorpus(path, strip_title=True, limit=limit)(NLP)
    titled = [e.reference for e in examples if e.reference._.headline.strip()]
    docs: list[Doc] = list(nlp.pipe([doc.text for doc in titled]))
    return [Example(doc, reference) for doc, reference in zip(docs, titled, strict=True)]


def first_sentence(example: Example) -> str:
    """The first sentence, cut to as many words as the title has."""
    words = [token.text for token in next(iter(example.predicted.sents)) if token.is_alpha]
    return " ".join(words[: len(example.reference._.headline.split())])


def scored(title: str, text: str) -> list[float]:
    """ROUGE-1, 2 and L, and ROUGE-L of stems, to which "Graph" and "Graphs" are the same."""
    stems = [" ".join(STEMMER.stems(words_of(part))) for part in (title, text)]
    return [*rouge(title, text), rouge(*stems).rougeL]


# -- what needs no training


def text_rank(doc: Doc) -> str:
    """The phrase of highest TextRank.

    Words are ranked by PageRank over co-occurrence within two words, runs of the best third
    become phrases, and a phrase counts as much as its words together (Mihalcea and Tarau 2004,
    section 3).
    Without tags, every content word may be a vertex.
    """
    tagged = doc.has_annotation("POS")

    def counted(token: Token) -> bool:
        if tagged:
            return token.pos_ in INSIDE and token.is_alpha
        return token.is_alpha and not token.is_stop and len(token.text) > 1

    near = networkx.Graph()
    near.add_nodes_from(sorted({token.lower_ for token in doc if counted(token)}))
    for token, reach in product(filter(counted, doc), range(1, WINDOW + 1)):
        other = doc[token.i + reach] if token.i + reach < len(doc) else token
        if token.lower_ != other.lower_ and counted(other):
            near.add_edge(token.lower_, other.lower_)
    rank = networkx.pagerank(near)
    kept = sorted(rank, key=rank.__getitem__, reverse=True)[: max(3, len(rank) // 3)]
    runs = [
        list(run)
        for inside, run in groupby(doc, lambda token: counted(token) and token.lower_ in kept)
        if inside
    ]
    values = [sum(rank[token.lower_] for token in run) for run in runs]
    best = runs[int(np.argmax(values))] if runs else []
    return doc[best[0].i : best[-1].i + 1].text if best else ""


def first_noun_phrase(doc: Doc) -> str:
    """The first run of adjectives and nouns that ends with a noun.

    Without tags it is the first run of content words of at least two, or else the first word.
    """
    tagged = doc.has_annotation("POS")
    first, run = "", list[int]()
    for token in doc:
        inside = token.pos_ in INSIDE if tagged else token.is_alpha and not token.is_stop
        if inside:
            run.append(token.i)
            continue
        while tagged and run and doc[run[-1]].pos_ not in ("NOUN", "PROPN"):
            run.pop()
        if run:
            first = first or doc[run[0] : run[-1] + 1].text
            if tagged or len(run) > 1:
                return doc[run[0] : run[-1] + 1].text
        run = []
    return first


def lead_words(doc: Doc) -> str:
    """The first four words, as many as a title has."""
    return " ".join([token.text for token in doc if token.is_alpha][:4])


UNTRAINED: dict[str, Write] = {
    "TextRank phrase": lambda example: text_rank(example.predicted),
    "first noun phrase": lambda example: first_noun_phrase(example.predicted),
    "first 4 words": lambda example: lead_words(example.predicted),
}


if __name__ == "__main__":
    main()
