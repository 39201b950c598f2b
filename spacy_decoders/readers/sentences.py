"""Annotated sentences read from CoNLL-U, CoNLL-X and column files, as plain Python.

All formats are read as :class:`Sentence`, so that callers handle a single structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import conllu

from ..errors import ProblemError
from .entity_tags import as_bio
from .text_lines import text_lines

__all__ = ["COLUMNS", "Sentence", "read_columns", "read_conllu"]

#: What a column of a column file may hold; "-" stands for one to skip.
COLUMNS = ("form", "lemma", "pos", "tag", "morph", "head", "dep", "ent", "-")

_CONLLX = (
    "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "phead", "pdeprel",
)  # fmt: skip


@dataclass(frozen=True)
class Sentence:
    """One sentence; a layer that its file lacks is None.

    Attributes
    ----------
    words
        The (syntactic) words.
    spaces
        Whether a blank follows each word.
    lemmas, pos, tags, morphs
        Lemma, universal part of speech, fine-grained tag and morphology of each word.
    heads
        Head of each word: 1-based position in the sentence, 0 for the root.
    deps
        Relation to the head, ``"ROOT"`` for the root.
    ents
        Named entities in BIO.
    starts_document
        Whether a new document begins here.
    """

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    lemmas: tuple[str, ...] | None = None
    pos: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    morphs: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    deps: tuple[str, ...] | None = None
    ents: tuple[str, ...] | None = None
    starts_document: bool = False

    def __len__(self) -> int:
        return len(self.words)


def read_conllu(
    path: str | Path, form: Literal["auto", "conllu", "conllx"] = "auto"
) -> Iterator[Sentence]:
    """Read a CoNLL-U or CoNLL-X file, gzipped or not.

    Of multi-word tokens the syntactic words are read, without blanks between them; empty
    nodes are left out. A missing fine-grained tag (XPOS) is replaced by the universal one.

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
        If the file is malformed.
    """
    path = Path(path)
    if form == "auto":
        form = "conllu" if ".conllu" in path.suffixes else "conllx"
    try:
        for tokens in conllu.parse_incr(
            StringIO("".join(text_lines(path))),
            fields=None if form == "conllu" else _CONLLX,
            field_parsers={
                # kept unparsed: spaCy parses them itself, and CoNLL-X has its own
                "feats": lambda fields, i: fields[i],
                "deps": lambda fields, i: None,
                "phead": lambda fields, i: None,
                "pdeprel": lambda fields, i: None,
            },
        ):
            yield _from_conllu(tokens, universal=form == "conllu")
    except conllu.exceptions.ParseException as error:
        raise ProblemError(f"{path.name}: this is not {form} ({error}).") from error


def read_columns(
    path: str | Path, columns: Sequence[str], separator: str | None = "\t"
) -> Iterator[Sentence]:
    """Read a file of one token a line, with a blank line after each sentence.

    Lines that begin with ``#`` and have another number of columns are comments;
    ``# newdoc`` starts a document.

    Parameters
    ----------
    path
        The file, gzipped or not.
    columns
        What each column holds: "form", "lemma", "pos", "tag", "morph", "head", "dep", "ent"
        (in any scheme that :func:`~.entity_tags.as_bio` reads), or "-" to skip it.
    separator
        The separator of columns; None for any white space.

    Raises
    ------
    ProblemError
        If a column's name is unknown or a line has another number of columns.

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
    starts_document = False
    for number, line in enumerate(text_lines(path), start=1):
        fields = line.rstrip("\r\n").split(separator)
        if not line.strip():
            if rows:
                yield _from_rows(rows, columns, starts_document)
                rows, starts_document = [], False
        elif len(fields) == len(columns):
            rows.append(fields)
        elif line.startswith("#"):
            starts_document |= line[1:].strip().startswith("newdoc")
        else:
            raise ProblemError(
                f"{path.name}, line {number}: expected {len(columns)} columns "
                f"({', '.join(columns)}), got {len(fields)}."
            )
    if rows:
        yield _from_rows(rows, columns, starts_document)


def _from_conllu(tokens: conllu.TokenList, *, universal: bool) -> Sentence:
    words = [token for token in tokens if isinstance(token["id"], int)]
    # a multi-word token has no blanks inside and states the one behind it
    spaces = {token["id"]: _space_after(token) for token in words}
    for token in tokens:
        if not isinstance(token["id"], int) and token["id"][1] == "-":
            first, _, last = token["id"]
            spaces.update(dict.fromkeys(range(first, last), False))
            spaces[last] = _space_after(token)
    heads = tuple(token["head"] for token in words)
    has_tree = all(head is not None for head in heads)
    return Sentence(
        words=tuple(token["form"] for token in words),
        spaces=tuple(spaces[token["id"]] for token in words),
        lemmas=_layer(token["lemma"] for token in words),
        pos=_layer(token["upos"] for token in words) if universal else None,
        tags=_layer(token["xpos"] or token["upos"] for token in words),
        morphs=_layer(token["feats"] for token in words) if universal else None,
        heads=heads if has_tree else None,
        deps=_relations(heads, [token["deprel"] for token in words]) if has_tree else None,
        starts_document="newdoc" in tokens.metadata or "newdoc id" in tokens.metadata,
    )


def _from_rows(
    rows: Sequence[Sequence[str]], columns: Sequence[str], starts_document: bool
) -> Sentence:
    layers = {name: tuple(row[i] for row in rows) for i, name in enumerate(columns)}
    heads = tuple(int(head) for head in layers["head"]) if "head" in layers else None
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
