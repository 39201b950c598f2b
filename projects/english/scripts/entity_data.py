"""Bring several corpora of named entities to one scheme: persons, locations, organisations."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import spacy
import typer
from tokens import tokenize_as_web_treebanks

#: What UNER annotates too, by its names in the other corpora.
SHARED = {
    "PER": "PER",
    "person": "PER",
    "LOC": "LOC",
    "location": "LOC",
    "ORG": "ORG",
    "corporation": "ORG",
}
#: Corpora whose other types may be organisations or places: what is in capitals and not of a
#: shared type is unknown there.
PARTIAL = ("wnut", "emerging")
#: Corpora of messages: each is a document.
MESSAGES = ("a.", "b.", "e.", "f.", "g.", "h.", *PARTIAL)


#: What some corpora leave at the end of a name, which it is no part of.
CLITICS = ("'s", "’s", "'", "’", ".", ",", "!", "?", ":")

NLP = spacy.blank("en")
tokenize_as_web_treebanks(NLP)


def main(assets: Path, output: Path) -> None:
    """Write UNER's training part and the other corpora to a folder, in UNER's columns.

    Beside UNER's goes the treebank, which knows its blanks.
    """
    output.mkdir(parents=True, exist_ok=True)
    for suffix in (".iob2", ".conllu"):
        shutil.copy(assets / f"en_ewt-ud-train{suffix}", output)
    for file in sorted(assets.glob("*.conll*")):
        if file.suffix == ".conllu":
            continue
        partial, alone = file.name.startswith(PARTIAL), file.name.startswith(MESSAGES)
        name = file.name.removesuffix(".txt").removesuffix(".conll").replace(".", "-")
        with (output / f"{name}.iob2").open("w", encoding="utf8") as out:
            for starts_document, rows in sentences(file):
                if starts_document or alone:
                    out.write("# newdoc\n")
                for number, (form, label) in enumerate(translated(rows, partial), start=1):
                    out.write(f"{number}\t{form}\t{label}\t-\t-\n")
                out.write("\n")


def sentences(file: Path) -> Iterator[tuple[bool, list[tuple[str, str]]]]:
    """Yield whether a document begins, and the words and labels of a sentence."""
    rows: list[tuple[str, str]] = []
    starts_document = True
    for line in [*file.read_text(encoding="utf8").splitlines(), ""]:
        fields = line.split()
        if fields and fields[0] != "-DOCSTART-":
            rows.append((fields[0], fields[-1]))
            continue
        if rows:
            yield starts_document, rows
            rows, starts_document = [], False
        starts_document |= bool(fields)


@cache
def tokens(form: str) -> tuple[str, ...]:
    """Return the tokens of a word of other corpora, where "Jean-Luc" is one."""
    return tuple(token.text for token in NLP.tokenizer(form))


def translated(rows: list[tuple[str, str]], partial: bool) -> Iterator[tuple[str, str]]:
    """Yield tokens and labels of the shared types; ``_`` for a label that is unknown."""
    before = "O"
    for form, label in rows:
        kind = SHARED.get(label[2:])
        if label == "O":
            unknown = partial and form[:1].isupper()
            yield from ((token, "_" if unknown else "O") for token in tokens(form))
        elif kind is None:
            yield from ((token, "_" if partial else "O") for token in tokens(form))
        else:
            inside = label[0] == "I" and before[2:] == label[2:]
            first, *rest = tokens(form)
            yield first, f"{'I' if inside else 'B'}-{kind}"
            yield from ((token, "O" if token in CLITICS else f"I-{kind}") for token in rest)
        before = label


if __name__ == "__main__":
    typer.run(main)
