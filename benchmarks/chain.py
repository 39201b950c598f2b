"""Chains: every decoder on the scores of the shipped taggers, in the shape of a paper's tables.

The paper is that of Belanger et al. (2012); the scores are those of EWT dev: entities (7 labels),
tags (49) and features (321). Prints sentences per second and the share decoded exactly (table 1),
the zero-one oracle and the three reduced costs (table 2). All times are medians of turns within
one run, in processor time of the one thread, through the public `decode_batch`, with a certificate
made for each sentence; "columns alone" leaves the certificates as arrays. "plain" is a textbook
Viterbi compiled by numba, without certificates. `verify` judges some of the certificates.
"""

from __future__ import annotations

from harness import Report, arguments, curves, interleaved  # isort: skip - before numpy

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pycrfsuite
from numba import njit
from pipelines import EWT, bare, golds_of

import spacy_decoders
from spacy_decoders import verify
from spacy_decoders.certificate import largest_tolerance
from spacy_decoders.components.tagger.decoding import unit_lengths
from spacy_decoders.decoders import chain as core

#: The paper's early stop: a gap of 0.15% of the score.
RELATIVE_GAP = 0.0015

#: Dense decoding with vectors.
DENSE = "dense SIMD"
#: The row whose certificates stay arrays.
ARRAYS = "ForwardDominance, columns alone"
#: What is not ours.
PEERS = ("numpy argmax", "plain Viterbi", "CRFsuite")

#: Multiplications that a dense decoder may spend on a set: fewer sentences are left to it.
DENSE_WORK = {False: 6e8, True: 1.5e8}

#: A method's name -> what runs it, and how many tokens that decodes.
Tasks = dict[str, tuple[Callable[[], Any], int]]


@dataclass
class Part:
    """The sentences of a set, or the first of them."""

    model: core.ChainModel
    emissions: np.ndarray
    lengths: list[int]

    def first(self, tokens: float) -> Part:
        """So many tokens, in whole sentences."""
        count = max(1, int((np.cumsum(self.lengths) <= tokens).sum()))
        lengths = self.lengths[:count]
        return Part(self.model, self.emissions[: sum(lengths)], lengths)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return (
            self.model.transitions,
            self.model.start,
            self.model.end,
            self.emissions,
            np.array(self.lengths, dtype=np.int64),
        )

    @property
    def mean(self) -> float:
        return sum(self.lengths) / len(self.lengths)

    def sentences(self) -> list[np.ndarray]:
        return np.split(self.emissions, np.cumsum(self.lengths)[:-1])

    def decoded(self, decoder: core.ChainDecoder) -> list[core.ChainSolution]:
        """Decode all sentences, certificates made: a batch makes them when they are asked for."""
        return list(decoder.decode_batch(self.model, self.emissions, self.lengths))

    def task(self, decoder: core.ChainDecoder) -> tuple[Callable[[], Any], int]:
        return (lambda: self.decoded(decoder)), len(self.emissions)


def shipped_scores(data: Path, *, limit: int = 0) -> dict[str, Part]:
    """The scores that the shipped taggers give EWT dev, or its first sentences."""
    nlp = spacy_decoders.load()
    golds = golds_of(data / EWT.format("dev"), limit=limit)
    docs = [bare(nlp.vocab, gold, sentences=True) for gold in golds]
    for doc in docs:
        nlp.get_pipe("parser")(doc)
    lengths = [n for doc in docs for n in unit_lengths(doc)]
    found = {}
    for name in ("entities", "tagger", "morphologizer"):
        pipe: Any = nlp.get_pipe(name)
        scores = pipe.predict(docs)
        rows = np.concatenate([emissions for emissions, _ in scores])
        found[name] = Part(scores[0][1], rows, lengths)
    return found


def parts_of(scores: Part, *, quick: bool) -> tuple[Part, Part]:
    """What all decoders get, and what is left to those that are dense."""
    few = min(4000.0, DENSE_WORK[quick] / scores.model.size**2)
    return scores.first(4000 if quick else 12_000), scores.first(few)


def measured(tasks: Tasks, *, quick: bool) -> dict[str, float]:
    """Nanoseconds a token of each method, measured in turns."""
    medians = interleaved(
        {name: task for name, (task, _) in tasks.items()},
        3 if quick else 7,
        seconds=2.0 if quick else 4.0,
        least=0.01,
    )
    return {name: 1e9 * medians[name] / tokens for name, (_, tokens) in tasks.items()}


