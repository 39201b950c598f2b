"""The tables of the five papers, typed in from the printed pages, to stand beside ours.

Machines, data and models are theirs: compare the ratios within a table, not the numbers across.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["TABLES", "PaperTable"]


@dataclass(frozen=True)
class PaperTable:
    """A table as printed.

    Attributes
    ----------
    benchmarks
        Names of the reports that it stands beside.
    source
        Authors, venue and the number of the table.
    columns, rows
        What it says.
    """

    benchmarks: tuple[str, ...]
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


_BELANGER = "Belanger, Passos, Riedel, McCallum (NIPS 2012)"
_QIAN = "Qian, Liu (TACL 2013)"
_RIEDEL = "Riedel, Smith, McCallum (EMNLP 2012)"
_DESHPANDE = "Deshpande, Barzilay, Karger (NAACL-HLT 2007)"
_BLANCO = "Blanco, Boldi, Marino (2014)"

TABLES = (
    PaperTable(
        ("chain",),
        f"{_BELANGER}, table 1, left: part-of-speech tags, 45 labels",
        ("decoder", "% exact", "sentences/s"),
        (
            ("Viterbi", 100.0, 3144.6),
            ("Viterbi+P", 100.0, 4515.3),
            ("CG", 100.0, 8227.6),
            ("CG-DG", 98.9, 9355.6),
            ("Beam-1", 57.7, 12117.6),
            ("Beam-2", 92.6, 7519.3),
            ("Beam-3", 98.4, 6802.5),
            ("Beam-4", 99.5, 5731.2),
        ),
    ),
    PaperTable(
        ("chain",),
        f"{_BELANGER}, table 1, right: joint tags and entities",
        ("decoder", "% exact", "sentences/s"),
        (
            ("Viterbi", 100.0, 56.9),
            ("Viterbi+P", 100.0, 498.9),
            ("CG", 100.0, 779.9),
            ("CG-DG", 98.4, 804.0),
            ("Beam-1", 66.6, 3717.0),
            ("Beam-5", 98.5, 994.97),
            ("Beam-7", 99.2, 772.8),
            ("Beam-10", 99.5, 575.1),
        ),
    ),
    PaperTable(
        ("chain",),
        f"{_BELANGER}, table 2A: the 0/1 loss oracle, sentences/s",
        ("method", "tags", "tags and entities"),
        (("CG", 85.0, 299.9), ("Viterbi 2-best", 56.0, 0.06), ("Viterbi+P 2-best", 119.6, 11.7)),
    ),
    PaperTable(
        ("chain",),
        f"{_BELANGER}, table 2B: reduced costs, tags",
        ("reduced cost", "sentences/s"),
        (("CG", 8227.6), ("CG-α", 5125.8), ("CG-α+θ(i+1)", 4532.1)),
    ),
    PaperTable(
        ("tree", "tree_branch_and_bound", "parser"),
        f"{_QIAN}, table 2: UAS by family of factors",
        ("system", "PTB", "CTB"),
        (
            ("baseline", 92.81, 86.89),
            ("+ all grandchildren", 92.97, 87.02),
            ("+ all great-grandchildren", 92.78, 86.77),
            ("+ all siblings", 93.00, 87.05),
            ("+ all tri-siblings", 92.79, 86.81),
            ("+ comb", 92.86, 86.91),
            ("+ hand-made", 92.89, None),
            ("+ grandchildren, siblings, comb, hand-made", 93.17, 87.25),
        ),
    ),
    PaperTable(
        ("tree", "tree_branch_and_bound", "parser"),
        f"{_QIAN}, table 3: accuracy and speed by pre-pruning; 54.7 DP calls a sentence unpruned",
        ("k", "PTB UAS", "PTB words/s", "CTB UAS", "CTB words/s"),
        (
            ("none", 93.18, 52, 87.28, 73),
            ("20", 93.17, 105, 87.28, 76),
            ("10", 93.17, 177, 87.25, 97),
            ("5", 93.10, 264, 86.94, 108),
            ("3", 92.68, 493, 85.76, 128),
        ),
    ),
    PaperTable(
        ("price_and_cut",),
        f"{_RIEDEL}, table 1: parse, price and cut relative to brute force (= 100%)",
        ("", "Italian", "Hungarian", "Danish"),
        (
            ("sentences/s, %", 760, 380, 390),
            ("grandparents scored, %", 6, 12, 13),
            ("grandparents added, %", 5, 7, 7),
            ("objective, %", 100, 100, 100),
            ("integer solutions, %", 98, 97, 97),
            ("unlabelled accuracy, %", 88, 81, 88),
        ),
    ),
    PaperTable(
        ("price_and_cut",),
        f"{_RIEDEL}, table 2a: outer bounds on the grandparent polytope, Italian",
        ("", "GPArc+ArcGP", "OneGP+NoGP", "all"),
        (
            ("sentences/s, %", 100, 1000, 1200),
            ("integer solutions, %", 77, 9, 98),
            ("unlabelled accuracy, %", 87, 85, 88),
        ),
    ),
    PaperTable(
        ("path",),
        f"{_DESHPANDE}, table 1",
        ("decoder", "mean s", "median s", "ROUGE-L", "optimal %"),
        (
            ("Beam 1", 0.6, 0.4, 0.0234, 0.0),
            ("Beam 80", 28.4, 19.3, 0.2373, 64.8),
            ("Beam 1345", 368.6, 224.4, 0.2556, 100.0),
            ("ILP", 6536.2, 57.3, 0.2556, 100.0),
            ("Color-coding", 73.8, 9.7, 0.2556, 100.0),
        ),
    ),
    PaperTable(
        ("representatives", "linking-component"),
        f"{_BLANCO}, table 1: distance-cost ratio and value (share of right candidates)",
        ("heuristic", "ratio, maximal", "ratio, minimal", "value, maximal", "value, minimal"),
        (
            ("Spanning tree", 122.747, 130.998, 0.369, 0.360),
            ("Hitting distance", 103.945, 105.797, 0.454, 0.459),
            ("Greedy", 101.969, 102.785, 0.428, 0.426),
            ("Degree", 114.182, 113.285, 0.411, 0.394),
            ("PageRank", 114.894, 112.392, 0.407, 0.398),
            ("Ground truth", 115.117, 119.243, None, None),
        ),
    ),
)
