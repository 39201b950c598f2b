"""Real scores for the tree benchmarks: trained here, on public treebanks, and cached.

A hashed averaged perceptron over gold tags: first the arcs alone, by exact decoding; then,
from these weights on, arcs with grandparents and all pairs of siblings. Scores are those of
held-out sentences. To train and cache a treebank::

    python benchmarks/tree_scores.py ewt
"""

from __future__ import annotations

import argparse
import os
import zlib
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np
import tree_features as features
from numpy.typing import NDArray

from spacy_decoders.budget import Budget
from spacy_decoders.decoders.tree import (
    BranchAndBound,
    ChuLiuEdmonds,
    Eisner,
    Factors,
    TreeProblem,
    prune,
)
from spacy_decoders.readers.sentences import read_columns, read_conllu

ROOT = Path(__file__).parent
CACHE = ROOT / "results" / "cache"
DATA = Path(os.environ.get("SPACY_DECODERS_DATA", ROOT.parents[1] / "shared" / "data"))
LARGEST = 6_000  # training sentences of the second order
LARGEST_THIRD = 2_500  # and of the third
RATE_THIRD = 0.1  # its steps: what the second order left is little
EVERYWHERE = 10_000  # a window of siblings that takes in all

#: name -> training file, held-out file (None: the last seventh), columns, projective.
TREEBANKS = {
    "ewt": ("UD_English-EWT/en_ewt-ud-train.conllu", "UD_English-EWT/en_ewt-ud-dev.conllu", True),
    "danish": ("cdt-danish-ddt/da_ddt_train.conll", "cdt-danish-ddt/da_ddt_dev.conll", False),
    "hungarian": (
        "UD_Hungarian-Szeged/hu_szeged-ud-train.conllu",
        "UD_Hungarian-Szeged/hu_szeged-ud-dev.conllu",
        False,
    ),
    "italian": (
        "UD_Italian-ParTUT/it_partut-ud-train.conllu",
        "UD_Italian-ParTUT/it_partut-ud-dev.conllu",
        False,
    ),
    "latin": ("UD_Latin-Perseus/la_perseus-ud-train.conllu", None, False),
    "wsj": ("wsj-dependency/train.tsv", None, True),
}


@dataclass(frozen=True)
class Sentence:
    """Hashed forms and numbered tags, with the root before and a boundary behind, and heads."""

    forms: NDArray[np.int64]
    tags: NDArray[np.int64]
    heads: NDArray[np.int32]

    @property
    def n(self) -> int:
        return len(self.heads)


@dataclass(frozen=True)
class Model:
    """Averaged weights of the arcs alone, and of all second-order parts with a window."""

    name: str
    projective: bool
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    held_out: list[Sentence]

    def problem(
        self,
        sentence: Sentence,
        *,
        grandparents: bool = True,
        siblings: bool = True,
        window: int = EVERYWHERE,
        k: int | None = None,
        first_order: bool = False,
    ) -> TreeProblem:
        """Score a held-out sentence; `k` keeps so many heads a word by the arcs alone."""
        weights = self.first if first_order else self.second
        return score(
            sentence,
            weights,
            self.projective,
            grandparents,
            siblings,
            window,
            self.allowed(sentence, k),
        )

    def allowed(self, sentence: Sentence, k: int | None) -> NDArray[np.bool_]:
        """The k heads of each word with the largest max-marginals of the first order."""
        everything = np.ones((sentence.n + 1, sentence.n + 1), dtype=bool)
        if k is None:
            return everything
        arcs = features.score_arcs(sentence.forms, sentence.tags, self.first)
        pruned = prune(TreeProblem(arcs, projective=self.projective), k)
        allowed: NDArray[np.bool_] = pruned.allowed
        return allowed


def score(
    sentence: Sentence,
    weights: NDArray[np.float64],
    projective: bool,
    grandparents: bool,
    siblings: bool,
    window: int,
    allowed: NDArray[np.bool_],
) -> TreeProblem:
    """Score all parts of a sentence."""
    given = (sentence.forms, sentence.tags, weights)
    return TreeProblem(
        features.score_arcs(*given),
        features.score_chains(*given, allowed) if grandparents else None,
        features.score_pairs(*given, allowed, window) if siblings else None,
        allowed=allowed,
        projective=projective,
    )


