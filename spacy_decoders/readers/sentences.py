"""Annotated sentences read from CoNLL-U, CoNLL-X and column files, as plain Python.

All formats are read as :class:`Sentence`, so that callers handle a single structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import conllu
from conllu.exceptions import ParseException

from ..errors import ProblemError
from .entity_tags import as_bio
from .text_lines import text_lines
from .words import PARTS_OF_SPEECH, WordError, checked_heads, features, head_of, is_features

__all__ = ["COLUMNS", "Sentence", "read_columns", "read_conllu"]

#: What a column of a column file may hold; "-" stands for one to skip.
COLUMNS = ("form", "lemma", "pos", "tag", "morph", "head", "dep", "ent", "-")

_CONLLX = (
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "phead", "pdeprel",
)  # fmt: skip

#: The columns that are read; those behind them may be missing.
_NEEDED = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")

_PLUS = "# global.columns = "


def _parsed_head(fields: list[str], i: int) -> int | None:
    try:
        return head_of(fields[i])
    except ValueError as error:
        raise ParseException(str(error)) from error


_FIELD_PARSERS: dict[str, Any] = {
    "head": _parsed_head,
    # kept unparsed: spaCy parses them itself, and CoNLL-X has its own
    "feats": lambda fields, i: fields[i],
    "deps": lambda fields, i: None,
    "phead": lambda fields, i: None,
    "pdeprel": lambda fields, i: None,
}


@dataclass(frozen=True)
class Sentence:
    """One sentence; a layer that its file lacks is None.

    Raises
    ------
    WordError
        If a word is empty, its part of speech is not universal, or its features are no list.
    """

    #: The (syntactic) words.
    words: tuple[str, ...]
    #: Whether a blank follows each word.
    spaces: tuple[bool, ...]
    #: Lemma, universal part of speech, fine-grained tag and morphology of each word.
    lemmas: tuple[str, ...] | None = None
    pos: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    morphs: tuple[str, ...] | None = None
    #: Head of each word: 1-based position in the sentence, 0 for the root.
    heads: tuple[int, ...] | None = None
    #: Relation to the head, ``"ROOT"`` for the root.
    deps: tuple[str, ...] | None = None
    #: Named entities in BIO.
    ents: tuple[str, ...] | None = None
    #: Whether a new document begins here.
    starts_document: bool = False

    def __post_init__(self) -> None:
        for word, form in enumerate(self.words):
            if not form:
                raise WordError(word, "the word is empty")
        for word, pos in enumerate(self.pos or ()):
            if pos and pos not in PARTS_OF_SPEECH:
                raise WordError(word, f"{pos[:40]!r} is no universal part of speech")
        for word, morph in enumerate(self.morphs or ()):
            if morph and not is_features(morph):
                raise WordError(word, f"{morph[:40]!r} is no list such as Case=Nom|Number=Sing")

    def __len__(self) -> int:
        return len(self.words)


def read_conllu(
    path: str | Path, form: Literal["auto", "conllu", "conllx"] = "auto"
) -> Iterator[Sentence]:
    """Read a CoNLL-U or CoNLL-X file, gzipped or not.

    Of multi-word tokens the syntactic words are read, without blanks between them; empty
    nodes are left out. A missing fine-grained tag (XPOS) is replaced by the other one (UPOS),
    parts of speech that are not universal are read as tags only, and features that are no list
    of ``Name=Value`` are left out.

    Parameters
    ----------
    path
        The file.
    form
        ``"conllx"`` for the older format, of whose parts of speech only the fine-grained are
        read: neither its coarse ones nor its features are universal. ``"auto"`` takes
        ``.conllu`` for CoNLL-U and all else for CoNLL-X.

    Raises
    ------
    ProblemError
        If the file is malformed, with the line: too few columns, words out of their order, a
        head that is no word of the sentence, or heads in a cycle.
    """
    path = Path(path)
    if form == "auto":
        form = "conllu" if ".conllu" in path.suffixes else "conllx"
    fields: tuple[str, ...] = conllu.parser.DEFAULT_FIELDS if form == "conllu" else _CONLLX
    for block in _blocks(path):
        for _, line in block:
            if line.startswith(_PLUS):  # CoNLL-U Plus names its columns
                fields = tuple(line.removeprefix(_PLUS).lower().split())
        numbers = [number for number, line in block if not line.lstrip().startswith("#")]
        tokens = _parsed(block, fields, path, form)
        _check_rows(tokens, numbers, path)
        try:
            yield _from_conllu(tokens, universal=form == "conllu")
        except WordError as error:
            words = [n for n, row in zip(numbers, tokens, strict=True) if _is_word(row)]
            raise ProblemError(f"{path.name}, line {words[error.word]}: {error}.") from error


def read_columns(
    path: str | Path, columns: Sequence[str], separator: str | None = "\t"
) -> Iterator[Sentence]:
    """Read a file of one token a line, with a blank line after each sentence.

    Lines that begin with ``#`` and have another number of columns are comments;
    ``# newdoc`` starts a document, and so does a line with ``-DOCSTART-``.

    Parameters
    ----------
    path
        The file, gzipped or not.
    columns
        What each column holds: "form", "lemma", "pos", "tag", "morph", "head", "dep", "ent"
        (in any scheme that :func:`~.entity_tags.as_bio` reads), or "-" to skip it. A "pos" is
        universal and a "morph" a list of ``Name=Value``; other tags are a "tag".
    separator
        The separator of columns; None for any white space.

    Raises
    ------
    ProblemError
        If a column's name is unknown, a line has another number of columns, a part of speech is
        not universal, features are no list of ``Name=Value``, a head is no word of its sentence,
        or heads form a cycle.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "tiny.tsv")
    ...     _ = file.write_text("Mercury\\tNNP\\tB-PLANET\\nshines\\tVBZ\\tO\\n")
    ...     sentences = list(read_columns(file, ["form", "tag", "ent"]))
    >>> sentences[0].words, sentences[0].tags, sentences[0].ents
    (('Mercury', 'shines'), ('NNP', 'VBZ'), ('B-PLANET', 'O'))
    """
    path = Path(path)
    unknown = [name for name in columns if name not in COLUMNS]
    named = [name for name in columns if name != "-"]
    if unknown or "form" not in named or len(set(named)) < len(named):
        raise ProblemError(
            f"columns: expected 'form' and others of {', '.join(COLUMNS)}, each at most once, "
            f"got {list(columns)}."
        )
    rows: list[list[str]] = []
    numbers: list[int] = []
    starts_document = False

    def sentence() -> Sentence:
        try:
            return _from_rows(rows, columns, starts_document)
        except WordError as error:
            raise ProblemError(f"{path.name}, line {numbers[error.word]}: {error}.") from error

    for number, line in enumerate(text_lines(path), start=1):
        fields = line.rstrip("\r\n").split(separator)
        if not line.strip():
            if rows:
                yield sentence()
                rows, numbers, starts_document = [], [], False
        elif fields[0].startswith("-DOCSTART-"):
            starts_document = True
        elif len(fields) == len(columns):
            rows.append(fields)
            numbers.append(number)
        elif line.startswith("#"):
            starts_document |= line[1:].strip().startswith("newdoc")
        else:
            raise ProblemError(
                f"{path.name}, line {number}: expected {len(columns)} columns "
                f"({', '.join(columns)}), got {len(fields)}."
            )
    if rows:
        yield sentence()


def _blocks(path: Path) -> Iterator[list[tuple[int, str]]]:
    """The lines of each sentence, with their numbers."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _parsed(
    lines: Sequence[tuple[int, str]], fields: Sequence[str], path: Path, form: str
) -> conllu.TokenList:
    """Parse lines of one sentence; an error names the line."""
    text = "".join(line for _, line in lines)
    try:
        return conllu.parse_token_and_metadata(text, fields, dict(_FIELD_PARSERS))
    except (ParseException, ValueError) as error:
        if len(lines) > 1:
            for line in lines:
                _parsed([line], fields, path, form)
        raise ProblemError(
            f"{path.name}, line {lines[0][0]}: this is not {form} ({error})."
        ) from error


