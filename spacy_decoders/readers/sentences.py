"""Annotated sentences read from CoNLL-U, CoNLL-X and column files, as plain Python.

All formats are read as :class:`Sentence`, so that callers handle a single structure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..arrays import checked_list
from ..errors import ProblemError
from .text_lines import text_lines
from .words import (
    PARTS_OF_SPEECH,
    WordError,
    as_bio,
    heads_of,
    is_features,
)

__all__ = ["COLUMNS", "Sentence", "read_columns", "read_conllu"]

#: What a column of a column file may hold; "-" stands for one to skip.
COLUMNS = ("form", "lemma", "pos", "tag", "morph", "head", "dep", "ent", "-")

#: The columns of CoNLL-U and CoNLL-X; those after the relation may be missing.
_CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

#: Numbers of words, of multi-word tokens and of empty nodes.
_ID = re.compile(r"(\d{1,9})(?:-(\d{1,9})|\.\d+)?")


@dataclass(frozen=True)
class Sentence:
    """One sentence; a layer that its file lacks is None.

    Raises `WordError` if a word is empty, its part of speech is not universal, or its features are
    no list.
    """

    #: The (syntactic) words.
    words: tuple[str, ...]
    #: Whether a space follows each word.
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
    path: str | Path,
    form: Literal["auto", "conllu", "conllx"] = "auto",
    *,
    merge_subtokens: bool = False,
) -> Iterator[Sentence]:
    """Read a CoNLL-U or CoNLL-X file, gzipped or not.

    Multi-word tokens are read as their syntactic words, without spaces between them; with
    `merge_subtokens`, those that their words do not spell, as Italian "nella" is not "in" and
    "la", are one word, with the tags and lemmas of all, and else what the one nearest to the root
    has. Empty nodes are left out. A missing fine-grained tag (XPOS) is replaced by the universal
    one (UPOS), parts of speech that are not universal are read as tags only, and features that are
    no list of ``Name=Value`` are left out.

    The form ``"conllx"`` is the older format, whose coarse parts of speech and features are not
    universal and therefore not read. ``"auto"`` takes ``.conllu`` for CoNLL-U and all else for
    CoNLL-X.

    Raises `ProblemError` with the line if the file is malformed: too few columns, words out of
    order, a head that is no word of the sentence, or heads in a cycle.
    """
    path = Path(path)
    if form == "auto":
        form = "conllu" if ".conllu" in path.suffixes else "conllx"
    starts_document = False
    for block in _blocks(path):
        comments = [line for _, line in block if line.startswith("#")]
        starts_document |= any(map(_starts_document, comments))
        if len(comments) < len(block):
            sentence, tokens = _from_conllu(
                path, block, starts_document, universal=form == "conllu"
            )
            yield _merged(sentence, tokens) if merge_subtokens else sentence
            starts_document = False


def read_columns(
    path: str | Path, columns: Sequence[str], separator: str | None = "\t"
) -> Iterator[Sentence]:
    """Read a file of one token a line, with a blank line after each sentence.

    Lines that begin with ``#`` and have another number of columns are comments;
    ``# newdoc`` starts a document, and so does a line with ``-DOCSTART-``. The file may be
    gzipped.

    A column holds "form", "lemma", "pos", "tag", "morph", "head", "dep", "ent" (in any scheme that
    :func:`~.words.as_bio` reads), or is skipped, "-". A "pos" is universal and a "morph" a list of
    ``Name=Value``; other tags are a "tag". The separator is None for any white space.

    Raises `ProblemError` if a column's name is unknown, a line has another number of columns, a
    part of speech is not universal, features are no list of ``Name=Value``, a head is no word of
    its sentence, or heads form a cycle.

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
    columns = checked_list("columns", columns, f"{', '.join(COLUMNS)}")
    unknown = [name for name in columns if name not in COLUMNS]
    named = [name for name in columns if name != "-"]
    if unknown or "form" not in named or len(set(named)) < len(named):
        raise ProblemError(
            f"columns: expected 'form' and others of {', '.join(COLUMNS)}, each at most once, "
            f"got {columns}."
        )
    starts_document = False
    for block in _blocks(path):
        rows: list[list[str]] = []
        numbers: list[int] = []
        for number, line in block:
            fields = line.rstrip("\n").split(separator)
            if fields[0].startswith("-DOCSTART-"):
                starts_document = True
            elif len(fields) == len(columns):
                rows.append(fields)
                numbers.append(number)
            elif line.startswith("#"):
                starts_document |= _starts_document(line)
            else:
                raise ProblemError(
                    f"{path.name}, line {number}: expected {len(columns)} columns "
                    f"({', '.join(columns)}), got {len(fields)}; is the separator "
                    f"{separator!r}, and does `columns` name all, such as form,ent?"
                )
        if rows:
            layers = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
            yield _sentence(path, numbers, layers, starts_document)
            starts_document = False


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


