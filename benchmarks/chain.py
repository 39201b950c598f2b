"""Chains: every decoder on real trained scores, in the shape of Belanger et al.'s tables.

Prints sentences per second and the share decoded exactly (their table 1), the zero-one oracle
and the three reduced costs (table 2), single calls, margins and rankings, and a table of what
must be reached beside what was. All times are medians of turns within one run, in processor time
of the one thread, through the public `decode_batch` or `decode`, with a certificate made for each
sentence; "columns alone" leaves the certificates as arrays. "plain" is a textbook Viterbi
compiled by numba, without certificates.
"""

from __future__ import annotations

from timing import Report, arguments  # isort: skip - before numpy

import numpy as np
from chain_bench import COLUMNS, LOCKSTEP, SINGLE, Bench, Part, add_peers, add_single, exactness
from chain_calls import calls, rankings
from chain_peers import optimal_scores, torch_seconds, two_best
from chain_scores import Scores, load_scores
from plots import curves

from spacy_decoders.decoders.chain import (
    Beam,
    ChainDecoder,
    ChainModel,
    ColumnGeneration,
    ForwardDominance,
    PrunedViterbi,
    Viterbi,
    k_best,
    zero_one_oracle,
)

SETS = ["uner", "wikigold", "wsj", "ewt", "conll2000-pos", "conll2000"]
SETS += ["gum-names", "gum-entities", "gum-both"]
SETS += [f"{name}+crf" for name in ("wsj", "gum-names", "gum-entities", "gum-both")]
BIO_SETS = ["gum-names+bio", "gum-entities+bio"]
BIO_SETS += ["gum-names+crf+bio", "gum-entities+crf+bio"]
QUICK_SETS, QUICK_BIO_SETS = ["wikigold", "wsj", "conll2000-pos", "gum-names"], ["gum-names+bio"]

#: The paper's early stop: a gap of 0.15% of the score.
RELATIVE_GAP = 0.0015

#: What is not ours.
PEERS = ("numpy argmax", "plain Viterbi", "CRFsuite", "pytorch-crf")

#: The row whose certificates stay arrays.
ARRAYS = "ForwardDominance, columns alone"


def table_one(
    report: Report, name: str, scores: Scores, *, quick: bool, peers: str | None
) -> dict[str, float]:
    """Speed and exactness of every decoder on one set (table 1)."""
    bench = Bench(scores, quick=quick)
    best = optimal_scores(*bench.all.arrays)
    gap = RELATIVE_GAP * float(np.abs(best).mean())
    wide = bench.size > 100
    decoders: dict[str, ChainDecoder] = {
        "Viterbi": Viterbi(),
        "PrunedViterbi": PrunedViterbi(),
        "ColumnGeneration": ColumnGeneration(),
        "ColumnGeneration, gap 0.15%": ColumnGeneration(gap=gap),
        **{f"Beam {w}": Beam(w) for w in ((1, 2, 5, 7, 10) if wide else (1, 2, 3, 4, 5))},
        "ForwardDominance": ForwardDominance(),
    }
    add_peers(bench)
    for label, decoder in decoders.items():
        bench.add_decoder(label, decoder, few=label in ("Viterbi", "PrunedViterbi") and wide)
    part, fastest = bench.all, ForwardDominance()
    bench.add(
        ARRAYS,
        lambda: fastest.decode_batch(part.model, part.emissions, part.lengths),
        len(part.emissions),
    )
    times = bench.run()
    few = bench.few
    # beyond some hundred labels it takes milliseconds a token, and minutes a case
    fits = few.model.size <= 100
    if peers and fits and (seconds := torch_seconds(peers, few.model, few.emissions, few.lengths)):
        times["pytorch-crf"] = 1e9 * seconds / len(few.emissions)
    times[LOCKSTEP] = times.pop("Viterbi")
    decoders[LOCKSTEP] = decoders.pop("Viterbi")
    mean = sum(bench.all.lengths) / len(bench.all.lengths)
    rows = []
    for label, time in times.items():
        exact: tuple[float | None, ...] = (None,) * 4
        if label in decoders:
            exact = exactness(bench.all, decoders[label], best)
        elif label in ("plain Viterbi", SINGLE, "pytorch-crf", "CRFsuite"):
            exact = (100.0, None, None, None)
        ratios = [times[base] / time for base in ("plain Viterbi", SINGLE, LOCKSTEP)]
        crfsuite = times["CRFsuite"] / time if "CRFsuite" in times else None
        rows.append([label, *exact, 1e9 / (time * mean), time, *ratios, crfsuite])
    title = (
        f"{name}: {bench.size} labels, {len(bench.all.lengths)} sentences, "
        f"{mean:.1f} tokens a sentence"
    )
    report.table(
        title,
        [
            *COLUMNS, "sentences/s", "ns/token", "x plain", "x dense, one", "x dense, lockstep",
            "x CRFsuite",
        ],
        rows,
    )  # fmt: skip
    shares = {row[0]: row[1] for row in rows}
    for label in (LOCKSTEP, "PrunedViterbi", "ColumnGeneration", "ForwardDominance"):
        report.target(f"{name}: {label} exact", 100, shares[label], unit="%")
    made = (times["ForwardDominance"] - times[ARRAYS]) * mean
    print(f"the objects of a sentence take {made:,.0f} ns")
    return times