def _check_rows(tokens: conllu.TokenList, numbers: Sequence[int], path: Path) -> None:
    """Check that each row has its columns and that words are numbered from 1 on."""
    words = 0
    for number, token in zip(numbers, tokens, strict=True):
        missing = [name for name in _NEEDED if name not in token]
        words += _is_word(token)
        fault = ""
        if missing:
            fault = f"{len(token)} columns, without {', '.join(missing)}; are they parted by tabs?"
        elif token["id"] is None:
            fault = "the row has no number."
        elif _is_word(token) and token["id"] != words:
            fault = (
                f"word {token['id']} where {words} is expected; sentences are parted by blank "
                "lines, and words numbered from 1."
            )
        if fault:
            raise ProblemError(f"{path.name}, line {number}: {fault}")


def _is_word(token: Any) -> bool:
    """Whether a row is a word; else it is a multi-word token or an empty node."""
    return isinstance(token.get("id"), int)


def _from_conllu(tokens: conllu.TokenList, *, universal: bool) -> Sentence:
    words = [token for token in tokens if _is_word(token)]
    # a multi-word token has no blanks inside and states the one behind it
    spaces = {token["id"]: _space_after(token) for token in words}
    for token in tokens:
        if not _is_word(token) and token["id"][1] == "-":
            first, _, last = token["id"]
            spaces.update(dict.fromkeys(range(first, last), False))
            spaces[last] = _space_after(token)
    heads = checked_heads(token["head"] for token in words)
    # spaCy accepts no others as `pos`
    parts = [token["upos"] if token["upos"] in PARTS_OF_SPEECH else None for token in words]
    return Sentence(
        words=tuple(token["form"] for token in words),
        spaces=tuple(spaces[token["id"]] for token in words),
        lemmas=_layer(token["lemma"] for token in words),
        pos=_layer(parts) if universal else None,
        tags=_layer(token["xpos"] or token["upos"] for token in words),
        morphs=_layer(features(token["feats"]) for token in words) if universal else None,
        heads=heads,
        deps=None if heads is None else _relations(heads, [token["deprel"] for token in words]),
        starts_document="newdoc" in tokens.metadata or "newdoc id" in tokens.metadata,
    )


