"""What else chains are asked on real scores: single calls, proofs, margins and rankings."""

from __future__ import annotations

from timing import Report, interleaved  # isort: skip - before numpy

from time import thread_time

import numpy as np
from chain_bench import Bench, Part
from chain_peers import plain_viterbi
from chain_scores import Scores

from spacy_decoders import verify
from spacy_decoders.decoders.chain import (
    ChainModel,
    ForwardDominance,
    k_best,
    max_marginal_margins,
)
from spacy_decoders.decoders.chain.certifying import proof_of
from spacy_decoders.decoders.chain.problem import Sentences

__all__ = ["calls", "rankings"]

BATCH, SINGLE = "decode_batch", "decode, a call a sentence"
PROOF, MARGINS = "the proof alone", "max_marginal_margins"


def calls(report: Report, name: str, scores: Scores, *, quick: bool) -> None:
    """Time single calls, the proof and margins of one set beside a batch, and verify some."""
    bench = Bench(scores, quick=quick)
    part, decoder = bench.all, ForwardDominance()
    model, tokens = part.model, len(part.emissions)
    rows, sentences = part.sentences(), Sentences.of(model, part.emissions, part.lengths)
    labels = np.concatenate([solution.labels for solution in part.decoded(decoder)])
    given = (model, part.emissions, part.lengths)
    bench.add_decoder(BATCH, decoder)
    bench.add(SINGLE, lambda: [decoder.decode(model, row) for row in rows], tokens)
    bench.add(PROOF, lambda: proof_of(model, sentences, labels), tokens)
    bench.add(MARGINS, lambda: max_marginal_margins(*given), tokens)
    few = bench.few
    bench.add("plain loop, a call a sentence", single_loops(few), len(few.emissions))
    times = bench.run()
    mean = tokens / len(rows)
    report.table(
        f"{name}: {bench.size} labels, {len(rows)} sentences, {mean:.1f} tokens a sentence",
        ["what", "ns/token", "us/sentence", "x decode_batch"],
        [[what, t, t * mean / 1000, t / times[BATCH]] for what, t in times.items()],
    )
    case = f"{name} ({bench.size} labels)"
    if bench.size < 100:
        microseconds = times[SINGLE] * mean / 1000
        report.target(f"{case}: a decode call", 20, microseconds, most=True, unit="us")
    report.target(
        f"{case}: {MARGINS}", 5, times[MARGINS] / times[BATCH], most=True, unit="decodes"
    )
    share = 100 * times[PROOF] / times[BATCH]
    report.target(f"{case}: {PROOF}", 15, share, most=True, unit="% of decode_batch")
    # to check all labels takes a tenth of a second a sentence where there are a thousand
    checked = list(zip(rows, part.decoded(decoder), strict=True))[
        : 200 if bench.size < 100 else 20
    ]
    confirmed = [bool(verify((model, row), solution)) for row, solution in checked]
    report.target(f"{case}: verified", 100, 100 * float(np.mean(confirmed)), unit="%")


def single_loops(part: Part):
    """Return the plain loop called for each sentence."""
    ends = np.cumsum(part.lengths).tolist()
    links, length = part.arrays[:3], np.diff([0, *ends])
    spans = list(zip([0, *ends], ends, strict=False))
    rows = [(part.emissions[a:b], length[i : i + 1]) for i, (a, b) in enumerate(spans)]
    return lambda: [plain_viterbi(*links, *row) for row in rows]


def rankings(report: Report, *, quick: bool) -> None:
    """Time the k best labellings as k grows: the work must be linear in k."""
    rng = np.random.default_rng(0)
    n, size = 30, 65
    model = ChainModel(*(rng.normal(size=s) for s in ((size, size), size, size)))
    emissions = (3 * rng.normal(size=(n, size))).astype(np.float32)
    tasks = {k: (lambda k=k: k_best(model, emissions, k)) for k in (1, 10, 100, 1000)}
    seconds = interleaved(
        {str(k): task for k, task in tasks.items()},
        3 if quick else 7,
        seconds=4.0,
        clock=thread_time,
    )
    rows = [[f"k = {k}", seconds[str(k)], 1e6 * seconds[str(k)] / k] for k in tasks]
    title = f"k_best: {n} tokens, {size} labels, random scores"
    report.table(title, ["what", "seconds", "us a labelling"], rows)
    report.target("k_best, k = 1,000", 0.2, seconds["1000"], most=True, unit="s")
    growth = seconds["1000"] / seconds["100"]
    report.target("k_best, k = 1,000 / k = 100", 12, growth, most=True)
