"""Corpora that ``spacy train`` reads: annotated sentences turned into Examples."""

import random
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ..arrays import checked_path, checked_whole
from ..errors import ProblemError
from .docbins import read_docbin, read_docs
from .sentences import Sentence, read_columns, read_conllu
from .text_lines import matching_files
from .white_space import with_white_space

__all__ = ["ColumnCorpus", "ConlluCorpus", "JoinedCorpus", "SentenceCorpus", "gold_corpus"]


@dataclass(eq=False)
class SentenceCorpus:
    """Examples from files of annotated sentences, ``.spacy`` or in the format of a subclass.

    The files are read once; later passes over the corpus make new Examples from memory.
    """

    #: The endings of the files that are read in a folder.
    suffixes: ClassVar[Sequence[str]] = ()

    path: Path | None
    """A file, or a folder whose files are read in the order of their names, gzipped or not."""
    _: KW_ONLY
    n_sents: int = 1
    """The most sentences of a document, which ends where the file starts a new one. 0 for the
    documents as the file has them."""
    random_sents: bool = False
    """Whether the size of each document is drawn from 1 to `n_sents`, so that a model is trained
    on short and long ones: differently in each pass, but alike in each run."""
    gold_tokens: bool = True
    """Whether the predicted Doc has the file's tokens, or those of the pipeline's tokenizer."""
    gold_sents: bool = False
    """Whether the predicted Doc has the file's sentence boundaries (with `gold_tokens`)."""
    gold_sents_share: float = 1.0
    """The random share of documents to which `gold_sents` applies: a model trained on both kinds
    can be used with and without a parser before it."""
    white_space: float = 0.0
    """The random share of documents that get line breaks, blank lines and double spaces as
    tokens, which texts have and treebanks do not; see
    :func:`~spacy_decoders.readers.white_space.with_white_space`."""
    limit: int = 0
    """The most sentences to read (of ``.spacy`` files, documents); 0 for all."""

    def __post_init__(self) -> None:
        checked_whole("n_sents", self.n_sents, low=1 if self.random_sents else 0)
        checked_whole("limit", self.limit, low=0)
        if self.gold_sents and not self.gold_tokens:
            raise ProblemError("gold_sents: the file's boundaries need gold_tokens = true.")
        for name in ("gold_sents_share", "white_space"):
            if not 0.0 <= (share := getattr(self, name)) <= 1.0:
                raise ProblemError(f"{name}: expected a share from 0 to 1, got {share}.")
        self._random = random.Random(0)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each document."""
        for group in self.documents():
            if self._by_chance(self.white_space):
                group = with_white_space(group, self._random)
            reference = _gold_doc(nlp.vocab, group)
            if self.gold_tokens:
                shown = self.gold_sents and self._by_chance(self.gold_sents_share)
                predicted = _bare_doc(reference, boundaries=shown)
            else:
                predicted = nlp.make_doc(reference.text)
            yield Example(predicted, reference)

    def read(self, path: Path) -> Iterable[Sentence]:
        """Read the sentences of one file."""
        raise NotImplementedError(f"{type(self).__name__} must implement read().")

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of all files."""
        files = matching_files(self.path, self.suffixes)
        read = islice(chain.from_iterable(map(self.read, files)), self.limit or None)
        return [sentence for sentence in read if len(sentence)]

    def documents(self) -> Iterator[list[Sentence]]:
        """The sentences, document by document."""
        group: list[Sentence] = []
        size = self._size()
        for sentence in self.sentences:
            if group and (len(group) == size or sentence.starts_document):
                yield group
                group, size = [], self._size()
            group.append(sentence)
        if group:
            yield group

    def _by_chance(self, share: float) -> bool:
        return share == 1.0 or (share > 0.0 and self._random.random() < share)

    def _size(self) -> int:
        return self._random.randint(1, self.n_sents) if self.random_sents else self.n_sents


@dataclass(eq=False)
class ConlluCorpus(SentenceCorpus):
    """CoNLL-U or CoNLL-X files: tags, lemmas, morphology, trees."""

    suffixes = (".conllu", ".conll", ".conllx", ".spacy")

    format: Literal["auto", "conllu", "conllx"] = "auto"
    """Which of the two, see :func:`~.sentences.read_conllu`; "auto" goes by the suffix."""
    _: KW_ONLY
    merge_subtokens: bool = False
    """Whether a multi-word token that its words do not spell, such as Italian "nella", is one
    word, as it is in raw text; else its words, "in" and "la", are."""

    def read(self, path: Path) -> Iterable[Sentence]:
        if path.suffix == ".spacy":
            return read_docs(path)
        return read_conllu(path, self.format, merge_subtokens=self.merge_subtokens)


@dataclass(eq=False)
class ColumnCorpus(SentenceCorpus):
    """Files of one token a line: token, tags, entities, heads in named columns."""

    suffixes = (".tsv", ".txt", ".iob2", ".bio", ".conll", ".spacy")

    columns: list[str]
    """What each column holds, see :func:`~.sentences.read_columns`."""
    separator: str | None = "\t"
    """What separates columns; None for any white space."""
    _: KW_ONLY
    types: dict[str, str] | None = None
    """New names for the corpus's entity types, "O" for no entity; entities of other types are
    unknown. None to keep all types."""

    def read(self, path: Path) -> Iterable[Sentence]:
        types, met = self.types, set[str]()
        is_docbin = path.suffix == ".spacy"
        given = read_docs(path) if is_docbin else read_columns(path, self.columns, self.separator)
        for sentence in given:
            met.update(label[2:] for label in sentence.ents or ())
            yield sentence if types is None else _renamed(sentence, types)
        unnamed = {kind.casefold(): kind for kind in met.difference(types or ())}
        for name in (types or {}).keys() - met:
            for near in get_close_matches(name.casefold(), unnamed, n=1, cutoff=0.8):
                warnings.warn(
                    f"types: {path.name} has no entity {name!r}; did you mean {unnamed[near]!r}?",
                    stacklevel=2,
                )