def read(path: Path, tags: dict[str, int]) -> list[Sentence]:
    """Read a gzipped treebank, CoNLL or form-tag-head columns; trees with one root only.

    `tags` numbers the tags and grows with the new ones.
    """
    if path.suffix == ".tsv":
        found = read_columns(f"{path}.gz", ("form", "pos", "head"))
    else:
        # of CoNLL-X too, the coarse parts of speech: they stand where the universal ones do
        found = read_conllu(f"{path}.gz", "conllu")
    sentences = []
    for sentence in found:
        heads = np.array(sentence.heads, dtype=np.int32)
        if (heads == 0).sum() != 1:
            continue
        forms = [zlib.crc32(form.lower().encode()) for form in sentence.words]
        numbers = [min(tags.setdefault(tag, len(tags)), 62) for tag in sentence.pos or ()]
        sentences.append(
            Sentence(
                np.array([1, *forms, 2], np.int64), np.array([0, *numbers, 1], np.int64), heads
            )
        )
    return sentences


def train(
    sentences: list[Sentence],
    projective: bool,
    *,
    siblings: bool,
    first_epochs: int,
    second_epochs: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Train both sets of weights; returns their averages over all updates."""
    arcs_only = Eisner() if projective else ChuLiuEdmonds()
    rng = np.random.default_rng(0)
    first = np.zeros(features.SIZE)
    totals = np.zeros(features.SIZE)
    time = 1
    for epoch in range(first_epochs):
        right = words = 0
        for i in rng.permutation(len(sentences)):
            s = sentences[i]
            arcs = features.score_arcs(s.forms, s.tags, first)
            arcs[s.heads, np.arange(1, s.n + 1)] -= 1.0  # a margin
            heads = arcs_only.decode(TreeProblem(arcs, projective=projective)).heads
            right += int((heads == s.heads).sum())
            words += s.n
            _update(s, heads, time, first, totals, 1)
            time += 1
        print(f"arcs, epoch {epoch + 1}: {right / words:.4f}", flush=True)
    first -= totals / time
    return first, _train_second(sentences, projective, siblings, first, second_epochs)


def _train_second(
    sentences: list[Sentence],
    projective: bool,
    siblings: bool,
    start: NDArray[np.float64],
    epochs: int,
) -> NDArray[np.float64]:
    """Go on from the arcs: among all heads, so that unlikely parts learn to be unlikely."""
    decoder = BranchAndBound(root_iterations=8)
    rng = np.random.default_rng(1)
    weights = start.copy()
    totals = np.zeros(features.SIZE)
    short = [s for s in sentences if s.n <= 35][:LARGEST]
    time = 1
    for epoch in range(epochs):
        right = words = 0
        for i in rng.permutation(len(short)):
            s = short[i]
            allowed = np.ones((s.n + 1, s.n + 1), dtype=bool)
            problem = score(s, weights, projective, True, siblings, EVERYWHERE, allowed)
            arcs = problem.arcs.copy()
            arcs[s.heads, np.arange(1, s.n + 1)] -= 1.0
            problem = replace(problem, arcs=arcs)
            heads = decoder.decode(problem, budget=Budget(iterations=8)).heads
            right += int((heads == s.heads).sum())
            words += s.n
            _update(s, heads, time, weights, totals, 7 if siblings else 3)
            time += 1
        print(f"second order, epoch {epoch + 1}: {right / words:.4f}", flush=True)
    return weights - totals / time


def _update(
    s: Sentence,
    heads: NDArray[np.int32],
    time: int,
    weights: NDArray[np.float64],
    totals: NDArray[np.float64],
    families: int,
) -> None:
    if (heads != s.heads).any():
        for tree, by in ((s.heads, 1.0), (heads, -1.0)):
            features.add_tree(
                s.forms, s.tags, tree, by, time, weights, totals, families, EVERYWHERE
            )


def third_order_parts(s: Sentence, allowed: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return great-grandparents, tri-siblings and combs of candidate arcs, a row for each."""
    heads = [np.flatnonzero(allowed[:, m]) for m in range(s.n + 1)]
    chains = [
        (f, g, h, m)
        for m in range(1, s.n + 1)
        for h in heads[m]
        if h
        for g in heads[h]
        if g and g != m
        for f in heads[g]
        if f not in (h, m)
    ]
    threes = [
        (h, *three)
        for h in range(1, s.n + 1)
        for three in combinations(np.flatnonzero(allowed[h]), 3)
    ]
    combs = [
        (h, *range(a, a + 4))
        for a in range(1, s.n - 2)
        for h in range(1, s.n + 1)
        if allowed[h, a : a + 4].all()
    ]
    return [
        np.array(rows, dtype=np.int64).reshape(-1, width)
        for rows, width in ((chains, 4), (threes, 4), (combs, 5))
    ]


def third_order_factors(
    s: Sentence, allowed: NDArray[np.bool_], weights: NDArray[np.float64]
) -> Factors:
    """Score the parts of third order among the candidate arcs."""
    parts = third_order_parts(s, allowed)
    values = [
        features.score_large(kind, s.forms, s.tags, weights, rows)
        for kind, rows in enumerate(parts, 2)
    ]
    factors = Factors.great_grandparents(parts[0], values[0])
    factors += Factors.tri_siblings(parts[1], values[1])
    return factors + Factors.of(
        ([(int(row[0]), int(m)) for m in row[1:]], float(value))
        for row, value in zip(parts[2], values[2], strict=True)
    )


def load_third(model: Model, data: Path = DATA) -> NDArray[np.float64]:
    """Return averaged weights of the third order, trained on top of a model of the second."""
    cached = CACHE / f"tree-{model.name}-third.npz"
    if not cached.exists():
        tags = {"<root>": 0, "<end>": 1, "PUNCT": 2, ",": 2}
        sentences = read(data / "parsing" / TREEBANKS[model.name][0], tags)
        begin = perf_counter()
        np.savez_compressed(cached, third=_train_third(model, sentences).astype("f4"))
        print(f"{model.name}: third order trained in {perf_counter() - begin:.0f} s")
    with np.load(cached) as weights:
        third: NDArray[np.float64] = weights["third"].astype("f8")
    return third


def _train_third(model: Model, sentences: list[Sentence]) -> NDArray[np.float64]:
    """One epoch over shorter sentences; the weights of the second order stay."""
    decoder = BranchAndBound(root_iterations=8)
    weights, totals = np.zeros(features.SIZE), np.zeros(features.SIZE)
    rng = np.random.default_rng(2)
    short = [s for s in sentences if s.n <= 25]
    right = words = 0
    for time, i in enumerate(rng.permutation(len(short))[:LARGEST_THIRD], 1):
        s = short[i]
        tokens = np.arange(1, s.n + 1)
        problem = model.problem(s)
        arcs = problem.arcs.copy()
        arcs[s.heads, tokens] -= 1.0
        factors = third_order_factors(s, model.allowed(s, 5), weights)
        problem = replace(problem, arcs=arcs, factors=factors)
        heads = decoder.decode(problem, budget=Budget(iterations=8)).heads
        right += int((heads == s.heads).sum())
        words += s.n
        if (heads != s.heads).any():
            for tree, by in ((s.heads, RATE_THIRD), (heads, -RATE_THIRD)):
                present = np.zeros((s.n + 1, s.n + 1), dtype=bool)
                present[tree, tokens] = True
                for kind, rows in enumerate(third_order_parts(s, present), 2):
                    features.add_large(kind, s.forms, s.tags, rows, by, time, weights, totals)
    print(f"third order: {right / words:.4f}", flush=True)
    return weights - totals / (time + 1)


def load(name: str, data: Path = DATA, *, siblings: bool = True, quick: bool = False) -> Model:
    """Return a trained model, from the cache where it is; `quick` trains on less.

    Without `siblings` the second order is that of grandparents alone.
    """
    train_file, dev_file, projective = TREEBANKS[name]
    folder = data / "parsing"
    tags = {"<root>": 0, "<end>": 1, "PUNCT": 2, ",": 2}
    sentences = read(folder / train_file, tags)
    if dev_file is None:
        cut = len(sentences) * 6 // 7
        sentences, held_out = sentences[:cut], sentences[cut:]
    else:
        held_out = read(folder / dev_file, tags)
    kind = "" if siblings else "-grandparents"
    cached = CACHE / f"tree-{name}{kind}{'-quick' if quick else ''}.npz"
    if not cached.exists():
        begin = perf_counter()
        if quick:
            sentences = sentences[:1500]
        first, second = train(
            sentences, projective, siblings=siblings, first_epochs=6, second_epochs=2
        )
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(cached, first=first.astype("f4"), second=second.astype("f4"))
        print(f"{name}: trained in {perf_counter() - begin:.0f} s")
    with np.load(cached) as weights:
        first, second = weights["first"].astype("f8"), weights["second"].astype("f8")
    return Model(name, projective, first, second, held_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", default=list(TREEBANKS))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        model = load(name, options.data, quick=options.quick)
        right = words = 0
        decoder = Eisner() if model.projective else ChuLiuEdmonds()
        for s in model.held_out:
            problem = model.problem(s, grandparents=False, siblings=False, first_order=True)
            right += int((decoder.decode(problem).heads == s.heads).sum())
            words += s.n
        print(f"{name}: first order UAS {right / words:.4f} on {len(model.held_out)} sentences")


if __name__ == "__main__":
    main()
