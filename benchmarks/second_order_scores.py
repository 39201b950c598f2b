"""Real scores of second order: trigram taggers trained here, on public treebanks, and cached.

The features, the sentences and the training are those of `chain_scores`; to the transitions come
the scores of three labels in a row, learnt with them by an averaged structured perceptron. The
first-order tagger of the same sentences comes with each::

    wsj                 45 parts of speech, Wall Street Journal
    ewt                 49 parts of speech, English Web Treebank
    gum-names           21 BIO tags of named entities, illegal transitions forbidden
    gum-entities        21 BIO tags of any entities, illegal transitions forbidden
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from chain_scores import (
    CACHE,
    DATA,
    EPOCHS,
    INFINITE,
    Scores,
    Sentence,
    columns,
    encode,
    features,
    forbid_illegal,
    read,
    score,
    train_perceptron,
)
from numba import njit

from spacy_decoders.decoders.chain import ChainModel, SecondOrderModel
from spacy_decoders.decoders.chain.kernels.second_order_viterbi import decode

#: The column of the BIO tags in the files of a treebank.
ENTITIES = {"gum-names": 3, "gum-entities": 4}


@dataclass(frozen=True)
class SecondOrderScores:
    """A trained trigram tagger, the emissions of held-out sentences, and its first order.

    Attributes
    ----------
    model
        Transitions, start, end and triples.
    emissions
        **Shape (total, L)**, float32.
    lengths
        **Shape (sentences,)**, int64.
    gold
        **Shape (total,)**, int32; -1 for a label that training never saw.
    first_order
        The scores of a bigram tagger for the same sentences.
    """

    model: SecondOrderModel
    emissions: np.ndarray
    lengths: np.ndarray
    gold: np.ndarray
    first_order: Scores


def load_scores(task: str, data: Path = DATA) -> SecondOrderScores:
    """Return the scores of a set, training them first if they are not in the cache."""
    cached = CACHE / f"{task}-second-order.npz"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = cached.with_name(f"{cached.stem}.{os.getpid()}.npz")
        np.savez(unfinished, **train(task, data))
        unfinished.replace(cached)
    with np.load(cached) as arrays:
        scores = dict(arrays)
    labels = [str(label) for label in scores["labels"]]
    chains = []
    for order in ("first", "second"):
        transitions, start, end = (
            scores[f"{order}_{name}"] for name in ("transitions", "start", "end")
        )
        if task in ENTITIES:
            forbid_illegal(labels, transitions, start)
        chains.append(ChainModel(transitions, start, end))
    lengths, gold = scores["lengths"], scores["gold"]
    first_order = Scores(chains[0], scores["first_emissions"], lengths, gold, labels)
    model = SecondOrderModel(chains[1], scores["triples"])
    return SecondOrderScores(model, scores["second_emissions"], lengths, gold, first_order)


def train(task: str, data: Path) -> dict[str, np.ndarray]:
    """Train on the first sentences of a treebank; score sentences that it did not see."""
    started = perf_counter()
    training, held_out = read_bio(task, data) if task in ENTITIES else read(task, data)
    labels = sorted({label for sentence in training for _, label in sentence})
    number = {label: k for k, label in enumerate(labels)}
    seen = Counter(f for sentence in training for fs in features(sentence) for f in fs)
    known = {f: k for k, f in enumerate(f for f, count in seen.items() if count > 1)}
    given = encode(training, known, number)
    first = train_perceptron(*given, len(known), len(labels))
    *second, triples = train_triples(*given, len(known), len(labels))
    rows, spans, gold, offsets = encode(held_out, known, number)
    arrays = {
        "triples": triples,
        "lengths": np.diff(offsets),
        "gold": gold.astype(np.int32),
        "labels": np.array(labels),
    }
    for order, (weights, *links) in (("first", first), ("second", second)):
        arrays[f"{order}_emissions"] = score(weights, rows, spans)
        for name, scores in zip(("transitions", "start", "end"), links, strict=True):
            arrays[f"{order}_{name}"] = scores
    print(
        f"{task}: {len(labels)} labels, trained on {len(given[2])} tokens in first and second "
        f"order in {perf_counter() - started:.0f} s"
    )
    return arrays


def read_bio(task: str, data: Path) -> tuple[list[Sentence], ...]:
    """Return training and held-out sentences, labelled by the BIO tags of entities alone."""
    folder, column = data / "tagging" / "gum-posner", ENTITIES[task]
    return tuple(
        list(columns(folder / f"{part}.tsv.gz", 0, [column])) for part in ("train", "dev")
    )


def train_triples(rows, spans, gold, offsets, known: int, size: int):
    """Train with exact decoding; return averaged weights, transitions, start, end, triples."""
    shapes = ((known, size), (size + 1, size), (size,), (size, size, size))
    parts = [np.zeros(shape, np.float32) for shape in shapes]
    # sums of (update x time of the update), from which the average follows
    late = [np.zeros(shape) for shape in shapes]
    stride = -(-size // 16) * 16
    padded = np.full((size * (size + 1) + 1, stride), -np.inf, np.float32)
    padded[:, :size] = 0
    rng = np.random.default_rng(0)
    time = 1
    for _ in range(EPOCHS):
        order = rng.permutation(len(offsets) - 1)
        given = (order, rows, spans, gold, offsets)
        time = epoch(*given, tuple(parts), tuple(late), padded, time)
    weights, links, end, triples = (
        (part - sums / time).astype(np.float32) for part, sums in zip(parts, late, strict=True)
    )
    return weights, links[:-1], links[-1], end, triples


@njit(cache=True)
def epoch(order, rows, spans, gold, offsets, parts, late, padded, time):
    """Learn from every sentence once; `padded` holds what `SecondOrderModel.links` does."""
    weights, links, end, triples = parts
    late_weights, late_links, late_end, late_triples = late
    size, stride = links.shape[1], padded.shape[1]
    ends = np.full(stride, -np.inf, np.float32)
    for s in order:
        begin, stop = offsets[s], offsets[s + 1]
        n = stop - begin
        emissions = score(weights, rows, spans[begin : stop + 1])
        best = np.zeros(n, np.int32)
        ends[:size] = end
        decode(
            padded.ravel(), ends, 0.0, INFINITE, emissions.ravel(), np.array([0, n]), size,
            np.array([0]), best, np.zeros(1),
        )  # fmt: skip
        right, found = gold[begin:stop], best.astype(np.int64)
        for sign, path, other in ((1, right, found), (-1, found, right)):
            for i in range(n):
                y = path[i]
                differs = y != other[i]
                if differs:
                    for k in range(spans[begin + i], spans[begin + i + 1]):
                        weights[rows[k], y] += sign
                        late_weights[rows[k], y] += sign * time
                    if i == n - 1:
                        end[y] += sign
                        late_end[y] += sign * time
                x = path[i - 1] if i else size
                differs = differs or (i > 0 and x != other[i - 1])
                if differs:
                    links[x, y] += sign
                    late_links[x, y] += sign * time
                    padded[x * (size + 1) : (x + 1) * (size + 1), y] += sign
                if i > 1 and (differs or path[i - 2] != other[i - 2]):
                    w = path[i - 2]
                    triples[w, x, y] += sign
                    late_triples[w, x, y] += sign * time
                    padded[x * (size + 1) + w, y] += sign
        time += 1
    return time