def exactness(
    part: Part, decoder: core.ChainDecoder, best: np.ndarray
) -> tuple[float, float, float, float]:
    """Return the shares exact and certified, the largest loss, and the mean of the iterations.

    Exact means: worth the optimum in 64 bits, but for what a certificate may tolerate at most.
    """
    solutions = part.decoded(decoder)
    certificates = [solution.certificate for solution in solutions]
    loss = best - [certificate.score for certificate in certificates]
    exact = loss <= [largest_tolerance(abs(score)) for score in best.tolist()]
    for certificate, right, lost in zip(certificates, exact, loss, strict=True):
        if certificate.is_optimal and not right:
            raise AssertionError(f"a wrong certificate: {certificate}, lost {lost}")
    # to check all labels takes a tenth of a second a sentence where there are a thousand
    checked = 200 if part.model.size < 100 else 20
    for emissions, solution in zip(part.sentences()[:checked], solutions, strict=False):
        if solution.certificate.is_optimal and not verify((part.model, emissions), solution):
            raise AssertionError(f"not confirmed: {solution.certificate}")
    proven = [certificate.is_optimal for certificate in certificates]
    iterations = float(np.mean([certificate.iterations for certificate in certificates]))
    share, certified = (100 * float(np.mean(which)) for which in (exact, proven))
    return share, certified, max(0.0, float(loss.max())), iterations


def compared(
    report: Report,
    title: str,
    part: Part,
    times: Mapping[str, float],
    decoders: Mapping[str, core.ChainDecoder],
) -> None:
    """Tabulate speed and exactness of what was measured."""
    best = optimal_scores(part)
    bases = ("plain Viterbi", DENSE, "CRFsuite")
    rows = []
    for label, time in times.items():
        exact: tuple[float | None, ...] = (None,) * 4
        if label in decoders:
            exact = exactness(part, decoders[label], best)
        elif label in ("plain Viterbi", "CRFsuite"):
            exact = (100.0, None, None, None)
        ratios = [times[base] / time if base in times else None for base in bases]
        rows.append([label, *exact, 1e9 / (time * part.mean), time, *ratios])
    columns = ["decoder", "% exact", "% certified", "largest loss", "iterations"]
    columns += ["sentences/s", "ns/token", "x plain", "x dense"]
    report.table(title, [*columns, "x CRFsuite"], rows)


def table_one(report: Report, name: str, scores: Part, *, quick: bool) -> dict[str, float]:
    """Speed and exactness of every decoder on one set (table 1)."""
    every, few = parts_of(scores, quick=quick)
    size, fastest = every.model.size, core.ForwardDominance()
    wide = size > 100
    gap = RELATIVE_GAP * float(np.abs(optimal_scores(every)).mean())
    decoders: dict[str, core.ChainDecoder] = {
        DENSE: core.Viterbi(),
        "PrunedViterbi": core.PrunedViterbi(),
        "ColumnGeneration": core.ColumnGeneration(),
        "ColumnGeneration, gap 0.15%": core.ColumnGeneration(gap=gap),
        **{f"Beam {w}": core.Beam(w) for w in ((1, 2, 5, 7, 10) if wide else (1, 2, 3, 4, 5))},
        "ForwardDominance": fastest,
    }
    tokens, dense = len(every.emissions), len(few.emissions)
    tasks: Tasks = {
        "numpy argmax": (lambda: every.emissions.argmax(axis=1), tokens),
        "plain Viterbi": (lambda: plain_viterbi(*few.arrays), dense),
        ARRAYS: (
            lambda: fastest.decode_batch(every.model, every.emissions, every.lengths),
            tokens,
        ),
    }
    tasks["CRFsuite"] = crfsuite_task(size, few.lengths)
    for label, decoder in decoders.items():
        slow = wide and label in (DENSE, "PrunedViterbi")
        tasks[label] = (few if slow else every).task(decoder)
    times = measured(tasks, quick=quick)
    title = f"{size} labels, {len(every.lengths)} sentences, {every.mean:.1f} tokens a sentence"
    compared(report, f"{name}: {title}", every, times, decoders)
    return times


