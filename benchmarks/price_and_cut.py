"""Price and cut against brute force, with the same solvers: the paper's tables 1 and 2.

::

    python benchmarks/price_and_cut.py [--quick]

Scores of parsers with grandparents, trained by `tree_scores.py` in three languages, on held-out
sentences of up to 60 tokens, non-projective. Seconds are this process's processor time, and
decoding alone: all scores are computed before, and counted when they are asked for.

There are two brute forces. "Brute force" states all columns and all rows but those that follow
from others (see `MasterProgram`), a program several times smaller. "Brute force, rows as
printed" states OneHead, the flow, OneGP, NoGP, ArcGP and both GPArc rows, as section 3.2 does,
which is what the paper was compared with. Table 2 compares subsets of these rows.

"No program" is the share of sentences that the descent on the spanning trees' own duals proves,
pricing grandparents as section 4.5 proposes for dynamic programs, before any program is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import thread_time

import harness  # isort: skip - before numpy

import numpy as np
import tree_scores

from spacy_decoders.budget import UNLIMITED, Budget
from spacy_decoders.decoders.programs import LinearProgram
from spacy_decoders.decoders.tree import BranchAndBound, PriceAndCut, TreeProblem
from spacy_decoders.decoders.tree.published.price_and_cut_pricing import chains_of
from spacy_decoders.decoders.tree.published.price_and_cut_program import MasterProgram
from spacy_decoders.decoders.tree.published.price_and_cut_search import PriceAndCutResult
from spacy_decoders.decoders.tree.scoring import is_tree, score_tree

TREEBANKS = ("Danish-DDT", "Hungarian-Szeged", "Italian-ParTUT")
#: Brute force takes seconds on such a sentence and minutes on longer ones, which are left out
#: where it is compared.
LONGEST_BRUTE = 40
#: The solver takes minutes for ArcGP + GPArc alone on longer ones.
LONGEST_MARTINS = 25
LONGEST = 60
EQUAL = 1e-6


@dataclass
class Tally:
    """What one method did on the sentences of one language."""

    seconds: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    scored: int = 0
    added: int = 0
    possible: int = 0
    at_once: int = 0
    integral: int = 0
    certified: int = 0
    right: int = 0
    words: int = 0

    def take(self, method: Callable[[], object], sentence: tree_scores.Sentence) -> None:
        begin = thread_time()
        found = method()
        self.seconds.append(thread_time() - begin)
        self.scores.append(found.score)
        self.gaps.append(found.bound - found.score)
        self.scored += found.scored
        self.added += found.added
        self.possible += sentence.n * (sentence.n - 1) ** 2
        self.at_once += found.rounds == 0
        self.integral += found.integral
        self.certified += found.bound - found.score <= EQUAL
        self.right += int((found.heads[1:] == sentence.heads).sum())
        self.words += sentence.n

    @property
    def count(self) -> int:
        return len(self.seconds)

    @property
    def rate(self) -> float:
        return self.count / sum(self.seconds)

    def percent(self, number: int, of: int | None = None) -> float:
        return 100.0 * number / (of or self.count)


@dataclass
class BruteForce:
    """The relaxation with all columns and some kinds of rows, of those of section 3.2."""

    solver: str
    rows: tuple[str, ...]

    def search(self, problem: TreeProblem) -> PriceAndCutResult:
        chains = chains_of(problem.allowed)
        scores = np.where(chains, problem.grandparents, -np.inf)
        # where OneGP is stated it needs no slack; else its slack is free, on either side
        penalty = np.full_like(problem.arcs, -1e6 if "OneGP" in self.rows else 0.0)
        master = MasterProgram(problem.arcs, problem.single_root, penalty, self.solver)
        if "OneGP" not in self.rows:
            rows = master.one_row[master.one_row >= 0]
            slack, most = np.zeros(len(rows)), float(problem.n)
            master.program.add_columns(slack, upper=most, rows=rows[:, None], coefficients=-1.0)
        g, p, c = np.nonzero(scores > -np.inf)
        master.add_chains(g, p, c, scores[g, p, c])
        chain, upper, lower = (
            master.chain_column[g, p, c],
            master.column[g, p],
            master.column[p, c],
        )
        add = master.program.add_rows
        if "upper GPArc" in self.rows:
            master.add_upper_rows(np.ones(len(g), bool))
        if "lower GPArc" in self.rows:
            add(np.stack([chain, lower], axis=1), [1.0, -1.0], "<=", 0.0)
        if "ArcGP" in self.rows:
            add(np.stack([upper, lower, chain], axis=1), [1.0, 1.0, -1.0], "<=", 1.0)
        if "NoGP" in self.rows:
            order = np.argsort(upper, kind="stable")
            arcs, first = np.unique(upper[order], return_index=True)
            columns = np.insert(chain[order], first, arcs)
            weights = np.insert(np.ones(len(chain)), first, -float(problem.n))
            starts = np.append(first + np.arange(len(first)), len(columns))
            add(columns, weights, "<=", 0.0, starts)
        point = master.solve(UNLIMITED.start())
        integral = bool((np.abs(point.arcs - np.rint(point.arcs)) < 1e-6).all())
        heads = np.concatenate([[-1], point.arcs[:, 1:].argmax(axis=0)])
        score = score_tree(problem, heads[1:]) if is_tree(heads[1:]) else -np.inf
        counts = {"scored": len(g), "added": len(g), "rounds": 1}
        return PriceAndCutResult(heads, score, point.bound, integral, **counts)


#: The rows that imply all others.
ENOUGH = ("OneGP", "upper GPArc")
MARTINS = ("ArcGP", "upper GPArc", "lower GPArc")
COUNTING = ("OneGP", "NoGP")
METHODS = {
    "brute force, rows as printed": BruteForce("CBC", (*MARTINS, *COUNTING)),
    "brute force": BruteForce("CBC", ENOUGH),
    "brute force, HiGHS": BruteForce("HIGHS", ENOUGH),
    "price and cut, as in the paper": PriceAndCut("CBC", relax=True, pruning=False),
    "price and cut": PriceAndCut("CBC"),
    "price and cut, HiGHS": PriceAndCut("HIGHS"),
}
POLYTOPES = {
    "ArcGP + GPArc": BruteForce("CBC", MARTINS),
    "OneGP + NoGP": BruteForce("CBC", COUNTING),
    "all": BruteForce("CBC", ENOUGH),
}


def sample(model: tree_scores.Model, count: int, longest: int) -> list[tree_scores.Sentence]:
    """Return held-out sentences of all lengths, the same in every run."""
    fit = [s for s in model.held_out if 2 <= s.n <= longest]
    chosen = np.random.default_rng(0).permutation(len(fit))[:count]
    return [fit[i] for i in chosen]


def run(
    methods: dict[str, PriceAndCut | BruteForce],
    problems: list[tuple[tree_scores.Sentence, TreeProblem]],
) -> dict[str, Tally]:
    """Run all methods sentence by sentence, in turns."""
    tallies = {name: Tally() for name in methods}
    for solver in ("CBC", "HIGHS"):
        program = LinearProgram(solver)
        program.add_columns([1.0])
        program.relax()  # loads it
    for decoder in methods.values():
        decoder.search(problems[0][1])
    for sentence, problem in problems:
        for name, decoder in methods.items():
            tallies[name].take(lambda d=decoder, p=problem: d.search(p), sentence)
    return tallies


def main() -> None:
    parser = harness.arguments(__doc__)
    parser.add_argument("--treebanks", nargs="*", default=list(TREEBANKS))
    tree_scores.add_steps(parser)
    options = parser.parse_args()
    few, many = (8, 25) if options.quick else (24, 150)
    report = harness.Report("price_and_cut", options.results)
    points = {}
    differences, against = [], []
    for name in options.treebanks:
        model = tree_scores.load(name, options.data, steps=options.steps)

        def scored(count: int, longest: int, model=model):
            sentences = sample(model, count, longest)
            return [(s, model.problem(s)) for s in sentences]

        first = run(METHODS, scored(few, LONGEST_BRUTE))
        tabulate(
            report,
            f"{name}: {few} sentences of up to {LONGEST_BRUTE} tokens (the paper's table 1)",
            first,
            ["sentences/s", "scored %", "added %", "integral %", "certified %", "UAS"],
            "brute force",
        )
        second = run(POLYTOPES, scored(few // 2, LONGEST_MARTINS))
        tabulate(
            report,
            f"{name}: polytopes, all columns, {few // 2} sentences (the paper's table 2)",
            second,
            ["sentences/s", "integral %", "UAS"],
            "ArcGP + GPArc",
        )
        problems = scored(many, LONGEST)
        ours = {key: METHODS[key] for key in ("price and cut", "price and cut, HiGHS")}
        third = run(ours, problems)
        tabulate(report, f"{name}: sentences of up to {LONGEST} tokens", third, list(COLUMNS))
        brute, ppc = first["brute force"], first["price and cut"]
        # what the relaxation leaves open, branching may close: compare where it leaves nothing
        differences += [
            abs(score - full)
            for score, full, gap in zip(ppc.scores, brute.scores, brute.gaps, strict=True)
            if gap <= EQUAL
        ]
        seconds = 0.0
        BranchAndBound().decode(problems[0][1])  # loads it
        for (_, problem), score in zip(problems, third["price and cut"].scores, strict=True):
            begin = thread_time()
            other = BranchAndBound().decode(problem, budget=Budget(seconds=20)).certificate
            seconds += thread_time() - begin
            if other.is_optimal:
                against.append(abs(other.score - score))
        report.facts[f"{name}: sentences/s of BranchAndBound"] = len(problems) / seconds
        points[name] = (
            [s.n for s, _ in problems],
            [1e3 * t for t in third["price and cut"].seconds],
        )
    report.facts["largest difference from brute force"] = max(differences)
    report.facts["compared with BranchAndBound"] = len(against)
    report.facts["largest difference from BranchAndBound"] = max(against, default=0.0)
    harness.curves(
        report.path(".png"),
        "Price and cut, one sentence",
        "tokens",
        "milliseconds",
        {name: sorted_points(*given) for name, given in points.items()},
    )
    report.close()
    if max([*differences, *against]) > EQUAL:
        raise AssertionError("price and cut, brute force and branch and bound differ")


def sorted_points(lengths: list[int], values: list[float]) -> tuple[list[float], list[float]]:
    """Return the median of the values at each length."""
    at = sorted(set(lengths))
    where = np.array(lengths)
    return [float(n) for n in at], [float(np.median(np.array(values)[where == n])) for n in at]


#: What tables show of a tally.
COLUMNS: dict[str, Callable[[Tally], float]] = {
    "sentences": lambda tally: tally.count,
    "sentences/s": lambda tally: tally.rate,
    "slowest, s": lambda tally: max(tally.seconds),
    "scored %": lambda tally: tally.percent(tally.scored, tally.possible),
    "added %": lambda tally: tally.percent(tally.added, tally.possible),
    "no program %": lambda tally: tally.percent(tally.at_once),
    "integral %": lambda tally: tally.percent(tally.integral),
    "certified %": lambda tally: tally.percent(tally.certified),
    "UAS": lambda tally: tally.percent(tally.right, tally.words),
}


def tabulate(
    report: harness.Report,
    title: str,
    tallies: dict[str, Tally],
    columns: Sequence[str],
    base: str | None = None,
) -> None:
    """Print some columns of the tallies, and their speed relative to the method `base`."""
    rows = [[name, *(COLUMNS[key](of) for key in columns)] for name, of in tallies.items()]
    header = ["method", *columns]
    if base is not None:
        header.append("relative speed")
        for row, of in zip(rows, tallies.values(), strict=True):
            row.append(of.rate / tallies[base].rate)
    report.table(title, header, rows)


if __name__ == "__main__":
    main()
