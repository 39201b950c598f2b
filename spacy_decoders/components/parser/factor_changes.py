"""What factors changed: the best tree beside the one that arcs alone give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...models.parser.pattern_matches import TooManyPlaces

if TYPE_CHECKING:
    from ...decoders.tree import Rule, TreeProblem
    from ...models.parser.decoding import DecodedTree, TreeParser
    from ...models.parser.tree_scores import SentenceScores

__all__ = ["MOST_FACTORS", "factor_changes"]

#: How many single factors are named for each sentence that changed.
MOST_FACTORS = 8

#: A factor of a tree: its family, and its tokens by number, the root being 0.
Factor = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class _ComparedTree:
    """A tree by token number: heads (-1 for the root) and labels, whose first entry is unused."""

    heads: NDArray[np.int64]
    labels: NDArray[np.int64]
    label_scores: NDArray[np.float64]

    @classmethod
    def of(cls, sentence: SentenceScores, found: DecodedTree) -> _ComparedTree:
        heads = np.concatenate([[-1], found.solution.heads])
        tokens = np.arange(1, len(heads))
        labels = np.zeros(len(heads), dtype=np.int64)
        over_best = np.zeros(len(heads))  # an arc's score has the best label's already
        chosen = found.solution.labels
        labels[1:] = sentence.labels[heads[1:], tokens] if chosen is None else chosen
        of_labels = found.problem.labels
        if chosen is not None and of_labels is not None:
            over_best[1:] = of_labels[heads[1:], tokens, labels[1:]]
            if sentence.label_scores is not None:
                over_best[1:] -= sentence.label_scores[heads[1:], tokens]
        return cls(heads, labels, over_best)


def factor_changes(
    parser: TreeParser,
    sentence: SentenceScores,
    best: DecodedTree,
    rules: Sequence[Rule],
    names: Sequence[str],
) -> list[dict[str, Any]]:
    """Compare the best tree with the best one by arcs alone, which obeys the same rules.

    Parameters
    ----------
    parser
        What found the best tree.
    sentence
        The scores of one sentence, or of several that were decided together.
    best
        The best tree.
    rules
        What it had to satisfy.
    names
        Of the labels, the root's last.

    Returns
    -------
    list
        A dict for each stretch of tokens between boundaries that both trees have, where the trees
        differ, of plain types:

        ``tokens``
            Their indices in the document.
        ``changed``
            For each token whose head or label differs: ``token``, ``head``, ``dep``, and, in the
            tree by arcs alone, ``arcs_head`` and ``arcs_dep``; a root is its own head.
        ``arcs_starts``
            Where sentences begin in the tree by arcs alone.
        ``gains``
            By how much the best tree scores higher, by what is scored: ``network`` (single arcs
            and labels), the families of factors, ``pattern NAME`` of each hand-made pattern, and
            ``boundaries`` where these are decided too.
        ``factors``
            Those single factors that only one of the trees has and that weigh most: ``family``,
            ``tokens`` (-1 for the root), whether the best tree has it (``in_tree``), and the
            ``gain`` of the best tree from that.

        Empty without trained factors, and for sentences that are parsed by their arcs alone.
    """
    patterns, arcs_alone = sentence.patterns, replace(sentence, patterns=None)
    if (not parser.templates and not patterns) or len(sentence.tokens) > parser.longest:
        return []
    first = replace(parser, templates=None).decode(arcs_alone, rules, every_label=True)
    trees = _ComparedTree.of(sentence, best), _ComparedTree.of(sentence, first)
    differ = (trees[0].heads != trees[1].heads) | (trees[0].labels != trees[1].labels)
    if not differ.any():
        return []
    problem = best.problem
    if patterns or parser.k is not None or parser.beam is not None:
        # of arcs that are pruned no factors were scored, and patterns are counted in the trees
        problem = replace(parser, k=None, beam=None).problem(arcs_alone)
    families = parser.templates.families if parser.templates else ()
    starts = _starts(best, len(differ)), _starts(first, len(differ))
    both = [*np.flatnonzero(starts[0] & starts[1]).tolist(), len(differ)]
    try:
        return [
            _change(sentence, problem, families, trees, starts, (begin, end), names)
            for begin, end in pairwise(both)
            if differ[begin:end].any()
        ]
    except TooManyPlaces:
        return []  # what the patterns gain can't be told


def _starts(found: DecodedTree, size: int) -> NDArray[np.bool_]:
    """Where sentences begin, by token number."""
    starts = np.zeros(size, dtype=bool)
    starts[1] = True
    if found.solution.starts is not None:
        starts[1:] |= found.solution.starts
    return starts


def _change(
    sentence: SentenceScores,
    problem: TreeProblem,
    families: Sequence[str],
    trees: tuple[_ComparedTree, _ComparedTree],
    starts: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    stretch: tuple[int, int],
    names: Sequence[str],
) -> dict[str, Any]:
    tokens = np.arange(*stretch)
    best, other = (_parts(sentence, problem, families, tree, tokens) for tree in trees)
    gains = {family: sum(best[family].values()) - sum(other[family].values()) for family in best}
    if problem.boundaries is not None:
        paid = [float(problem.gaps[tokens[begins[tokens]]].sum()) for begins in starts]
        gains["boundaries"] = paid[0] - paid[1]
    places = np.concatenate([[-1], sentence.tokens])
    heads = [np.where(tree.heads == 0, places, places[tree.heads]).tolist() for tree in trees]
    deps = [[names[label] for label in tree.labels] for tree in trees]
    return {
        "tokens": places[tokens].tolist(),
        "changed": [
            {
                "token": int(places[m]),
                "head": heads[0][m],
                "dep": deps[0][m],
                "arcs_head": heads[1][m],
                "arcs_dep": deps[1][m],
            }
            for m in tokens.tolist()
            if (heads[0][m], deps[0][m]) != (heads[1][m], deps[1][m])
        ],
        "arcs_starts": places[tokens[starts[1][tokens]]].tolist(),
        "gains": gains,
        "factors": _largest(best, other, places),
    }


def _parts(
    sentence: SentenceScores,
    problem: TreeProblem,
    families: Sequence[str],
    tree: _ComparedTree,
    tokens: NDArray[np.int64],
) -> dict[str, dict[tuple[int, ...], float]]:
    """Return the score of each part of a tree with its tokens, by what it is a part of."""
    h, m = tree.heads[tokens], tokens
    network = sentence.arcs[h, m].astype("d") + tree.label_scores[m]
    parts = {"network": _by_tokens((h, m), network)}
    if "arcs" in families:
        # they see the best label of an arc, whichever it gets
        templates = problem.arcs[h, m] - sentence.arcs[h, m]
        if problem.labels is not None and sentence.label_scores is not None:
            templates += sentence.label_scores[h, m]
        parts["arcs"] = _by_tokens((h, m), templates)
    if problem.grandparents is not None:
        inner = h > 0
        g = tree.heads[h[inner]]
        chain = g, h[inner], m[inner]
        parts["grandparents"] = _by_tokens(chain, problem.grandparents[chain])
    if problem.siblings is not None:
        one, two = np.nonzero(np.triu(h[:, None] == h[None, :], 1))
        pair = h[one], m[one], m[two]
        parts["siblings"] = _by_tokens(pair, problem.siblings[pair])
    if sentence.patterns is not None:
        within = sentence.patterns.within(tree.heads[1:])
        for pattern, weight, places in zip(
            sentence.patterns.patterns, sentence.patterns.weights, within, strict=True
        ):
            here = places[np.isin(places[:, pattern.arcs[0][1]], m)]
            worth = np.full(len(here), weight)
            parts[f"pattern {pattern.name}"] = _by_tokens(tuple(here.T), worth)
    if problem.factors is not None:  # combs
        rows = problem.factors.arcs.reshape(-1, 3, 2)
        among = np.isin(rows[:, 0, 1], m) & problem.factors.paid(tree.heads[1:])
        comb = (rows[among, 0, 0], *rows[among, :, 1].T)
        parts["combs"] = _by_tokens(comb, problem.factors.scores[among])
    return parts


def _by_tokens(
    tokens: tuple[NDArray[np.int64], ...], scores: NDArray[np.float64]
) -> dict[tuple[int, ...], float]:
    places = zip(*(of.tolist() for of in tokens), strict=True)
    return dict(zip(places, scores.tolist(), strict=True))


def _largest(
    best: dict[str, dict[tuple[int, ...], float]],
    other: dict[str, dict[tuple[int, ...], float]],
    places: NDArray[np.int64],
) -> list[dict[str, Any]]:
    """Return the factors that only one of the trees has, by how much they gain or lose."""
    gains: dict[Factor, float] = {}
    for sign, mine, others in ((1, best, other), (-1, other, best)):
        for family in mine.keys() - {"network"}:
            for part in mine[family].keys() - others[family].keys():
                gains[family, part] = sign * mine[family][part]
    ranked = sorted(gains.items(), key=lambda item: (-abs(item[1]), item[0]))
    return [
        {
            "family": family,
            "tokens": [int(places[token]) for token in part],
            "in_tree": part in best[family],
            "gain": gain,
        }
        for (family, part), gain in ranked[:MOST_FACTORS]
        if gain
    ]
