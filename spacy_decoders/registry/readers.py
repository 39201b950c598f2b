"""``@readers`` for annotated corpora in CoNLL-U, CoNLL-X and column files."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from spacy.language import Language
from spacy.training import Example

from ..errors import ProblemError

__all__ = [
    "annotation_corpus",
    "column_corpus",
    "conllu_corpus",
    "headline_corpus",
    "joined_corpus",
    "linked_corpus",
]

Corpus = Callable[[Language], Iterable[Example]]


def conllu_corpus(
    path: Path | None,
    format: Literal["auto", "conllu", "conllx"] = "auto",
    n_sents: int = 1,
    random_sents: bool = False,
    gold_tokens: bool = True,
    gold_sents: bool = False,
    gold_sents_share: float = 1.0,
    white_space: float = 0.0,
    limit: int = 0,
) -> Corpus:
    """Read CoNLL-U or CoNLL-X files, gzipped or not: tags, lemmas, morphology, trees.

    Parameters
    ----------
    path
        A file or a folder of ``.conllu`` and ``.conll`` files.
    format
        Which of the two; "auto" goes by the suffix.
    n_sents, random_sents, gold_tokens, gold_sents, gold_sents_share, white_space, limit
        See :class:`~spacy_decoders.readers.corpora.SentenceCorpus`.
    """
    if path is None:
        return _missing
    from ..readers.corpora import SentenceCorpus
    from ..readers.sentences import read_conllu

    return SentenceCorpus(
        path,
        partial(read_conllu, form=format),
        suffixes=(".conllu", ".conll", ".conllx"),
        n_sents=n_sents,
        random_sents=random_sents,
        gold_tokens=gold_tokens,
        gold_sents=gold_sents,
        gold_sents_share=gold_sents_share,
        white_space=white_space,
        limit=limit,
    )


def linked_corpus(path: Path | None) -> Corpus:
    """Read linked entities; see :class:`~spacy_decoders.readers.linked.LinkedCorpus`."""
    if path is None:
        return _missing
    from ..readers.linked import LinkedCorpus

    return LinkedCorpus(path)


def column_corpus(
    path: Path | None,
    columns: list[str],
    separator: str | None = "\t",
    n_sents: int = 1,
    random_sents: bool = False,
    gold_tokens: bool = True,
    gold_sents: bool = False,
    gold_sents_share: float = 1.0,
    white_space: float = 0.0,
    limit: int = 0,
    types: dict[str, str] | None = None,
) -> Corpus:
    """Read files of one token a line: token, tags, BIO entities, heads in named columns.

    Parameters
    ----------
    path
        A file or a folder of ``.tsv``, ``.txt``, ``.iob2``, ``.bio`` and ``.conll`` files.
    columns
        What each column holds: "form", "lemma", "pos", "tag", "morph", "head", "dep", "ent",
        or "-" to skip it.
    separator
        The separator of columns; null for any white space.
    n_sents, random_sents, gold_tokens, gold_sents, gold_sents_share, white_space, limit, types
        See :class:`~spacy_decoders.readers.corpora.SentenceCorpus`.
    """
    if path is None:
        return _missing
    from ..readers.corpora import SentenceCorpus
    from ..readers.sentences import read_columns

    return SentenceCorpus(
        path,
        partial(read_columns, columns=columns, separator=separator),
        suffixes=(".tsv", ".txt", ".iob2", ".bio", ".conll"),
        n_sents=n_sents,
        random_sents=random_sents,
        gold_tokens=gold_tokens,
        gold_sents=gold_sents,
        gold_sents_share=gold_sents_share,
        white_space=white_space,
        limit=limit,
        types=types,
    )


def annotation_corpus(path: Path | None, limit: int = 0) -> Corpus:
    """Read what annotation tools export; see
    :class:`~spacy_decoders.readers.annotations.AnnotationCorpus`."""
    if path is None:
        return _missing
    from ..readers.annotations import AnnotationCorpus

    return AnnotationCorpus(path, limit=limit)


def joined_corpus(corpora: dict[str, Any]) -> Corpus:
    """Read several corpora; see :class:`~spacy_decoders.readers.corpora.JoinedCorpus`."""
    from ..readers.corpora import JoinedCorpus

    return JoinedCorpus(corpora)


def headline_corpus(
    path: Path | None,
    title: str = "title",
    text: str = "text",
    limit: int = 0,
    strip_title: bool = False,
) -> Corpus:
    """Read titled texts from JSON lines, gzipped or not.

    Parameters
    ----------
    path
        A file or a folder of ``.jsonl`` and ``.jsonl.gz`` files.
    title, text, limit, strip_title
        See :class:`~spacy_decoders.readers.headlines.HeadlineCorpus`.
    """
    if path is None:
        return _missing
    from ..readers.headlines import HeadlineCorpus

    return HeadlineCorpus(path, title=title, text=text, limit=limit, strip_title=strip_title)


def _missing(nlp: Language) -> Iterable[Example]:
    """Stand for a corpus without a path: a config may be looked at before it is given one."""
    raise ProblemError("path: no corpus given; set it, for example by --paths.train FILE.")
