"""Annotate texts by the mean of several teachers: what is likely of each word, and how much."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from teacher import DEVICE, MAX_PIECES, Encoding, Teacher, batches_of
from torch import Tensor

#: Heads, labels and tags that are kept of each word, the likeliest first.
KEPT = 3
#: Word pieces that the teachers see at once.
PIECES = 4000 if DEVICE == "cpu" else 40_000


class Document:
    """A document whose sentences are found in one window after another."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.words: list[str] = row["words"]
        n = len(self.words)
        self.given = None
        if row["starts"] is not None:
            self.given = np.isin(np.arange(n), row["starts"])
        self.done = 0
        self.starts = np.zeros(n, dtype=bool)
        self.odds = np.zeros(n, dtype=np.float16)
        self.heads = np.zeros((n, KEPT), dtype=np.int16)
        self.best = {name: np.zeros((n, *inner), dtype=kind) for name, inner, kind in _columns()}

    def window(self, encoding: Encoding) -> slice:
        """Return the words from the first without a tree on, as many as the teachers take."""
        pieces, end = 0, self.done
        while end < len(self.words):
            pieces += len(encoding.pieces(self.words[end]))
            if pieces > MAX_PIECES and end > self.done:
                break
            end += 1
        return slice(self.done, end)

    def spans(self, window: slice, odds: NDArray[np.float64]) -> list[tuple[int, int]]:
        """Return the sentences of a window, but the last one where the text goes on."""
        begins = odds > 0 if self.given is None else self.given[window]
        starts = [0, *(i for i in range(1, len(begins)) if begins[i])]
        ends = [*starts[1:], len(begins)]
        if window.stop < len(self.words) and len(starts) > 1:
            ends.pop()
        self.done = window.start + ends[-1]
        self.starts[[window.start + start for start in starts[: len(ends)]]] = True
        self.odds[window.start : self.done] = odds[: ends[-1]]
        return list(zip(starts, ends, strict=False))


def _columns() -> list[tuple[str, tuple[int, ...], Any]]:
    """What is kept beside heads and boundaries: numbers, and probabilities in parts of 255."""
    several = (KEPT,)
    return [
        ("head_shares", several, np.uint8),
        ("head_labels", several, np.uint8),
        ("labels", several, np.uint8),
        ("label_shares", several, np.uint8),
        ("tag", several, np.uint8),
        ("tag_shares", several, np.uint8),
        ("morph", (), np.uint16),
        ("entity", (), np.uint8),
    ]


class Teachers:
    """The mean of the probabilities that several teachers give."""

    def __init__(self, folders: list[Path]) -> None:
        self.names = json.loads((folders[0] / "vocabulary.json").read_text(encoding="utf8"))
        self.encoding = Encoding(self.names)
        self.models = []
        for folder in folders:
            model = Teacher(self.names)
            model.load_state_dict(torch.load(folder / "weights.pt", map_location=DEVICE))
            self.models.append(model.eval())

    def read(self, batch: dict[str, Tensor]) -> tuple[dict[str, Tensor], list[Any]]:
        """Return probabilities, and what each teacher scores labels by."""
        total: dict[str, Tensor] = {}
        scorers = []
        for model in self.models:
            with torch.autocast(DEVICE, torch.bfloat16):
                scores, label = model(batch)
            scorers.append(label)
            for name, of_task in scores.items():
                share = of_task.float().softmax(-1) / len(self.models)
                total[name] = total[name] + share if name in total else share
        return total, scorers

    def labels(self, scorers: list[Any], heads: Tensor) -> Tensor:
        """Return the probabilities of the labels of one head for each word, without the root's."""
        root = self.encoding.number["label"]["root"]
        total = 0
        for label in scorers:
            with torch.autocast(DEVICE, torch.bfloat16):
                scores = label(heads)
            scores[..., root] = -torch.inf
            total = total + scores.float().softmax(-1) / len(scorers)
        return total


