"""Corpora in the formats of treebanks, for spaCy's own commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin

from ..errors import ProblemError
from ..readers.corpora import gold_corpus
from .arguments import Columns, counted, listed

__all__ = ["convert_corpus"]


def convert_corpus(
    corpus: Annotated[Path, typer.Argument(help="A file: .conllu, .conll, .iob2, .tsv; or .gz.")],
    output: Annotated[Path, typer.Argument(help="The .spacy to write.")],
    columns: Columns = "",
    n_sents: Annotated[int, typer.Option(min=1, help="Sentences in a document, at most.")] = 10,
) -> None:
    """Convert annotation to .spacy, which `spacy evaluate` and `spacy debug data` read."""
    if output.suffix != ".spacy":
        raise ProblemError(f"output: expected a file that ends in .spacy, got {output.name}.")
    read = gold_corpus(corpus, columns=listed(columns), n_sents=n_sents)
    docs = [example.reference for example in read(spacy.blank("xx"))]
    if not docs:
        raise ProblemError(f"corpus: {corpus} has no sentence.")
    output.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs, store_user_data=True).to_disk(output)
    typer.echo(f"{counted(len(docs), 'document')} in {output}.")