def table_two(report: Report, name: str, scores: Part, *, quick: bool) -> None:
    """The zero-one oracle, and the reduced costs (tables 2.A and 2.B)."""
    # two scores a label: four times the work
    part = scores.first(len(parts_of(scores, quick=quick)[1].emissions) / 4)
    model, rows = part.model, part.sentences()
    gold = [core.Viterbi().decode(model, emissions).labels for emissions in rows]
    second = [core.k_best(model, emissions, 2)[-1].certificate.score for emissions in rows]

    def oracle() -> list[float]:
        return [
            core.zero_one_oracle(model, emissions, labels).certificate.score
            for emissions, labels in zip(rows, gold, strict=True)
        ]

    methods = {
        "zero_one_oracle, best is gold": oracle,
        "k_best, k = 2": lambda: [core.k_best(model, emissions, 2) for emissions in rows],
    }
    times = measured({k: (task, len(part.emissions)) for k, task in methods.items()}, quick=quick)
    off = float(np.abs(np.subtract(oracle(), second)).max())
    report.table(
        f"{name}: the second best labelling, {len(rows)} sentences, scores differ by {off:.1g}",
        ["method", "sentences/s", "ns/token"],
        [[k, 1e9 / (t * part.mean), t] for k, t in times.items()],
    )
    modes = {"both (eq. 12)": "both", "left (eq. 8)": "left", "split (eq. 9)": "split"}
    decoders = {label: core.ColumnGeneration(reduced_cost=mode) for label, mode in modes.items()}
    part = scores.first(1500 if model.size > 100 else 8000)
    times = measured({k: part.task(decoder) for k, decoder in decoders.items()}, quick=quick)
    compared(report, f"{name}: column generation by reduced cost", part, times, decoders)


def plot(report: Report, found: Sequence[tuple[int, Mapping[str, float]]]) -> None:
    """Draw time against label count."""
    shown = ["numpy argmax", "Beam 1", "Beam 2", "Beam 5", "ForwardDominance"]
    shown += ["ColumnGeneration", DENSE, "plain Viterbi", "CRFsuite"]
    series: dict[str, tuple[list[float], list[float]]] = {}
    for size, times in sorted(found, key=lambda item: item[0]):
        for label in shown:
            if label in times:
                x, y = series.setdefault(label, ([], []))
                x.append(size)
                y.append(times[label])
    title = "Decoding the chains of the shipped taggers, one thread"
    curves(report.path(".png"), title, "labels", "nanoseconds a token", series, peers=PEERS)


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    quick = options.quick
    report = Report("chain", options.results)
    found = []
    for name, scores in shipped_scores(options.data).items():
        found.append((scores.model.size, table_one(report, name, scores, quick=quick)))
        if name != "entities":
            table_two(report, name, scores, quick=quick)
    plot(report, found)


# -- what is not ours: plain loops, and another program


@njit(cache=True)
def plain_viterbi(transitions, start, end, emissions, lengths):
    """Viterbi as the textbook has it: one score at a time, back pointers, no tricks."""
    size = len(start)
    labels = np.zeros(len(emissions), np.int32)
    begin = 0
    for n in lengths:
        score = np.zeros((n, size), np.float32)
        back = np.zeros((n, size), np.int32)
        for y in range(size):
            score[0, y] = start[y] + emissions[begin, y]
        for i in range(1, n):
            for y in range(size):
                best, origin = -np.inf, 0
                for x in range(size):
                    worth = score[i - 1, x] + transitions[x, y]
                    if worth > best:
                        best, origin = worth, x
                score[i, y] = best + emissions[begin + i, y]
                back[i, y] = origin
        if n:
            for y in range(size):
                score[n - 1, y] += end[y]
            y = np.argmax(score[n - 1])
            for i in range(n - 1, -1, -1):
                labels[begin + i] = y
                y = back[i, y]
        begin += n
    return labels


def optimal_scores(part: Part) -> np.ndarray:
    """Return the best score of each sentence, in 64 bits: the judge of exactness."""
    columns, best = part.model.transitions.T.astype(np.float64), []
    for first, *others in part.sentences():
        running = part.model.start + first.astype(np.float64)
        for emissions in others:
            running = (running + columns).max(axis=1) + emissions
        best.append((running + part.model.end).max())
    return np.array(best)


def crfsuite_task(size: int, lengths: list[int]) -> tuple[Callable[[], Any], int]:
    """CRFsuite's decoding of sentences of these lengths, and how many tokens that decodes.

    CRFsuite cannot be given scores from outside, so it decodes a model of its own with as
    many labels. Its Viterbi is dense: it takes the same time whatever the scores. The
    emissions are set before; only decoding is in the returned function, one sentence at a
    time, and all sentences have the length nearest to their mean.
    """
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"max_iterations": 1, "feature.possible_transitions": False})
    labels = [f"label{y}" for y in range(size)]
    # every label once, and every label after itself
    trainer.append([[f"word{y}"] for y in range(size)], labels)
    tagger = pycrfsuite.Tagger()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)
    mean = round(sum(lengths) / len(lengths))
    tagger.set([[f"word{i % size}"] for i in range(mean)])

    def decode() -> None:
        for _ in lengths:
            tagger.tag()

    assert len(tagger.labels()) == size
    return decode, mean * len(lengths)


if __name__ == "__main__":
    main()