def speed_targets(report: Report, name: str, size: int, times: dict[str, float]) -> None:
    """Keep the targets of one set without forbidden transitions."""

    def times_faster(label: str, base: str) -> float | None:
        return times[base] / times[label] if base in times else None

    fast, priced = "ForwardDominance", "ColumnGeneration"
    case = f"{name} ({size} labels)"
    argmaxes = times[fast] / times["numpy argmax"]
    if size < 20:
        report.target(f"{case}: {fast} / plain", 1, times_faster(fast, "plain Viterbi"))
    elif size < 100:
        report.target(f"{case}: {priced} / plain", 2.6, times_faster(priced, "plain Viterbi"))
        report.target(f"{case}: {fast} / plain", 25, times_faster(fast, "plain Viterbi"))
        report.target(f"{case}: {fast} / CRFsuite", 20, times_faster(fast, "CRFsuite"))
        report.target(f"{case}: {fast}, numpy argmaxes", 1.2, argmaxes, most=True)
    else:
        report.target(f"{case}: {priced} / plain", 13, times_faster(priced, "plain Viterbi"))
        if size <= 500:
            report.target(f"{case}: {fast}, numpy argmaxes", 6, argmaxes, most=True)
    if size >= 20:
        wanted = 2 if size < 100 else 30 if size <= 500 else 25
        report.target(f"{case}: {fast} / {LOCKSTEP}", wanted, times_faster(fast, LOCKSTEP))
        report.target(f"{case}: {fast} / {SINGLE}", wanted, times_faster(fast, SINGLE))
        report.target(f"{case}: {fast} / {priced}", 1, times_faster(fast, priced))


def constrained(report: Report, name: str, scores: Scores, *, quick: bool) -> None:
    """Forbidden transitions: the dense decoder against those that prune."""
    bench = Bench(scores, quick=quick)
    best = optimal_scores(*bench.few.arrays)
    decoders = {
        "Viterbi": Viterbi(),
        "ForwardDominance": ForwardDominance(),
        "ColumnGeneration": ColumnGeneration(),
        "Beam 5": Beam(5),
    }
    for label, decoder in decoders.items():
        bench.add_decoder(label, decoder, few=True)
    add_single(bench)
    times = bench.run()
    times[LOCKSTEP] = times.pop("Viterbi")
    decoders[LOCKSTEP] = decoders.pop("Viterbi")
    rows = []
    for label, time in times.items():
        exact: tuple[float | None, ...] = (100.0, None, None, None)  # as in lockstep
        if label in decoders:
            exact = exactness(bench.few, decoders[label], best)
            if label != "Beam 5":
                report.target(f"{name}: {label} exact", 100, exact[0], unit="%")
        rows.append([label, *exact, time, times[SINGLE] / time, times[LOCKSTEP] / time])
    title = f"{name}: {bench.size} labels, illegal transitions forbidden"
    report.table(title, [*COLUMNS, "ns/token", "x dense, one", "x dense, lockstep"], rows)
    for base in (LOCKSTEP, SINGLE):
        case = f"{name} ({bench.size} labels): ForwardDominance / {base}"
        report.target(case, 15, times[base] / times["ForwardDominance"])


def flat(report: Report, *, quick: bool) -> None:
    """Random scores without any structure: nothing can be pruned."""
    rows = []
    for size, spread in ((45, 0.1), (45, 1.0), (400, 0.1), (400, 1.0)):
        rng = np.random.default_rng(size)
        lengths = rng.integers(5, 45, 60)
        model = ChainModel(*(rng.normal(size=s) for s in ((size, size), size, size)))
        emissions = (spread * rng.normal(size=(lengths.sum(), size))).astype(np.float32)
        scores = Scores(model, emissions, lengths, np.zeros(0), [])
        bench = Bench(scores, quick=quick)
        decoders = {
            "Viterbi": Viterbi(),
            "ForwardDominance": ForwardDominance(),
            "ColumnGeneration": ColumnGeneration(),
        }
        best = optimal_scores(*bench.few.arrays)
        for label, decoder in decoders.items():
            bench.add_decoder(label, decoder, few=True)
        times = bench.run()
        exact = [exactness(bench.few, decoder, best)[0] for decoder in decoders.values()]
        ratios = [times["Viterbi"] / times[label] for label in decoders]
        rows.append([f"{size} labels, emissions x {spread}", min(exact), *ratios])
        report.target(f"flat, {rows[-1][0]}: ForwardDominance / Viterbi", 0.85, ratios[1])
        report.target(f"flat, {rows[-1][0]}: all exact", 100, min(exact), unit="%")
    report.table("Flat random scores: speed beside Viterbi", ["case", "% exact", *decoders], rows)