def _renamed(sentence: Sentence, types: Mapping[str, str]) -> Sentence:
    """Rename the types of a sentence's entities; those that `types` lacks become unknown."""
    ents = []
    for label in sentence.ents or ():
        kind = types.get(label[2:], "") if label[:2] in ("B-", "I-") else label
        ents.append(label[:2] + kind if kind not in ("", "O", label) else kind)
    return sentence if sentence.ents is None else replace(sentence, ents=tuple(ents))


@dataclass(eq=False)
class JoinedCorpus:
    """The Examples of several named corpora, one after the other."""

    corpora: dict[str, Any]

    def __post_init__(self) -> None:
        named = self.corpora.values() if isinstance(self.corpora, Mapping) else ()
        if not named or not all(map(callable, named)):
            raise ProblemError(
                f"corpora: expected at least one, each a named reader; got {self.corpora!r}."
            )

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each document of each corpus."""
        for corpus in self.corpora.values():
            yield from corpus(nlp)


def gold_corpus(
    path: str | Path,
    *,
    columns: Sequence[str] = (),
    n_sents: int = 10,
    limit: int = 0,
    merge_subtokens: bool = False,
) -> Callable[[Language], Iterable[Example]]:
    """Return the reader of an annotated corpus, by the name of its file.

    It is ``.spacy`` (a file or folder), ``.conllu``, ``.conll`` or ``.conllx``, or has one token a
    line, with the columns of a :class:`ColumnCorpus`; ``.iob2`` files without them are read as
    UNER's. `n_sents` is the most sentences of a document, in formats of sentences; `limit` is the
    most documents, or sentences, to read, 0 for all; `merge_subtokens` as for a `ConlluCorpus`.

    Raises `ProblemError` if the file is of another kind.
    """
    path = checked_path("corpus", path)
    name = path.name.removesuffix(".gz")
    if not path.exists():
        raise ProblemError(f"corpus: there is no {path}.")
    if columns or name.endswith(".iob2"):
        named = list(columns) or ["-", "form", "ent", "-", "-"]
        return ColumnCorpus(path, named, n_sents=n_sents, limit=limit)
    if path.is_dir() or name.endswith(".spacy"):
        for file in path.rglob("*.spacy") if path.is_dir() else [path]:
            read_docbin(file)  # whose errors name the file
        return Corpus(path, limit=limit)
    if name.endswith(tuple(ConlluCorpus.suffixes)):
        return ConlluCorpus(path, n_sents=n_sents, limit=limit, merge_subtokens=merge_subtokens)
    if name.endswith(".jsonl"):
        advice = (
            "JSON lines are read by a config's spacy-decoders.LinkedCorpus.v1 and Headlines.v1"
        )
    else:
        advice = "name its columns, as by --columns form,tag; spaCy's own `convert` reads .json"
    raise ProblemError(f"corpus: {path.name} is no .spacy, .conllu, .conll or .iob2; {advice}.")


def _gold_doc(vocab: Vocab, sentences: Sequence[Sentence]) -> Doc:
    """Make a Doc of annotated sentences.

    A layer is set if any sentence has it. Boundaries are the file's own even if a sentence has
    several roots or crossing arcs, at which spaCy would split it.
    """
    words = [word for sentence in sentences for word in sentence.words]
    starts = np.full(len(words), -1, dtype=np.int64)
    heads: list[Any] = []
    offset = 0
    for sentence in sentences:
        starts[offset] = 1
        heads += [
            None if head is None else offset + (head - 1 if head else i)
            for i, head in enumerate(sentence.heads or [None] * len(sentence))
        ]
        offset += len(sentence)

    def layer(name: str, missing: str | None = "") -> list[Any] | None:
        if all(getattr(sentence, name) is None for sentence in sentences):
            return None
        return [
            value
            for sentence in sentences
            for value in getattr(sentence, name) or [missing] * len(sentence)
        ]

    deps = layer("deps", missing=None)
    doc = Doc(
        vocab,
        words=words,
        spaces=[space for sentence in sentences for space in sentence.spaces],
        tags=layer("tags"),
        pos=layer("pos"),
        morphs=layer("morphs"),
        lemmas=layer("lemmas"),
        heads=None if deps is None else heads,
        deps=deps,
        ents=layer("ents"),
        sent_starts=None if deps is not None else cast(Any, starts.tolist()),
    )
    if deps is not None:
        # spaCy has derived boundaries from the roots: restore those of the file
        doc.from_array([SENT_START], cast(Any, starts.reshape(-1, 1).view(np.uint64)))
    return doc


def _bare_doc(reference: Doc, *, boundaries: bool) -> Doc:
    """A Doc with the same tokens but without their annotation."""
    words = [token.text for token in reference]
    spaces = [bool(token.whitespace_) for token in reference]
    starts: Any = [token.is_sent_start for token in reference] if boundaries else None
    return Doc(reference.vocab, words=words, spaces=spaces, sent_starts=starts)
