"""Real scores for the chain benchmarks: trained here, on public treebanks, and cached.

Each set is a treebank and a label set; its name may carry modifiers after a plus sign::

    uner                7 named-entity labels (BIO), Universal NER, English Web Treebank
    wikigold            9 named-entity labels (BIO), Wikigold
    wsj                 45 parts of speech, Wall Street Journal
    ewt                 49 parts of speech, English Web Treebank
    conll2000-pos       44 parts of speech, CoNLL-2000
    conll2000           part of speech x chunk, about 320 labels
    gum-names           part of speech x named entity (BIO), about 400
    gum-entities        part of speech x any entity (BIO), about 680
    gum-both            part of speech x named entity x any entity, about 1,140
    ...+maxent          scores of a maximum-entropy classifier and half the pointwise mutual
                        information of neighbours, instead of an averaged structured perceptron
    ...+bio             illegal BIO transitions forbidden (-inf)

The scores are those of held-out sentences.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numba import njit

from spacy_decoders.decoders.chain import ChainModel, ForwardDominance
from spacy_decoders.decoders.chain.kernels.viterbi import decode
from spacy_decoders.readers.sentences import read_columns, read_conllu

ROOT = Path(__file__).parent
CACHE = ROOT / "results" / "cache"
DATA = Path(os.environ.get("SPACY_DECODERS_DATA", ROOT.parents[1] / "shared" / "data"))

TRAINING_TOKENS = 200_000
HELD_OUT_SCORES = 3_000_000  # tokens times labels
EPOCHS = 4

Sentence = list[tuple[str, str]]


@dataclass(frozen=True)
class Scores:
    """A trained model and the emissions of held-out sentences.

    Attributes
    ----------
    model
        Transitions, start and end.
    emissions
        **Shape (total, L)**, float32.
    lengths
        **Shape (sentences,)**, int64.
    gold
        **Shape (total,)**, int32; -1 for a label that training never saw.
    labels
        The names of the L labels.
    """

    model: ChainModel
    emissions: np.ndarray
    lengths: np.ndarray
    gold: np.ndarray
    labels: list[str]


def load_scores(name: str, data: Path = DATA) -> Scores:
    """Return the scores of a set, training them first if they are not in the cache."""
    task, *modifiers = name.split("+")
    if task not in SOURCES or not set(modifiers) <= {"maxent", "bio"}:
        raise ValueError(
            f"name: expected one of {sorted(SOURCES)}, then +maxent or +bio; got {name!r}."
        )
    style = "maxent" if "maxent" in modifiers else "perceptron"
    cached = CACHE / f"{task}-{style}.npz"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = cached.with_name(f"{cached.stem}.{os.getpid()}.npz")
        np.savez(unfinished, **train(task, style, data))
        unfinished.replace(cached)
    with np.load(cached) as arrays:
        scores = dict(arrays)
    labels = [str(label) for label in scores["labels"]]
    transitions, start = scores["transitions"], scores["start"]
    if "bio" in modifiers:
        forbid_illegal(labels, transitions, start)
    model = ChainModel(transitions, start, scores["end"])
    return Scores(model, scores["emissions"], scores["lengths"], scores["gold"], labels)


def train(task: str, style: str, data: Path) -> dict[str, np.ndarray]:
    """Train on the first sentences of a treebank; score sentences that it did not see."""
    started = perf_counter()
    training, held_out = read(task, data)
    labels = sorted({label for sentence in training for _, label in sentence})
    number = {label: k for k, label in enumerate(labels)}
    seen = Counter(f for sentence in training for fs in features(sentence) for f in fs)
    known = {f: k for k, f in enumerate(f for f, count in seen.items() if count > 1)}
    rows, spans, gold, offsets = encode(training, known, number)
    learn = train_perceptron if style == "perceptron" else train_maxent
    weights, transitions, start, end = learn(rows, spans, gold, offsets, len(known), len(labels))
    rows, spans, gold, offsets = encode(held_out, known, number)
    emissions = score(weights, rows, spans)
    if style == "maxent":
        emissions -= np.logaddexp.reduce(emissions, axis=1, keepdims=True)
    print(
        f"{task} ({style}): {len(labels)} labels, {len(known)} features, trained on "
        f"{sum(map(len, training))} tokens in {perf_counter() - started:.0f} s"
    )
    return {
        "transitions": transitions,
        "start": start,
        "end": end,
        "emissions": emissions,
        "lengths": np.diff(offsets),
        "gold": gold.astype(np.int32),
        "labels": np.array(labels),
    }


# --- reading -----------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where a set comes from: its files, and the layers of their sentences that are joined.

    Without a place for ``train`` and ``dev`` the last tenth of the one file is held out.
    """

    file: str
    layers: tuple[str, ...]
    columns: tuple[str, ...] = ()
    separator: str = "\t"

    def read(self, data: Path, part: str) -> list[Sentence]:
        """The sentences as lists of (form, label)."""
        path = data / self.file.format(part)
        if not path.exists():
            path = path.with_suffix("")  # small ones are not compressed
        if self.columns:
            found = read_columns(path, self.columns, self.separator)
        else:
            found = read_conllu(path)
        return [
            [
                (form, "|".join(label))
                for form, *label in zip(
                    sentence.words, *(getattr(sentence, name) for name in self.layers), strict=True
                )
            ]
            for sentence in found
        ]


