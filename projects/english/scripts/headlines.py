"""Train the headline generator on titled texts, parsed by the pipeline that it becomes part of."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import spacy
import srsly
import typer
from spacy.training import Example

from spacy_decoders.readers.headlines import HeadlineCorpus

#: Parts of GUM whose texts are under CC BY or CC BY-SA; the rest is not for commercial use.
GENRES = frozenset({"news", "interview", "bio", "voyage", "academic"})
#: How often the texts of a small corpus count, so that textbooks do not decide everything.
REPEATED = 2


def main(
    pipeline: Path,
    output: Path,
    books: Annotated[list[Path], typer.Option()],
    gum: Annotated[Path, typer.Option()],
    more: Annotated[list[Path] | None, typer.Option()] = None,
) -> None:
    """Add a trained `headline` to a pipeline, in the place of one that it has.

    `books` are JSON lines of sections with their titles; `gum` are the documents of GUM, with
    genres. To `more`, with longer titles, phrases are fitted, too, but they are not counted.
    """
    nlp = spacy.load(pipeline, exclude=["linker"])
    if "headline" in nlp.pipe_names:
        nlp.remove_pipe("headline")
    part = output.with_suffix(".gum.jsonl")
    lines = srsly.read_gzip_jsonl(gum) if gum.suffix == ".gz" else srsly.read_jsonl(gum)
    srsly.write_jsonl(part, [line for line in lines if line["genre"] in GENRES])
    examples = [example for book in books for example in _parsed(nlp, book)]
    examples += REPEATED * _parsed(nlp, part)
    part.unlink()
    others = [example for path in more or [] for example in _parsed(nlp, path)]
    whole = spacy.load(pipeline)
    if "headline" in whole.pipe_names:
        whole.remove_pipe("headline")
    headline = whole.add_pipe("headline_generator", name="headline")
    headline.initialize(lambda: examples, nlp=whole, more=lambda: others)
    # single words are ordered by the text's own bigrams: a corpus of them would be large
    headline.knowledge = replace(headline.knowledge, language_model=None)
    whole.to_disk(output)


def _parsed(nlp: spacy.Language, path: Path) -> list[Example]:
    examples = list(HeadlineCorpus(path, strip_title=True)(nlp))
    docs = nlp.pipe(example.predicted for example in examples)
    return [Example(doc, of.reference) for doc, of in zip(docs, examples, strict=True)]


if __name__ == "__main__":
    typer.run(main)
