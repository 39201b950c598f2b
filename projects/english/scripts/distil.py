"""Train the parser's network on the treebank and on what teachers find likely in texts.

In PyTorch a graphics card reads in ten minutes what a core of a processor reads in two hours. The
loss is that of the component, but on the teachers' probabilities rather than on their best tree:
knowledge distillation (Hinton, Vinyals, Dean 2015, "Distilling the Knowledge in a Neural
Network").
"""

import json
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
import typer
from student_data import LAYOUTS, SENTENCES, Batches, Corpus, collate, read_silver, read_treebank
from student_network import DEVICE, Student
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

#: What labels count; as in `models/parser/losses.py`.
LABEL_WEIGHT = 2.0


def loss_of(model: Student, batch: dict[str, Tensor]) -> Tensor:
    """Return the cross-entropies of heads, labels, boundaries and tags, for each word."""
    out = model(batch["words"], batch["lengths"], batch["block"], batch["column"])

    def of(scores: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
        return -(scores.log_softmax(-1).gather(1, targets) * shares).sum()

    loss = of(out["arcs"], batch["heads"], batch["head_shares"])
    loss = loss + of(out["tags"], batch["tags"], batch["tag_shares"])
    modifiers = (batch["label_shares"].sum(1) > 0).nonzero()[:, 0]
    labels = model.labels(out, modifiers, batch["head_of"][modifiers])
    loss = loss + LABEL_WEIGHT * of(
        labels, batch["labels"][modifiers], batch["label_shares"][modifiers]
    )
    share = batch["start_shares"]
    loss = (
        loss - (share * logsigmoid(out["starts"]) + (1 - share) * logsigmoid(-out["starts"])).sum()
    )
    return loss / len(batch["words"])


@torch.inference_mode()
def evaluate(model: Student, corpus: Corpus) -> dict[str, float]:
    """Return how often heads, labels and tags are right, each word's best head taken alone."""
    model.eval()
    hits = {"uas": 0, "las": 0, "tags": 0, "words": 0, "starts": 0, "found": 0, "true": 0}
    last = len(corpus.begins) - 1
    for first in range(0, last, SENTENCES):
        group = (first, min(first + SENTENCES, last))
        places = np.arange(corpus.begins[group[0]], corpus.begins[group[1]])
        arrays = collate(corpus, [places])
        batch = {k: torch.from_numpy(v).to(DEVICE) for k, v in arrays.items()}
        out = model(batch["words"], batch["lengths"], batch["block"], batch["column"])
        # heads outside of the sentence are no candidates, as in the decoder
        sentence = np.cumsum(corpus.columns["starts"][places]) + 1000 * arrays["block"]
        allowed = np.full(out["arcs"].shape, False)
        for block in np.unique(arrays["block"]):
            own = np.flatnonzero(arrays["block"] == block)
            allowed[own[:, None], 1 + np.arange(len(own))] = (
                sentence[own][:, None] == sentence[own]
            )
        allowed[:, 0] = True
        arcs = out["arcs"].masked_fill(~torch.from_numpy(allowed).to(DEVICE), -1e9)
        heads = arcs.argmax(-1)
        right = heads == batch["heads"][:, 0]
        root = batch["heads"][:, 0] == 0
        best = model.labels(
            out, torch.arange(len(places), device=DEVICE), batch["head_of"]
        ).argmax(-1)
        hits["uas"] += int(right.sum())
        hits["las"] += int((right & ((best == batch["labels"][:, 0]) | root)).sum())
        hits["tags"] += int((out["tags"].argmax(-1) == batch["tags"][:, 0]).sum())
        hits["words"] += len(places)
        found, true = out["starts"][1:] > 0, batch["start_shares"][1:] > 0.5
        hits["starts"] += int((found & true).sum())
        hits["found"] += int(found.sum())
        hits["true"] += int(true.sum())
    model.train()
    of_words = {k: round(100 * hits[k] / hits["words"], 2) for k in ("uas", "las", "tags")}
    return of_words | {
        "starts": round(200 * hits["starts"] / max(1, hits["found"] + hits["true"]), 2)
    }


def main(
    student: Path,
    output: Path,
    gold: list[Path],
    texts: Path = Path("corpus/texts"),
    soft: Path = Path("corpus/soft"),
    dev: Path = Path("assets/en_ewt-ud-dev.conllu"),
    times: int = 4,
    steps: int = 8000,
    seconds: float = 1e9,
    size: int = 6000,
    rate: float = 0.006,
    dropped: float = 0.2,
    sharpness: float = 1.0,
    seed: int = 1,
    workers: int = 3,
    every: int = 1000,
) -> None:
    """Train from the weights that `student.py` wrote, at most so long; write the weights."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    names = json.loads((student / "names.json").read_text(encoding="utf8"))
    number = {word: i for i, word in enumerate(names["words"])}
    with np.load(student / "words.npz") as given:
        model = Student(dict(given), dropped).to(DEVICE)
    corpora = [(read_treebank(file, names, number), times) for file in gold]
    corpora.append((read_silver(texts, soft, names, number, sharpness), 1))
    held_out = read_treebank(dev, names, number)
    print(f"{sum(len(c.columns['words']) for c, _ in corpora):,} words", flush=True)
    print("before:", evaluate(model, held_out), flush=True)
    blanks = [number[blank] for blank in LAYOUTS if blank]
    loader = torch.utils.data.DataLoader(
        Batches(corpora, blanks, size, seed), batch_size=None, num_workers=workers
    )
    learned = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=rate, betas=(0.9, 0.98))
    warm, total, begun = max(1, min(300, steps // 20)), 0.0, perf_counter()
    for step, batch in enumerate(loader, start=1):
        done = max(step / steps, (perf_counter() - begun) / seconds)
        for group in optimizer.param_groups:
            group["lr"] = rate * min(step / warm, 1.0 - done)
        if done >= 1.0:
            break
        loss = loss_of(model, {k: v.to(DEVICE, non_blocking=True) for k, v in batch.items()})
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        total += float(loss.detach()) if step % 10 == 0 else 0.0
        if step % every == 0:
            print(
                f"{step}, {done:.2f}: {10 * total / every:.3f}",
                evaluate(model, held_out),
                flush=True,
            )
            total = 0.0
    print("at the end:", evaluate(model, held_out), flush=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(output, **model.weights())


if __name__ == "__main__":
    typer.run(main)
