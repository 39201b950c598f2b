"""Annotate texts by the teacher: tags, features, trees and entities, as CoNLL-U and IOB."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
import typer
from teacher import MAX_PIECES, Encoding, Teacher, batches_of
from tokens import tokenize_as_web_treebanks

from spacy_decoders.decoders.tree import Eisner, TreeProblem

#: Documents whose heads the teacher finds less probable than this on average are left out: they
#: are in other languages, or no prose.
LEAST = 0.75
#: Sources in which people marked all persons, places and organisations.
MARKED = ("tweets", "wikigold")


class Document:
    """A document whose sentences are found in one window after another."""

    def __init__(self, nlp: spacy.Language, row: dict[str, Any]) -> None:
        tokens = [token for token in nlp.make_doc(row["text"]) if not token.is_space]
        self.source = row["source"]
        self.words = [token.text for token in tokens]
        self.spaces = [bool(token.whitespace_) for token in tokens]
        self.starts = None
        if row.get("starts"):
            self.starts = np.isin([token.idx for token in tokens], row["starts"])
        self.given = ["O"] * len(tokens)
        for start, end, kind in row["entities"] or ():
            for token in tokens:
                if start <= token.idx < end:
                    begins = token.idx == start
                    self.given[tokens.index(token)] = f"{'B' if begins else 'I'}-{kind}"
        self.done = 0
        self.sentences: list[list[tuple[Any, ...]]] = []
        self.certainty: list[float] = []

    def window(self, encoding: Encoding) -> slice:
        """Return the words from the first without a tree on, as many as the teacher takes."""
        pieces, end = 0, self.done
        while end < len(self.words):
            pieces += len(encoding.pieces(self.words[end]))
            if pieces > MAX_PIECES and end > self.done:
                break
            end += 1
        return slice(self.done, end)

    def spans(self, window: slice, odds: np.ndarray) -> list[tuple[int, int]]:
        """Return the sentences of a window, but the last one where the text goes on."""
        begins = odds > 0 if self.starts is None else self.starts[window]
        starts = [0, *(i for i in range(1, len(begins)) if begins[i])]
        ends = [*starts[1:], len(begins)]
        if window.stop < len(self.words) and len(starts) > 1:
            ends.pop()
        self.done = window.start + ends[-1]
        return list(zip(starts, ends, strict=False))

    def entity(self, word: int, found: str, before: str) -> str:
        """Return the entity of a word: as people marked it, or else the teacher."""
        entity = self.given[word]
        if entity == "O" and self.source not in MARKED:
            entity = found
        broken = entity[0] == "I" and before[2:] != entity[2:]
        return "B" + entity[1:] if broken else entity


@torch.inference_mode()
def annotate(model: Teacher, encoding: Encoding, documents: list[Document]) -> None:
    """Find the sentences of documents, and all that the teacher says of their words."""
    names = encoding.vocabulary
    root = encoding.number["label"]["root"]
    while waiting := [d for d in documents if d.done < len(d.words)]:
        windows = [document.window(encoding) for document in waiting]
        stretches = [
            encoding.stretch([{"word": document.words[window]}])
            for document, window in zip(waiting, windows, strict=True)
        ]
        for group in batches_of(stretches, 4000):
            batch = encoding.batch([stretches[i] for i in group])
            with torch.autocast("cpu", torch.bfloat16):
                scores, label = model(batch)
            odds = (scores["start"][..., 1] - scores["start"][..., 0])[:, 1:].float().numpy()
            arcs = scores["arc"].double().numpy()
            heads, spans = torch.zeros_like(batch["word"]), []
            for row, i in enumerate(group):
                n = len(stretches[i]["word"])
                spans.append(waiting[i].spans(windows[i], odds[row, :n]))
                for first, last in spans[-1]:
                    found, certain = best_tree(arcs[row], first, last)
                    waiting[i].certainty += certain
                    heads[row, first + 1 : last + 1] = torch.from_numpy(found)
            with torch.autocast("cpu", torch.bfloat16):
                scores["label"] = label(heads)
            scores["label"][..., root] = -torch.inf
            best = {name: scores[name].argmax(-1) for name in ("tag", "morph", "label", "entity")}
            for row, i in enumerate(group):
                for first, last in spans[row]:
                    within = (row, slice(first + 1, last + 1))
                    columns = [[names[k][x] for x in v[within].tolist()] for k, v in best.items()]
                    # heads count from the sentence's first word
                    own = [int(head) - first if head else 0 for head in heads[within]]
                    of_text = range(windows[i].start + first, windows[i].start + last)
                    waiting[i].sentences.append(list(zip(of_text, own, *columns, strict=True)))


def best_tree(arcs: np.ndarray, first: int, last: int) -> tuple[np.ndarray, list[float]]:
    """Return the heads of a sentence in its window, and how probable each is of itself."""
    among = np.r_[0, first + 1 : last + 1]
    scores = arcs[first + 1 : last + 1][:, among]
    scores = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    square = np.zeros((len(among), len(among)))
    square[:, 1:] = scores.T
    heads = Eisner().decode(TreeProblem(square)).heads
    certain = np.exp(scores[np.arange(last - first), heads])
    return among[heads], certain.tolist()


def rows_of(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the lines of words in CoNLL-U and in IOB, and a blank one behind each sentence."""
    for sentence in document.sentences:
        before = "O"
        for number, (word, head, tag, morph, label, entity) in enumerate(sentence, start=1):
            form, (pos, features) = document.words[word], morph.split("|", 1)
            # as in the Penn Treebank: the few dashes of EWT are tagged as commas
            tag = ":" if form in "—–" and tag == "," else tag
            misc = "_" if document.spaces[word] else "SpaceAfter=No"
            before = document.entity(word, entity, before)
            relation = label if head else "root"
            columns = [number, form, "_", pos, tag, features, head, relation, "_", misc]
            yield "\t".join(map(str, columns)), f"{number}\t{form}\t{before}\t-\t-"
        yield "", ""


def write(documents: list[Document], path: Path) -> int:
    """Write those documents that the teacher is sure of; return how many words they have."""
    kept = [d for d in documents if d.certainty and np.mean(d.certainty) >= LEAST]
    trees, entities = (path.with_suffix(suffix) for suffix in (".conllu", ".iob2"))
    with trees.open("w", encoding="utf8") as first, entities.open("w", encoding="utf8") as second:
        for document in kept:
            for row in [("# newdoc", "# newdoc"), *rows_of(document)]:
                first.write(row[0] + "\n")
                second.write(row[1] + "\n")
    return sum(len(document.words) for document in kept)


def main(teacher: Path, texts: Path, output: Path, limit: int = 0) -> None:
    """Annotate each file of texts, or the first documents of each."""
    torch.set_num_threads(1)
    vocabulary = json.loads((teacher / "vocabulary.json").read_text(encoding="utf8"))
    encoding, model = Encoding(vocabulary), Teacher(vocabulary)
    model.load_state_dict(torch.load(teacher / "weights.pt"))
    model.eval()
    nlp = spacy.blank("en")
    tokenize_as_web_treebanks(nlp)
    output.mkdir(parents=True, exist_ok=True)
    for file in sorted(texts.glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf8").splitlines()]
        documents = [Document(nlp, row) for row in rows[: limit or None]]
        annotate(model, encoding, documents)
        print(f"{file.stem}: {write(documents, output / file.stem):,} words", flush=True)


if __name__ == "__main__":
    typer.run(main)
