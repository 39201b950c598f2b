"""What the student reads: documents of the treebank and of annotated texts, with white space."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = [
    "LAYOUTS",
    "SENTENCES",
    "Arrays",
    "Batches",
    "Corpus",
    "collate",
    "read_silver",
    "read_treebank",
]

#: Heads, labels and tags of each word, the likeliest first, as `silver.py` keeps them.
KEPT = 3
#: Words among which a head is sought, in whole sentences; as in `models/parser/losses.py`.
BLOCK_WORDS = 60
#: Documents that the teachers are less sure of are left out, as in `silver_trees.py`.
LEAST = 0.75
#: The most sentences of a document.
SENTENCES = 10
#: The share of documents with white space, and how it is put; as in `readers/white_space.py`.
WHITE_SPACE = 0.25
LAYOUTS = ("\n", "\n\n", " ", "")
PARAGRAPHS, DOUBLED, WRAPPED, WIDTHS = 0.3, 0.03, 0.3, (40, 80)

Arrays = dict[str, NDArray[Any]]


class Corpus:
    """Words one after the other: their sentences, and the targets of each."""

    def __init__(self, columns: Arrays) -> None:
        self.columns = columns
        self.begins = np.append(np.flatnonzero(columns["starts"]), len(columns["starts"]))
        self.opens = set(np.flatnonzero(columns["opens"]).tolist())

    def documents(self, chance: random.Random) -> Iterator[tuple[int, int]]:
        """Yield documents of one to ten sentences, as numbers of the first and behind the last."""
        first, size = 0, chance.randint(1, SENTENCES)
        for place in range(1, len(self.begins) - 1):
            if place - first == size or int(self.begins[place]) in self.opens:
                yield first, place
                first, size = place, chance.randint(1, SENTENCES)
        yield first, len(self.begins) - 1


def read_treebank(file: Path, names: dict[str, Any], number: dict[str, int]) -> Corpus:
    """Read a treebank, whose trees are certain."""
    rows, opens, starts = [], [], []
    is_open = True
    for block in file.read_text(encoding="utf8").split("\n\n"):
        lines = block.strip("\n").split("\n")
        is_open |= any(line.startswith("# newdoc") for line in lines)
        words = [line.split("\t") for line in lines if line.split("\t")[0].isdigit()]
        for place, row in enumerate(words):
            rows.append(row)
            starts.append(place == 0)
            opens.append(place == 0 and is_open)
            is_open = False
    labels, tags = ({n: i for i, n in enumerate(names[k])} for k in ("labels", "tags"))
    only = np.eye(KEPT)[0].astype("f")

    def spread(values: list[int]) -> NDArray[Any]:
        found = np.zeros((len(rows), KEPT), dtype=np.int64)
        found[:, 0] = values
        return found

    columns = {
        "words": np.array([number[row[1]] for row in rows]),
        "sizes": np.array([len(row[1]) for row in rows]),
        "spaces": np.array(["SpaceAfter=No" not in row[9] for row in rows]),
        "starts": np.array(starts),
        "opens": np.array(opens),
        "start_shares": np.array(starts, dtype="f"),
        "heads": spread([int(row[6]) for row in rows]),
        "labels": spread([labels.get(row[7], 0) for row in rows]),
        "labelled": np.array([row[7] in labels for row in rows]),
        "tags": spread([tags.get(row[4], 0) for row in rows]),
        "tagged": np.array([row[4] in tags for row in rows]),
    }
    columns |= {f"{k}_shares": np.tile(only, (len(rows), 1)) for k in ("head", "label", "tag")}
    return Corpus(columns)


def read_silver(
    texts: Path, soft: Path, names: dict[str, Any], number: dict[str, int], sharpness: float
) -> Corpus:
    """Read what teachers find likely in texts."""
    known = json.loads((soft / "vocabulary.json").read_text(encoding="utf8"))
    labels, tags = (
        np.array([names[new].index(n) if n in names[new] else 0 for n in known[old]])
        for old, new in (("label", "labels"), ("tag", "tags"))
    )
    parts: list[Arrays] = []
    for file in sorted(soft.glob("*.npz")):
        with np.load(file) as given:
            arrays = dict(given)
        lines = (texts / f"{file.stem}.jsonl").read_text(encoding="utf8").splitlines()
        rows = [json.loads(line) for line in lines[: len(arrays["lengths"])]]
        lengths = arrays["lengths"]
        document = np.repeat(np.arange(len(lengths)), lengths)
        sure = arrays["head_shares"][:, 0] / 255
        certain = np.bincount(document, sure, len(lengths)) / np.maximum(lengths, 1)
        kept = (certain >= LEAST)[document]
        words = [word for row in rows for word in row["words"]]
        opens = np.zeros(len(words), dtype=bool)
        opens[np.cumsum([0, *lengths[:-1]])[lengths > 0]] = True
        odds = arrays["odds"].astype("f")
        known_starts = np.repeat([row["starts"] is not None for row in rows], lengths)
        columns = {
            "words": np.array([number[word] for word in words]),
            "sizes": np.array([len(word) for word in words]),
            "spaces": np.array([space for row in rows for space in row["spaces"]], dtype=bool),
            "starts": arrays["starts"],
            "opens": opens,
            "start_shares": np.where(known_starts, arrays["starts"], 1 / (1 + np.exp(-odds))),
            "heads": arrays["heads"].astype(np.int64),
            "labels": labels[arrays["labels"]],
            "labelled": arrays["heads"][:, 0] > 0,
            "tags": tags[arrays["tag"]],
            "tagged": np.ones(len(words), dtype=bool),
            "head_shares": arrays["head_shares"].astype("f"),
            "label_shares": arrays["label_shares"].astype("f"),
            "tag_shares": arrays["tag_shares"].astype("f"),
        }
        for name in ("head", "label", "tag"):
            shares = (columns[f"{name}_shares"] / 255) ** sharpness
            columns[f"{name}_shares"] = shares / shares.sum(1, keepdims=True)
        parts.append({name: values[kept] for name, values in columns.items()})
    return Corpus({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def laid_out(
    corpus: Corpus, first: int, last: int, blanks: list[int], chance: random.Random
) -> Arrays:
    """Return the places of a document's words, by chance with white space among them.

    White space is -1 - the number of its word.
    """
    begins = corpus.begins[first : last + 1]
    places = np.arange(begins[0], begins[-1])
    if chance.random() >= WHITE_SPACE:
        return places
    between = chance.choice(LAYOUTS)
    width = chance.randint(*WIDTHS) if not between or chance.random() < WRAPPED else None
    sizes, spaces = corpus.columns["sizes"], corpus.columns["spaces"]
    ends = set((begins[1:-1] - 1).tolist())
    found, column = [], 0
    for place in places.tolist():
        found.append(place)
        column += int(sizes[place]) + int(spaces[place])
        blank = None
        if "\n" not in between and spaces[place] and chance.random() < DOUBLED:
            blank = " "
        if width is not None and spaces[place] and column > width:
            blank, column = "\n", 0
        if place in ends and (between != "\n\n" or chance.random() < PARAGRAPHS):
            blank = between or None
            column = 0 if "\n" in between else column
        if blank:
            found.append(-1 - blanks[LAYOUTS.index(blank)])
    return np.array(found)


def collate(corpus: Corpus, documents: list[NDArray[Any]]) -> Arrays:
    """Lay documents end to end: words, lengths, blocks of whole sentences, and targets."""
    columns = corpus.columns
    places = np.concatenate(documents)
    lengths = np.array([len(document) for document in documents])
    is_word = places >= 0
    source = np.maximum(places, 0)
    out = {"words": np.where(is_word, columns["words"][source], -1 - places), "lengths": lengths}
    of_document = np.repeat(np.arange(len(lengths)), lengths)
    first_words = np.array(
        [document[0] for document in documents]
    )  # a document begins with a word
    # the place of each word of a document among all
    at = [np.full(d.max() - d[0] + 1, -1) for d in documents]
    before = 0
    for where, document in zip(at, documents, strict=True):
        own = np.flatnonzero(document >= 0)
        where[document[own] - document[0]] = own + before
        before += len(document)
    offset = np.cumsum([0, *(len(where) for where in at)])[:-1]
    flat = np.concatenate(at)
    starts = is_word & columns["starts"][source]
    begins = np.flatnonzero(starts)
    first = np.repeat(source[begins], np.diff(np.append(begins, len(places))))
    heads = columns["heads"][source]
    target = (
        first[:, None]
        + heads
        - 1
        - first_words[of_document][:, None]
        + offset[of_document][:, None]
    )
    target = np.where(heads > 0, flat[np.clip(target, 0, len(flat) - 1)], -1)
    # blocks of whole sentences of one document
    ends = np.append(begins[1:], len(places))
    blocks, block_of = [0], []
    for begin, end, fresh in zip(begins, ends, np.isin(begins, np.cumsum(lengths)), strict=True):
        if begin and (fresh or end - blocks[-1] > BLOCK_WORDS):
            blocks.append(begin)
        block_of += [len(blocks) - 1] * (end - begin)
    begin_of = np.array(blocks)[block_of]
    out["block"] = np.array(block_of)
    out["column"] = np.arange(len(places)) - begin_of
    # 0 is the root
    out["heads"] = np.where(target >= 0, target - begin_of[:, None] + 1, 0)
    out["head_of"] = np.maximum(target[:, 0], 0)
    known = is_word.astype("f")
    out["head_shares"] = columns["head_shares"][source] * known[:, None]
    out["label_shares"] = (
        columns["label_shares"][source]
        * (known * columns["labelled"][source] * (target[:, 0] >= 0))[:, None]
    )
    out["tag_shares"] = (
        columns["tag_shares"][source] * (known * columns["tagged"][source])[:, None]
    )
    out["labels"], out["tags"] = columns["labels"][source], columns["tags"][source]
    out["start_shares"] = np.where(is_word, columns["start_shares"][source], 0.0)
    # the first word of a document begins a sentence, wherever it stood
    out["start_shares"][np.cumsum([0, *lengths[:-1]])] = 1.0
    return {
        k: v.astype("f") if v.dtype.kind == "f" else v.astype(np.int64) for k, v in out.items()
    }


class Batches(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
    """Batches of about as many words, without end; each worker has its own."""

    def __init__(
        self, corpora: list[tuple[Corpus, int]], blanks: list[int], size: int, seed: int
    ) -> None:
        self.corpora, self.blanks, self.size, self.seed = corpora, blanks, size, seed

    def __iter__(self) -> Iterator[Arrays]:
        worker = torch.utils.data.get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        chance = random.Random(f"{self.seed} {number}")
        turn = 0
        while True:
            # of one corpus each, which keeps arrays apart; gold as often as it counts
            units = []
            for which, (corpus, times) in enumerate(self.corpora):
                for _ in range(times):
                    units += [(which, d) for d in corpus.documents(chance)]
            chance.shuffle(units)
            units = units[number::workers]
            turn += 1
            waiting: list[list[tuple[int, int]]] = [[] for _ in self.corpora]
            words = [0] * len(self.corpora)
            for which, document in units:
                corpus = self.corpora[which][0]
                waiting[which].append(document)
                words[which] += int(corpus.begins[document[1]] - corpus.begins[document[0]])
                if words[which] >= self.size:
                    laid = [laid_out(corpus, *d, self.blanks, chance) for d in waiting[which]]
                    waiting[which], words[which] = [], 0
                    yield collate(corpus, laid)