def _from_conllu(
    path: Path, block: Sequence[tuple[int, str]], starts_document: bool, *, universal: bool
) -> tuple[Sentence, dict[int, tuple[int, str]]]:
    """Make a sentence of its numbered lines.

    Also returns its multi-word tokens: by the number of the first word that of the last, and the
    form.
    """
    tokens: dict[int, tuple[int, str]] = {}
    words: list[dict[str, str]] = []
    numbers: list[int] = []
    spaces: list[bool] = []
    joined, space_after = 0, True  # a multi-word token's last word, and whether a space follows
    for number, line in block:
        if line.startswith("#"):
            continue
        row = dict(zip(_CONLLU, line.rstrip("\n").split("\t"), strict=False))
        place = f"{path.name}, line {number}"
        if "deprel" not in row:
            missing = ", ".join(_CONLLU[len(row) : _CONLLU.index("deps")])
            raise ProblemError(
                f"{place}: {len(row)} columns, without {missing}; are they separated by tabs?"
            )
        found = _ID.fullmatch(row["id"])
        if not found:
            raise ProblemError(f"{place}: expected a word's number, got {row['id'][:40]!r}.")
        # CoNLL-X has another column there
        space = not universal or "SpaceAfter=No" not in row.get("misc", "").split("|")
        if found[2]:
            joined, space_after = int(found[2]), space
            tokens[int(found[1])] = joined, row["form"]
        if found[0] != found[1]:
            continue  # a multi-word token or an empty node
        words.append(row)
        numbers.append(number)
        if int(found[1]) != len(words):
            raise ProblemError(
                f"{place}: word {found[1]} where {len(words)} is expected; separate sentences by "
                "blank lines, and number words from 1."
            )
        # a multi-word token has no space inside, and its own row tells of the one after it
        inside = len(words) <= joined
        spaces.append(space if not inside else space_after and len(words) == joined)
    layers: dict[str, Sequence[str | None]] = {
        "form": [row["form"] for row in words],
        "lemma": [row["lemma"] for row in words],
        "tag": [row["upos"] if row["xpos"] in ("", "_") else row["xpos"] for row in words],
        "head": [row["head"] for row in words],
        "dep": [row["deprel"] for row in words],
    }
    if universal:
        # spaCy accepts no others as `pos`
        parts = [row["upos"] for row in words]
        layers["pos"] = [part if part in PARTS_OF_SPEECH else None for part in parts]
        layers["morph"] = [row["feats"] if is_features(row["feats"]) else None for row in words]
    return _sentence(path, numbers, layers, starts_document, spaces), tokens


def _merged(sentence: Sentence, tokens: Mapping[int, tuple[int, str]]) -> Sentence:
    """Make one word of those of each token that they do not spell."""
    size, heads = len(sentence), sentence.heads or (0,) * len(sentence)
    first = [*range(size + 1)]  # of each word's token; 0 for the root
    forms = ["", *sentence.words]
    for begin, (end, form) in tokens.items():
        if begin < end <= size and "".join(forms[begin : end + 1]) != form:
            first[begin : end + 1] = [begin] * (end + 1 - begin)
            forms[begin] = form
    members: dict[int, list[int]] = {}
    for word, begin in enumerate(first[1:], start=1):
        members.setdefault(begin, []).append(word - 1)
    if len(members) == size:
        return sentence

    def depth(word: int) -> int:
        steps = 0
        while heads[word]:
            word, steps = heads[word] - 1, steps + 1
        return steps

    # the head of the highest word is below none of the others, so that there is no cycle
    tops = [min(own, key=depth) for own in members.values()]
    number = {begin: place for place, begin in enumerate([0, *members])}

    def of_tops(layer: Sequence[Any] | None) -> tuple[Any, ...] | None:
        return None if layer is None else tuple(layer[top] for top in tops)

    def together(layer: Sequence[str] | None, between: str) -> tuple[str, ...] | None:
        if layer is None:
            return None
        named = ([layer[word] for word in own if layer[word]] for own in members.values())
        return tuple(map(between.join, named))

    return replace(
        sentence,
        words=tuple(forms[begin] for begin in members),
        spaces=tuple(sentence.spaces[own[-1]] for own in members.values()),
        lemmas=together(sentence.lemmas, " "),
        pos=of_tops(sentence.pos),
        tags=together(sentence.tags, "_"),
        morphs=of_tops(sentence.morphs),
        heads=sentence.heads and tuple(number[first[head]] for head in of_tops(heads) or ()),
        deps=of_tops(sentence.deps),
    )


def _starts_document(comment: str) -> bool:
    return comment[1:].strip().startswith("newdoc")


def _sentence(
    path: Path,
    numbers: Sequence[int],
    layers: Mapping[str, Sequence[str | None]],
    starts_document: bool,
    spaces: Sequence[bool] = (),
) -> Sentence:
    """Make a sentence of its layers; an error names the line of its word."""
    try:
        heads = heads_of(map(str, layers["head"])) if "head" in layers else None
        return Sentence(
            words=tuple(map(str, layers["form"])),
            spaces=tuple(spaces) or (True,) * len(numbers),
            lemmas=_layer(layers.get("lemma", ())),
            pos=_layer(layers.get("pos", ())),
            tags=_layer(layers.get("tag", ())),
            morphs=_layer(layers.get("morph", ())),
            heads=heads,
            deps=None if heads is None else _relations(heads, layers.get("dep")),
            ents=as_bio(map(str, layers["ent"])) if "ent" in layers else None,
            starts_document=starts_document,
        )
    except WordError as error:
        raise ProblemError(f"{path.name}, line {numbers[error.word]}: {error}.") from error


def _layer(values: Iterable[str | None]) -> tuple[str, ...] | None:
    """The values, empty for ``_``; None if all are empty."""
    layer = tuple("" if value in (None, "_") else str(value) for value in values)
    return layer if any(layer) else None


def _relations(heads: Sequence[int], deps: Sequence[str | None] | None) -> tuple[str, ...]:
    """Relations with spaCy's name for the root; ``"dep"`` where the file has none."""
    given = deps or ("dep",) * len(heads)
    return tuple("ROOT" if head == 0 else str(dep) for head, dep in zip(heads, given, strict=True))
