"""Price and cut against brute force, with the same solvers: the paper's table 1.

::

    python benchmarks/price_and_cut.py [--quick]

Scores of parsers with grandparents, trained by `tree_scores.py` in three languages, on held-out
sentences of up to 60 tokens, non-projective. Seconds are this process's processor time, and
decoding alone: all scores are computed before, and counted when they are asked for.

Brute force states all columns, and all rows but those that follow from others (see
`MasterProgram`), a program several times smaller than as printed.

"No program" is the share of sentences that the descent on the spanning trees' own duals proves,
pricing grandparents as section 4.5 proposes for dynamic programs, before any program is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import harness  # isort: skip - before numpy

import numpy as np
import tree_scores
from tree_scores import Tally

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
LONGEST = 60
EQUAL = 1e-6


@dataclass
class BruteForce:
    """The relaxation with all columns, and with OneGP and upper GPArc, which imply all rows."""

    solver: str

    def search(self, problem: TreeProblem) -> PriceAndCutResult:
        given = problem.grandparents
        assert given is not None
        g, p, c = np.nonzero(chains_of(problem.allowed) & (given > -np.inf))
        penalty = np.full_like(problem.arcs, -1e6)  # OneGP is stated, and needs no slack
        master = MasterProgram(problem.arcs, problem.single_root, penalty, self.solver)
        scores = given[g, p, c]
        master.add_chains(g, p, c, scores)
        master.add_upper_rows(np.ones(len(g), bool))
        point = master.solve(UNLIMITED.start())
        integral = bool((np.abs(point.arcs - np.rint(point.arcs)) < 1e-6).all())
        heads = np.concatenate([[-1], point.arcs[:, 1:].argmax(axis=0)])
        score = score_tree(problem, heads[1:]) if is_tree(heads[1:]) else -np.inf
        arcs = np.where(point.arcs > 0, problem.arcs, 0.0)
        bound = float((point.arcs * arcs).sum() + scores @ point.chains)
        counts = {"scored": len(g), "added": len(g), "rounds": 1}
        return PriceAndCutResult(heads, score, bound, integral, **counts)


METHODS = {
    "brute force": BruteForce("CBC"),
    "brute force, HiGHS": BruteForce("HIGHS"),
    "price and cut, as in the paper": PriceAndCut("CBC", relax=True, pruning=False),
    "price and cut": PriceAndCut("CBC"),
    "price and cut, HiGHS": PriceAndCut("HIGHS"),
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
            tallies[name].take(partial(decoder.search, problem), sentence)
    return tallies


def main() -> None:
    parser = harness.arguments(__doc__)
    parser.add_argument("--treebanks", nargs="*", default=list(TREEBANKS))
    steps = tree_scores.STEPS
    parser.add_argument("--steps", type=int, default=steps, help="updates of a parser made here")
    options = parser.parse_args()
    few, many = (8, 25) if options.quick else (24, 150)
    report = harness.Report("price_and_cut", options.results)
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
        problems = scored(many, LONGEST)
        both = {key: METHODS[key] for key in ("price and cut", "price and cut, HiGHS")}
        longer = run(both, problems)
        tabulate(report, f"{name}: sentences of up to {LONGEST} tokens", longer, list(COLUMNS))
        brute, ppc = first["brute force"], first["price and cut"]
        # what the relaxation leaves open, branching may close: compare where it leaves nothing
        differences += [
            abs(ours.score - full.score)
            for ours, full in zip(ppc.found, brute.found, strict=True)
            if full.bound - full.score <= EQUAL
        ]
        BranchAndBound().decode(problems[0][1])  # loads it
        other = Tally()
        for sentence, problem in problems:
            decode = partial(BranchAndBound().decode, problem, budget=Budget(seconds=20))
            other.take(decode, sentence)
        against += [
            abs(theirs.certificate.score - ours.score)
            for theirs, ours in zip(other.found, longer["price and cut"].found, strict=True)
            if theirs.certificate.is_optimal
        ]
        report.facts[f"{name}: sentences/s of BranchAndBound"] = other.rate
    report.facts["largest difference from brute force"] = max(differences)
    report.facts["compared with BranchAndBound"] = len(against)
    report.facts["largest difference from BranchAndBound"] = max(against, default=0.0)
    if max([*differences, *against]) > EQUAL:
        raise AssertionError("price and cut, brute force and branch and bound differ")


def chains(tally: Tally) -> int:
    """How many chains of grandparents the sentences could have."""
    return sum(sentence.n * (sentence.n - 1) ** 2 for sentence in tally.sentences)


#: What tables show of a tally.
COLUMNS: dict[str, Callable[[Tally], float]] = {
    "sentences": lambda tally: len(tally.found),
    "sentences/s": lambda tally: tally.rate,
    "slowest, s": lambda tally: max(tally.seconds),
    "scored %": lambda tally: 100.0 * sum(of.scored for of in tally.found) / chains(tally),
    "added %": lambda tally: 100.0 * sum(of.added for of in tally.found) / chains(tally),
    "no program %": lambda tally: tally.share(lambda of: of.rounds == 0),
    "integral %": lambda tally: tally.share(lambda of: of.integral),
    "certified %": lambda tally: tally.share(lambda of: of.bound - of.score <= EQUAL),
    "UAS": lambda tally: tally.uas,
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
