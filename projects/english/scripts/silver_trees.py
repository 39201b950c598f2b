"""Write what teachers say of texts as CoNLL-U and IOB: the best tree of each sentence."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from spacy_decoders.decoders.tree import Eisner, TreeProblem

#: Documents whose heads the teachers find less probable than this on average are left out: they
#: are in other languages, or no prose.
LEAST = 0.75
#: Sources in which people marked all persons, places and organisations.
MARKED = ("tweets", "wikigold")
#: The share of heads that none of a word's likeliest are.
RARE = 1e-4


def best_tree(heads: NDArray[Any], shares: NDArray[Any]) -> tuple[NDArray[Any], list[float]]:
    """Return the heads of a sentence from likely ones, and how probable each is."""
    n = len(heads)
    scores = np.full((n + 1, n + 1), np.log(RARE))
    words = np.arange(1, n + 1)
    for k in reversed(range(heads.shape[1])):
        scores[heads[:, k], words] = np.log(np.maximum(shares[:, k] / 255, RARE))
    found = Eisner().decode(TreeProblem(scores)).heads
    return found, np.exp(scores[found, words]).tolist()


def sentences(rows: list[dict[str, Any]], soft: dict[str, Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the sentences of each document: its words' place, head, and how probable it is."""
    start = 0
    for row, length in zip(rows, soft["lengths"], strict=True):
        begins = np.append(np.flatnonzero(soft["starts"][start : start + length]), length) + start
        found = []
        for first, last in pairwise(begins):
            if first < last:
                of = slice(first, last)
                found.append((first, *best_tree(soft["heads"][of], soft["head_shares"][of])))
        yield row, start, found
        start += length


def lines(
    row: dict[str, Any], start: int, found: list[Any], soft: dict[str, Any], names: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the lines of words in CoNLL-U and in IOB, and a blank one behind each sentence."""
    for first, heads, _ in found:
        before = "O"
        for number, head in enumerate(heads.tolist(), start=1):
            place = first + number - 1
            form, space = row["words"][place - start], row["spaces"][place - start]
            pos, features = names["morph"][soft["morph"][place]].split("|", 1)
            tag = names["tag"][soft["tag"][place, 0]]
            # as in the Penn Treebank: the few dashes of EWT are tagged as commas
            tag = ":" if form in "—–" and tag == "," else tag
            known = np.flatnonzero(soft["heads"][place] == head)
            rank = known[0] if len(known) else 0
            relation = names["label"][soft["head_labels"][place, rank]] if head else "root"
            misc = "_" if space else "SpaceAfter=No"
            before = entity(row, place - start, names["entity"][soft["entity"][place]], before)
            columns = [number, form, "_", pos, tag, features, head, relation, "_", misc]
            yield "\t".join(map(str, columns)), f"{number}\t{form}\t{before}\t-\t-"
        yield "", ""


def entity(row: dict[str, Any], word: int, found: str, before: str) -> str:
    """Return the entity of a word: as people marked it, or else the teachers."""
    given = row["entities"][word] if row["entities"] else "O"
    if given == "O" and row["source"] not in MARKED:
        given = found
    broken = given[0] == "I" and before[2:] != given[2:]
    return "B" + given[1:] if broken else given


def main(texts: Path, soft: Path, output: Path) -> None:
    """Write those documents that the teachers are sure of."""
    names = json.loads((soft / "vocabulary.json").read_text(encoding="utf8"))
    output.mkdir(parents=True, exist_ok=True)
    for file in sorted(soft.glob("*.npz")):
        text = (texts / f"{file.stem}.jsonl").read_text(encoding="utf8")
        rows = [json.loads(line) for line in text.splitlines()]
        with np.load(file) as given:
            arrays = dict(given)
        words = 0
        trees, entities = (output / f"{file.stem}{suffix}" for suffix in (".conllu", ".iob2"))
        with (
            trees.open("w", encoding="utf8") as first,
            entities.open("w", encoding="utf8") as second,
        ):
            for row, start, found in sentences(rows[: len(arrays["lengths"])], arrays):
                if not found or np.mean([p for _, _, shares in found for p in shares]) < LEAST:
                    continue
                words += len(row["words"])
                for one, other in [
                    ("# newdoc", "# newdoc"),
                    *lines(row, start, found, arrays, names),
                ]:
                    first.write(one + "\n")
                    second.write(other + "\n")
        print(f"{file.stem}: {words:,} words", flush=True)


if __name__ == "__main__":
    typer.run(main)