_GUM, _CONLL = "tagging/gum-posner/{}.tsv.gz", "tagging/conll2000/train.txt.gz"
SOURCES = {
    "ewt": Source("parsing/UD_English-EWT/en_ewt-ud-{}.conllu.gz", ("tags",)),
    "uner": Source(
        "tagging/UNER_English-EWT/en_ewt-ud-{}.iob2.gz", ("ents",), ("-", "form", "ent", "-", "-")
    ),
    "gum-names": Source(_GUM, ("tags", "ents"), ("form", "-", "tag", "ent", "-")),
    "gum-entities": Source(_GUM, ("tags", "ents"), ("form", "-", "tag", "-", "ent")),
    # three layers of labels: the names stand where morphology would
    "gum-both": Source(_GUM, ("tags", "morphs", "ents"), ("form", "-", "tag", "morph", "ent")),
    "wikigold": Source("tagging/wikigold/wikigold.conll.gz", ("ents",), ("form", "ent"), " "),
    "wsj": Source("tagging/wsj/train.tsv.gz", ("tags",), ("form", "tag")),
    "conll2000-pos": Source(_CONLL, ("tags",), ("form", "tag", "-"), " "),
    "conll2000": Source(_CONLL, ("tags", "ents"), ("form", "tag", "ent"), " "),
}


