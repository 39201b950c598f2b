"""An annotated corpus of any kind that is read, by the name of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from spacy.language import Language
from spacy.training import Corpus, Example

from ..errors import ProblemError
from .annotations import AnnotationCorpus
from .corpora import SentenceCorpus
from .sentences import read_columns, read_conllu

__all__ = ["gold_corpus"]

#: The columns of files that need not name them.
_BIO = ("-", "form", "ent", "-", "-")


def gold_corpus(
    path: str | Path, *, columns: Sequence[str] = (), n_sents: int = 10, limit: int = 0
) -> Callable[[Language], Iterable[Example]]:
    """Return the reader of an annotated corpus.

    Parameters
    ----------
    path
        ``.spacy`` (a file or folder), ``.conllu``, ``.conll`` or ``.conllx``, ``.jsonl`` and
        ``.json`` of annotation tools, or one token a line, with `columns`.
    columns
        What each column of a file of one token a line holds, as for
        :func:`~.sentences.read_columns`. ``.iob2`` files without them are read as UNER's.
    n_sents
        Sentences in a document, at most, where the file has them one by one.
    limit
        The most documents, or sentences, to read; 0 for all.

    Raises
    ------
    ProblemError
        If the file is of no kind that is read.
    """
    path = Path(path)
    name = path.name.removesuffix(".gz")
    if not path.exists():
        raise ProblemError(f"corpus: there is no {path}.")
    if columns or name.endswith(".iob2"):
        return SentenceCorpus(
            path,
            partial(read_columns, columns=tuple(columns) or _BIO),
            suffixes=(".tsv", ".txt", ".iob2", ".bio"),
            n_sents=n_sents,
            limit=limit,
        )
    if name.endswith((".conllu", ".conll", ".conllx")):
        return SentenceCorpus(
            path,
            read_conllu,
            suffixes=(".conllu", ".conll", ".conllx"),
            n_sents=n_sents,
            limit=limit,
        )
    if name.endswith((".jsonl", ".json")):
        return AnnotationCorpus(path, limit=limit)
    if path.is_dir() or name.endswith(".spacy"):
        return Corpus(path, limit=limit)
    raise ProblemError(
        f"corpus: {path.name} is no .spacy, .conllu, .conll, .jsonl, .json or .iob2; convert it "
        "by `python -m spacy convert`, or name its columns."
    )
