"""Trigram taggers: exact decoding of second order on real trained scores.

Prints for each set how many tokens are right in first and in second order, nanoseconds a token
and the share decoded exactly of every decoder, the same for flat random scores, in which nothing
can be pruned, and a table of what must be reached beside what was. All times are medians of
turns within one run, in processor time of the one thread, through the public `decode_batch`;
"plain" is a textbook Viterbi over pairs of labels compiled by numba, and the beams keep the best
few pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from timing import Report, arguments, interleaved  # isort: skip - before numpy

import numpy as np
from numba import njit
from plots import curves
from second_order_scores import SecondOrderScores, load_scores

from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
    SecondOrderDominance,
    SecondOrderModel,
    SecondOrderViterbi,
)

SETS = ["wsj", "ewt", "gum-names", "gum-entities"]
BEAMS = (1, 2, 5, 10)
PLAIN, DENSE, FAST = "plain Viterbi over pairs", "SecondOrderViterbi", "SecondOrderDominance"

#: Triples that the plain decoder may look at in one turn.
PLAIN_WORK = {False: 3e8, True: 5e7}


@njit(cache=True)
def plain_viterbi(transitions, start, end, triples, emissions, lengths):
    """Viterbi over pairs as the textbook has it: one score at a time, back pointers."""
    size = len(start)
    labels = np.zeros(len(emissions), np.int32)
    begin = 0
    for n in lengths:
        score = np.full((n, size, size), -np.inf, np.float32)
        back = np.zeros((n, size, size), np.int32)
        for i in range(1, n):
            for y in range(size):
                for z in range(size):
                    best, origin = -np.inf, 0
                    if i == 1:
                        best = start[y] + emissions[begin, y]
                    else:
                        for x in range(size):
                            worth = score[i - 1, x, y] + triples[x, y, z]
                            if worth > best:
                                best, origin = worth, x
                    score[i, y, z] = best + transitions[y, z] + emissions[begin + i, z]
                    back[i, y, z] = origin
        if n == 1:
            labels[begin] = np.argmax(start + emissions[begin] + end)
        elif n > 1:
            best = -np.inf
            y, z = 0, 0
            for first in range(size):
                for last in range(size):
                    if score[n - 1, first, last] + end[last] > best:
                        best, y, z = score[n - 1, first, last] + end[last], first, last
            for i in range(n - 1, 0, -1):
                labels[begin + i] = z
                y, z = back[i, y, z], y
            labels[begin] = z
        begin += n
    return labels


@njit(cache=True)
def beam(transitions, start, end, triples, emissions, lengths, width):
    """Keep the best `width` pairs of labels at each token: what one would write by hand."""
    size = len(start)
    labels = np.zeros(len(emissions), np.int32)
    begin = 0
    for n in lengths:
        pairs = np.zeros((n, width, 2), np.int32)
        back = np.zeros((n, width), np.int32)
        score = np.full((n, width), -np.inf, np.float32)
        for i in range(n):
            kept = 0
            for k in range(width if i else 1):
                if i and score[i - 1, k] == -np.inf:
                    break
                for z in range(size):
                    worth = emissions[begin + i, z] + (end[z] if i == n - 1 else np.float32(0))
                    y = np.int32(-1)
                    if i == 0:
                        worth += start[z]
                    else:
                        x, y = pairs[i - 1, k]
                        worth += score[i - 1, k] + transitions[y, z]
                        if i > 1:
                            worth += triples[x, y, z]
                    if not worth > score[i, width - 1]:
                        continue
                    # the pair may be there already, by another label before it
                    place = kept
                    for j in range(kept):
                        if pairs[i, j, 0] == y and pairs[i, j, 1] == z:
                            place = j
                            break
                    if place < kept and score[i, place] >= worth:
                        continue
                    if place == kept:
                        kept = min(kept + 1, width)
                        place = kept - 1
                    while place > 0 and score[i, place - 1] < worth:
                        pairs[i, place] = pairs[i, place - 1]
                        score[i, place], back[i, place] = score[i, place - 1], back[i, place - 1]
                        place -= 1
                    pairs[i, place, 0], pairs[i, place, 1] = y, z
                    score[i, place], back[i, place] = worth, k
        k = 0
        for i in range(n - 1, -1, -1):
            labels[begin + i] = pairs[i, k, 1]
            k = back[i, k]
        begin += n
    return labels


@njit(cache=True)
def optimal_scores(transitions, start, end, triples, emissions, lengths):
    """Return the best score of each sentence, in 64 bits: the judge of exactness."""
    size = len(start)
    best = np.zeros(len(lengths))
    begin = 0
    for s in range(len(lengths)):
        n = lengths[s]
        if n == 1:
            best[s] = (start.astype(np.float64) + emissions[begin] + end).max()
        elif n > 1:
            score = np.zeros((size, size))
            for y in range(size):
                score[y] = np.float64(start[y]) + emissions[begin, y]
                score[y] += transitions[y].astype(np.float64) + emissions[begin + 1]
            for i in range(2, n):
                after = np.full((size, size), -np.inf)
                for x in range(size):
                    for y in range(size):
                        for z in range(size):
                            after[y, z] = max(after[y, z], score[x, y] + triples[x, y, z])
                for y in range(size):
                    after[y] += transitions[y].astype(np.float64) + emissions[begin + i]
                score = after
            best[s] = (score + end).max()
        begin += n
    return best


@dataclass
class Part:
    """The first sentences of a set."""

    model: SecondOrderModel
    emissions: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, model: SecondOrderModel, emissions, lengths, tokens: float) -> Part:
        some = lengths[np.cumsum(lengths) <= max(tokens, lengths[0])]
        return cls(model, emissions[: some.sum()], some)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        chain = self.model.chain
        links = (chain.transitions, chain.start_scores, chain.end_scores, self.model.triples)
        return (*links, self.emissions, self.lengths)

    def worth(self, labels: np.ndarray) -> np.ndarray:
        """What the labelling of each sentence is worth, in 64 bits."""
        cuts = np.cumsum(self.lengths)[:-1]
        sentences = zip(np.split(self.emissions, cuts), np.split(labels, cuts), strict=True)
        return np.array([self.model.score(*sentence) for sentence in sentences])


@dataclass
class Bench:
    """One set of scores: its decoders timed in turns, in nanoseconds a token."""

    all: Part
    few: Part
    quick: bool
    tasks: dict[str, tuple[Callable[[], Any], int]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: SecondOrderModel, emissions, lengths, *, quick: bool) -> Bench:
        tokens = 3000 if quick else 12_000
        all_of_it = Part.of(model, emissions, lengths, tokens)
        few = Part.of(model, emissions, lengths, min(tokens, PLAIN_WORK[quick] / model.size**3))
        bench = cls(all_of_it, few, quick)
        for name, decoder in ((DENSE, SecondOrderViterbi()), (FAST, SecondOrderDominance())):
            bench.add(name, lambda d=decoder: bench.batch(d), len(all_of_it.emissions))
        return bench

    def batch(self, decoder):
        return decoder.decode_batch(self.all.model, self.all.emissions, self.all.lengths)

    def add(self, name: str, task: Callable[[], Any], tokens: int) -> None:
        self.tasks[name] = (task, tokens)

    def run(self) -> dict[str, float]:
        medians = interleaved(
            {name: task for name, (task, _) in self.tasks.items()},
            3 if self.quick else 7,
            seconds=2.0 if self.quick else 4.0,
            least=0.01,
            clock=thread_time,
        )
        return {name: 1e9 * medians[name] / tokens for name, (_, tokens) in self.tasks.items()}

    def exact(self, name: str, best: np.ndarray) -> tuple[float, float]:
        """Return the share of sentences decoded exactly, and the largest loss.

        Exact means: not worth less, in 64 bits, than the optimum less the tolerance that the
        certificate states.
        """
        found = self.tasks[name][0]()
        slack = 1e-12 * np.abs(best)
        if isinstance(found, np.ndarray):
            loss = best - self.all.worth(found)
            slack = slack + 1e-5
        else:
            loss = best - found.scores
            slack = np.maximum(slack, found.tolerances)
            proven = np.array([certificate.is_optimal for certificate in found.certificates])
            if (wrong := np.flatnonzero(proven & (loss > slack))).size:
                raise AssertionError(f"a wrong certificate: {found[wrong[0]].certificate}")
        return 100 * float(np.mean(loss <= slack)), max(0.0, float(loss.max()))


def trained(
    report: Report, name: str, scores: SecondOrderScores, *, quick: bool
) -> dict[str, float]:
    """Speed and exactness of every decoder on one set."""
    bench = Bench.of(scores.model, scores.emissions, scores.lengths, quick=quick)
    part, few, first = bench.all, bench.few, scores.first_order
    tokens = len(part.emissions)
    bench.add(PLAIN, lambda: plain_viterbi(*few.arrays), len(few.emissions))
    for width in BEAMS:
        bench.add(f"beam of {width}", lambda w=width: beam(*part.arrays, w), tokens)
    bench.add(
        "first order: ForwardDominance",
        lambda: ForwardDominance().decode_batch(
            first.model, first.emissions[:tokens], part.lengths
        ),
        tokens,
    )
    times = bench.run()
    best = optimal_scores(*part.arrays)
    if not np.allclose(few.worth(plain_viterbi(*few.arrays)), best[: len(few.lengths)]):
        raise AssertionError("the plain decoder is not exact")
    rows, shares = [], {}
    for label, time in times.items():
        exact: tuple[float | None, ...] = (None, None)
        if label == PLAIN:
            exact = (100.0, None)
        elif not label.startswith("first"):
            exact = bench.exact(label, best)
        shares[label] = exact[0]
        rows.append([label, *exact, time, times[PLAIN] / time, times[DENSE] / time])
    size, mean = scores.model.size, tokens / len(part.lengths)
    title = f"{name}: {size} labels, {len(part.lengths)} sentences, {mean:.1f} tokens a sentence"
    report.table(
        title, ["decoder", "% exact", "largest loss", "ns/token", "x plain", "x dense"], rows
    )
    case = f"{name} ({size} labels)"
    report.target(f"{case}: {DENSE} exact", 100, shares[DENSE], unit="%")
    report.target(f"{case}: {FAST} exact", 100, shares[FAST], unit="%")
    report.target(f"{case}: {FAST} / plain", 25, times[PLAIN] / times[FAST])
    report.target(f"{case}: {FAST} / {DENSE}", 5, times[DENSE] / times[FAST])
    return times


def accuracy(scores: SecondOrderScores) -> list[str]:
    """Return the shares of tokens right in first and in second order, in percent."""
    first = scores.first_order
    known = scores.gold >= 0
    found = (
        ForwardDominance().decode_batch(first.model, first.emissions, first.lengths),
        SecondOrderDominance().decode_batch(scores.model, scores.emissions, scores.lengths),
    )
    return [f"{100 * float((batch.labels == scores.gold)[known].mean()):.2f}" for batch in found]


def flat(report: Report, *, quick: bool) -> None:
    """Random scores without any structure: little or nothing can be pruned."""
    rows = []
    for size, spread in ((9, 0.1), (9, 1.0), (45, 0.1), (45, 1.0), (45, 3.0)):
        rng = np.random.default_rng(size)
        lengths = rng.integers(5, 45, 60)
        chain = ChainModel(*(rng.normal(size=shape) for shape in ((size, size), size, size)))
        model = SecondOrderModel(chain, rng.normal(size=(size, size, size)))
        emissions = (spread * rng.normal(size=(lengths.sum(), size))).astype(np.float32)
        bench = Bench.of(model, emissions, lengths, quick=quick)
        times = bench.run()
        best = optimal_scores(*bench.all.arrays)
        exact = min(bench.exact(label, best)[0] for label in (DENSE, FAST))
        ratio = times[DENSE] / times[FAST]
        case = f"{size} labels, emissions x {spread}"
        rows.append([case, exact, times[DENSE], times[FAST], ratio])
        report.target(f"flat, {case}: {FAST} / {DENSE}", 0.85, ratio)
        report.target(f"flat, {case}: both exact", 100, exact, unit="%")
    columns = ["case", "% exact", f"{DENSE} ns/token", f"{FAST} ns/token", "x dense"]
    report.table("Flat random scores", columns, rows)


def plot(report: Report, found: dict[str, tuple[int, dict[str, float]]]) -> None:
    """Draw the time of every decoder on every set."""
    labels = next(iter(found.values()))[1]
    names = [f"{name}\n{size} labels" for name, (size, _) in found.items()]
    series = {label: (names, [times[label] for _, times in found.values()]) for label in labels}
    title = "Decoding trained trigram taggers, one thread"
    curves(report.path(".png"), title, "", "nanoseconds a token", series, log="y")


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    report = Report("second_order", options.results)
    try:
        found, right = {}, []
        for name in SETS[:1] if options.quick else SETS:
            scores = load_scores(name, options.data)
            right.append([name, scores.model.size, len(scores.gold), *accuracy(scores)])
            times = trained(report, name, scores, quick=options.quick)
            found[name] = (scores.model.size, times)
        columns = ["set", "labels", "tokens", "% right, first order", "% right, second order"]
        report.table("Held-out tokens right", columns, right)
        flat(report, quick=options.quick)
        plot(report, found)
        report.facts["ns_per_token"] = {name: times for name, (_, times) in found.items()}
    finally:
        report.close()  # what was measured is kept, whatever cut the rest


if __name__ == "__main__":
    main()