def read(task: str, data: Path) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and held-out sentences as lists of (form, label)."""
    source = SOURCES[task]
    if "{}" in source.file:
        training, held_out = (source.read(data, part) for part in ("train", "dev"))
    else:
        every = source.read(data, "")
        if task == "wikigold":
            every = list(map(beginnings, every))
        tenth = len(every) // 10
        training, held_out = every[:-tenth], every[-tenth:]
    training = spread(training, TRAINING_TOKENS if task != "gum-both" else TRAINING_TOKENS // 4)
    size = len({label for sentence in training for _, label in sentence})
    return training, spread(held_out, min(20_000, HELD_OUT_SCORES // size))


def beginnings(sentence: Sentence) -> Sentence:
    """Call the first token of each entity B-X, where all of them are I-X."""
    before = ["O", *(label for _, label in sentence)]
    return [
        (form, f"B-{label[2:]}" if label not in ("O", last) else label)
        for (form, label), last in zip(sentence, before, strict=False)
    ]


def spread(sentences: list[Sentence], tokens: int) -> list[Sentence]:
    """Return every k-th sentence, so that about as many tokens are left."""
    step = max(1, sum(map(len, sentences)) // tokens)
    return sentences[::step]


def forbid_illegal(labels: list[str], transitions: np.ndarray, start: np.ndarray) -> None:
    """Forbid I-X except after B-X or I-X, in every part of a joint label."""
    parts = [label.split("|") for label in labels]
    for y, after in enumerate(parts):
        inside = [(k, part[2:]) for k, part in enumerate(after) if part.startswith("I-")]
        if inside:
            start[y] = -np.inf
        for x, before in enumerate(parts):
            if any(before[k] not in (f"B-{kind}", f"I-{kind}") for k, kind in inside):
                transitions[x, y] = -np.inf


# --- features ----------------------------------------------------------------


def features(sentence: Sentence) -> Iterator[list[str]]:
    """Yield the features of each token: its word, its shape, its neighbours."""
    forms = ["<s>", "<s>", *(form for form, _ in sentence), "</s>", "</s>"]
    for i in range(2, len(forms) - 2):
        form = forms[i]
        lower = form.lower()
        shape = "".join("X" if c.isupper() else "d" if c.isdigit() else c for c in form[:6])
        yield [
            "bias",
            f"w={form}",
            f"l={lower}",
            f"s={shape if shape != form else ''}{form[0].isupper()}{i == 2}",
            *(f"e{k}={lower[-k:]}" for k in (1, 2, 3)),
            f"b={lower[:3]}",
            f"p={forms[i - 1].lower()}",
            f"n={forms[i + 1].lower()}",
            f"pp={forms[i - 2].lower()}",
            f"nn={forms[i + 2].lower()}",
            f"pe={forms[i - 1][-3:]}",
            f"ne={forms[i + 1][-3:]}",
        ]


def encode(sentences: list[Sentence], known: dict[str, int], number: dict[str, int]):
    """Return feature rows, their span for each token, gold labels and sentence offsets."""
    rows: list[int] = []
    spans, gold, offsets = [0], [], [0]
    for sentence in sentences:
        for found, (_, label) in zip(features(sentence), sentence, strict=True):
            rows.extend(known[f] for f in found if f in known)
            spans.append(len(rows))
            gold.append(number.get(label, -1))
        offsets.append(len(gold))
    return tuple(np.array(values, dtype=np.int64) for values in (rows, spans, gold, offsets))


@njit(cache=True)
def score(weights, rows, spans):
    """Return the emissions of all tokens: **shape (tokens, L)**."""
    emissions = np.zeros((len(spans) - 1, weights.shape[1]), np.float32)
    for i in range(len(spans) - 1):
        for k in range(spans[i], spans[i + 1]):
            emissions[i] += weights[rows[k]]
    return emissions


# --- averaged structured perceptron ------------------------------------------


def train_perceptron(rows, spans, gold, offsets, known: int, size: int):
    """Train with exact decoding; return averaged weights, transitions, start, end."""
    stride = -(-size // 16) * 16
    padded = np.full((size + 1, stride), -np.inf, np.float32)
    padded[:, :size] = 0
    transposed = padded[:size].copy()
    end = padded[0].copy()
    weights = np.zeros((known, size), np.float32)
    # sums of (update x time of the update), from which the average follows
    late = (np.zeros((known, size)), np.zeros((size + 1, size)), np.zeros(size))
    rng = np.random.default_rng(0)
    time = 1
    for _ in range(EPOCHS):
        order = rng.permutation(len(offsets) - 1)
        time = perceptron_epoch(
            order, rows, spans, gold, offsets, weights, padded, transposed, end, *late, time
        )
    weights -= (late[0] / time).astype(np.float32)
    links = padded[:, :size] - late[1] / time
    links, end = links.astype(np.float32), (end[:size] - late[2] / time).astype(np.float32)
    return weights, links[:size], links[size], end


@njit  # not cached: what it calls may change
def perceptron_epoch(
    order,
    rows,
    spans,
    gold,
    offsets,
    weights,
    padded,
    transposed,
    end,
    late_weights,
    late_links,
    late_end,
    time,
):
    size = weights.shape[1]
    for s in order:
        begin, stop = offsets[s], offsets[s + 1]
        n = stop - begin
        emissions = score(weights, rows, spans[begin : stop + 1])
        found = np.zeros(n, np.int32)
        decode(
            padded.ravel(),
            transposed.ravel(),
            end,
            emissions.ravel(),
            np.array([0, n]),
            size,
            np.array([0]),
            found,
        )
        for i in range(n):
            right, wrong = gold[begin + i], np.int64(found[i])
            if right != wrong:
                for k in range(spans[begin + i], spans[begin + i + 1]):
                    weights[rows[k], right] += 1
                    weights[rows[k], wrong] -= 1
                    late_weights[rows[k], right] += time
                    late_weights[rows[k], wrong] -= time
            before_right = gold[begin + i - 1] if i else size
            before_wrong = np.int64(found[i - 1]) if i else size
            if right != wrong or before_right != before_wrong:
                for x, y, sign in ((before_right, right, 1), (before_wrong, wrong, -1)):
                    padded[x, y] += sign
                    late_links[x, y] += sign * time
                    if x < size:
                        transposed[y, x] += sign
        right, wrong = gold[stop - 1], np.int64(found[n - 1])
        if right != wrong:
            end[right] += 1
            end[wrong] -= 1
            late_end[right] += time
            late_end[wrong] -= time
        time += 1
    return time


# --- maximum entropy with pointwise mutual information ------------------------


def train_maxent(rows, spans, gold, offsets, known: int, size: int):
    """Train a classifier of single tokens by gradient descent; count the transitions."""
    weights = np.zeros((known, size), np.float32)
    rng = np.random.default_rng(0)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(gold))
        maxent_epoch(order, rows, spans, gold, weights, np.float32(0.2 / (1 + epoch)))
    counts = np.full((size, size), 0.01)
    edges = np.full((2, size), 0.5)
    for begin, stop in itertools.pairwise(offsets):
        np.add.at(counts, (gold[begin : stop - 1], gold[begin + 1 : stop]), 1)
        edges[0, gold[begin]] += 1
        edges[1, gold[stop - 1]] += 1
    prior = np.bincount(gold, minlength=size) + 0.5
    prior = np.log(prior / prior.sum())
    links = np.log(counts / counts.sum(1, keepdims=True)) - prior
    edges = np.log(edges / edges.sum(1, keepdims=True)) - prior
    start, end = (0.5 * edges).astype(np.float32)
    return weights, (0.5 * links).astype(np.float32), start, end


@njit(cache=True)
def maxent_epoch(order, rows, spans, gold, weights, rate):
    worth = np.empty(weights.shape[1], np.float32)
    for i in order:
        worth[:] = 0
        for k in range(spans[i], spans[i + 1]):
            worth += weights[rows[k]]
        worth = np.exp(worth - worth.max())
        step = (-rate / worth.sum()) * worth
        step[gold[i]] += rate
        for k in range(spans[i], spans[i + 1]):
            weights[rows[k]] += step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(SOURCES))
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    for name in options.names:
        scores = load_scores(name, options.data)
        found = [s.labels for s in decode_all(scores)]
        right = np.concatenate(found) == scores.gold
        print(f"{name}: {scores.model.size} labels, {len(right)} tokens, {right.mean():.2%} right")


def decode_all(scores: Scores):
    return ForwardDominance().decode_batch(scores.model, scores.emissions, scores.lengths)


if __name__ == "__main__":
    main()