def likeliest(shares: Tensor) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the likeliest of each row, and their shares of what these have, in parts of 255."""
    top = shares.topk(KEPT, -1)
    parts = top.values / top.values.sum(-1, keepdim=True).clamp(min=1e-9)
    return top.indices.cpu().numpy(), (255 * parts).round().to(torch.uint8).cpu().numpy()


@torch.inference_mode()
def annotate(teachers: Teachers, documents: list[Document]) -> None:
    """Find the sentences of documents, and what is likely of their words."""
    encoding = teachers.encoding
    while waiting := [d for d in documents if d.done < len(d.words)]:
        windows = [document.window(encoding) for document in waiting]
        stretches = [
            encoding.stretch([{"word": document.words[window]}])
            for document, window in zip(waiting, windows, strict=True)
        ]
        for group in batches_of(stretches, PIECES):
            batch = {
                k: v.to(DEVICE) for k, v in encoding.batch([stretches[i] for i in group]).items()
            }
            shares, scorers = teachers.read(batch)
            start = shares["start"].double().clamp(1e-6, 1 - 1e-6)
            odds = (start[..., 1].log() - start[..., 0].log())[:, 1:].cpu().numpy()
            sentence = np.full(batch["word"].shape, -1)
            begins = np.zeros(batch["word"].shape, dtype=np.int64)
            for row, i in enumerate(group):
                for first, last in waiting[i].spans(
                    windows[i], odds[row, : len(stretches[i]["word"])]
                ):
                    sentence[row, first + 1 : last + 1] = first
                    begins[row, first + 1 : last + 1] = first
            within = torch.as_tensor(sentence, device=DEVICE)
            same = (within[:, :, None] == within[:, None, :]) & (within[:, None, :] >= 0)
            same[:, :, 0] = True
            same &= ~torch.eye(same.shape[1], dtype=torch.bool, device=DEVICE)
            heads, parts = likeliest(shares["arc"] * same)
            chosen = torch.as_tensor(heads, device=DEVICE)
            found = {"head_shares": parts}
            of_heads = [teachers.labels(scorers, chosen[..., k]) for k in range(KEPT)]
            found["head_labels"] = torch.stack([s.argmax(-1) for s in of_heads], -1).cpu().numpy()
            found["labels"], found["label_shares"] = likeliest(of_heads[0])
            found["tag"], found["tag_shares"] = likeliest(shares["tag"])
            for name in ("morph", "entity"):
                found[name] = shares[name].argmax(-1).cpu().numpy()
            own = np.where((heads > 0) & (parts > 0), heads - begins[..., None], 0)
            for row, i in enumerate(group):
                document, window = waiting[i], windows[i]
                n = document.done - window.start
                place = slice(window.start, document.done)
                document.heads[place] = own[row, 1 : n + 1]
                for name, values in found.items():
                    document.best[name][place] = values[row, 1 : n + 1]


def main(teachers: Path, texts: Path, output: Path, only: str = "", limit: int = 0) -> None:
    """Annotate each file of texts, or the first documents of each, by all teachers of a folder."""
    torch.set_num_threads(1)
    torch.set_default_device(DEVICE)
    read = Teachers(sorted(file.parent for file in teachers.glob("*/weights.pt")))
    output.mkdir(parents=True, exist_ok=True)
    for file in sorted(texts.glob("*.jsonl")):
        if only and file.stem not in only.split(","):
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf8").splitlines()]
        documents = [Document(row) for row in rows[: limit or None]]
        annotate(read, documents)
        columns = {name: [d.best[name] for d in documents] for name, _, _ in _columns()}
        columns |= {
            name: [getattr(d, name) for d in documents] for name in ("starts", "odds", "heads")
        }
        np.savez_compressed(
            output / f"{file.stem}.npz",
            lengths=np.array([len(d.words) for d in documents]),
            **{name: np.concatenate(values) for name, values in columns.items()},
        )
        print(f"{file.stem}: {sum(len(d.words) for d in documents):,} words", flush=True)
    names = json.dumps(read.names)
    (output / "vocabulary.json").write_text(names, encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