def _from_rows(
    rows: Sequence[Sequence[str]], columns: Sequence[str], starts_document: bool
) -> Sentence:
    layers = {name: tuple(row[i] for row in rows) for i, name in enumerate(columns)}
    heads = _heads(layers["head"]) if "head" in layers else None
    return Sentence(
        words=layers["form"],
        spaces=(True,) * len(rows),
        lemmas=_layer(layers.get("lemma", ())),
        pos=_layer(layers.get("pos", ())),
        tags=_layer(layers.get("tag", ())),
        morphs=_layer(layers.get("morph", ())),
        heads=heads,
        deps=None if heads is None else _relations(heads, layers.get("dep")),
        ents=as_bio(layers["ent"]) if "ent" in layers else None,
        starts_document=starts_document,
    )


def _heads(column: Iterable[str]) -> tuple[int, ...] | None:
    heads = []
    for word, field in enumerate(column):
        try:
            heads.append(head_of(field))
        except ValueError as error:
            raise WordError(word, str(error)) from error
    return checked_heads(heads)


def _space_after(token: Any) -> bool:
    misc = token.get("misc") or {}
    return bool(misc.get("SpaceAfter") != "No")


def _layer(values: Iterable[str | None]) -> tuple[str, ...] | None:
    """The values with ``_`` as nothing, or None where there is nothing at all."""
    layer = tuple("" if value in (None, "_") else str(value) for value in values)
    return layer if any(layer) else None


def _relations(heads: Iterable[int], deps: Sequence[str] | None) -> tuple[str, ...]:
    """Relations with spaCy's name for the root; ``"dep"`` where the file has none."""
    heads = tuple(heads)
    given = deps or ("dep",) * len(heads)
    return tuple("ROOT" if head == 0 else dep for head, dep in zip(heads, given, strict=True))