def table_two(report: Report, name: str, scores: Scores, *, quick: bool) -> None:
    """The zero-one oracle, and the reduced costs (tables 2.A and 2.B)."""
    bench = Bench(scores, quick=quick)
    # two scores a label: four times the work
    part = Part.of(scores, len(bench.few.emissions) / 4)
    model, rows = part.model, part.sentences()
    gold = [Viterbi().decode(model, emissions).labels for emissions in rows]
    tokens = len(part.emissions)

    def oracle() -> list[float]:
        return [
            zero_one_oracle(model, emissions, labels).certificate.score
            for emissions, labels in zip(rows, gold, strict=True)
        ]

    def second() -> list[float]:
        return [k_best(model, emissions, 2)[-1].certificate.score for emissions in rows]

    bench.add("plain 2-best Viterbi", lambda: two_best(*part.arrays, False), tokens)
    bench.add("pruned 2-best Viterbi", lambda: two_best(*part.arrays, True), tokens)
    bench.add("zero_one_oracle, best is gold", oracle, tokens)
    bench.add("k_best, k = 2", second, tokens)
    times = bench.run()
    truth = two_best(*part.arrays, False)[:, 1]
    off = {
        label: float(np.abs(np.array(task()) - truth).max())
        for label, task in (("zero_one_oracle, best is gold", oracle), ("k_best, k = 2", second))
    }
    mean = tokens / len(rows)
    pruned = times["pruned 2-best Viterbi"]
    report.table(
        f"{name}: the second best labelling, {len(rows)} sentences",
        ["method", "sentences/s", "ns/token", "x pruned 2-best", "largest difference"],
        [[k, 1e9 / (t * mean), t, pruned / t, off.get(k)] for k, t in times.items()],
    )
    if bench.size > 100:
        fastest = min(times["k_best, k = 2"], times["zero_one_oracle, best is gold"])
        case = f"{name} ({bench.size} labels): 2-best / pruned 2-best"
        report.target(case, 25, pruned / fastest)

    costs = Bench(scores, quick=quick)
    modes = {"both (eq. 12)": "both", "left (eq. 8)": "left", "split (eq. 9)": "split"}
    decoders = {label: ColumnGeneration(reduced_cost=mode) for label, mode in modes.items()}
    small = Part.of(scores, 1500 if bench.size > 100 else 8000)
    best = optimal_scores(*small.arrays)
    for label, decoder in decoders.items():
        costs.add(
            label,
            lambda d=decoder: d.decode_batch(small.model, small.emissions, small.lengths),
            len(small.emissions),
        )
    times = costs.run()
    lines = []
    for label, time in times.items():
        share, _, _, iterations = exactness(small, decoders[label], best)
        lines.append([label, share, iterations, 1e9 / (time * mean), time])
    columns = ["reduced cost", "% exact", "iterations", "sentences/s", "ns/token"]
    report.table(f"{name}: column generation by reduced cost", columns, lines)


def plot(report: Report, found: dict[str, tuple[int, dict[str, float]]]) -> None:
    """Draw time against label count, of the sets trained as a perceptron."""
    shown = ["numpy argmax", "Beam 1", "Beam 2", "Beam 5", "ForwardDominance"]
    shown += ["ColumnGeneration", SINGLE, LOCKSTEP, "plain Viterbi", "CRFsuite", "pytorch-crf"]
    series: dict[str, tuple[list[float], list[float]]] = {}
    for name, (size, times) in sorted(found.items(), key=lambda item: item[1][0]):
        for label in shown:
            if label in times and "+" not in name:
                x, y = series.setdefault(label, ([], []))
                x.append(size)
                y.append(times[label])
    title = "Decoding real trained chains, one thread"
    curves(report.path(".png"), title, "labels", "nanoseconds a token", series, peers=PEERS)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--peers", help="an interpreter that has torch and pytorch-crf")
    options = parser.parse_args()
    quick = options.quick
    report = Report("chain", options.results)
    try:
        found: dict[str, tuple[int, dict[str, float]]] = {}
        for name in QUICK_SETS if quick else SETS:
            scores = load_scores(name, options.data)
            times = table_one(report, name, scores, quick=quick, peers=options.peers)
            found[name] = (scores.model.size, times)
            speed_targets(report, name, scores.model.size, times)
            calls(report, name, scores, quick=quick)
        rankings(report, quick=quick)
        for name in ["wsj", *([] if quick else ["conll2000"]), "gum-names"]:
            table_two(report, name, load_scores(name, options.data), quick=quick)
        for name in QUICK_BIO_SETS if quick else BIO_SETS:
            constrained(report, name, load_scores(name, options.data), quick=quick)
        flat(report, quick=quick)
        plot(report, found)
    finally:
        report.close()  # what was measured is kept, whatever cut the rest


if __name__ == "__main__":
    main()
