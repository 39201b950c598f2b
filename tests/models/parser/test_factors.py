"""Learnt factors: scores, gradients and learning."""

import numpy as np
import pytest

from spacy_decoders.decoders.tree import BranchAndBound, score_tree
from spacy_decoders.models.parser.decoding import TreeParser
from spacy_decoders.models.parser.factors import (
    FAMILIES,
    FactorTemplates,
    FactorWeights,
    add_families,
)
from spacy_decoders.models.parser.kernels.factors import GAIN
from spacy_decoders.models.parser.losses import GoldTrees, train_factors
from spacy_decoders.models.parser.tree_scores import SentenceScores
from tests.oracles import all_trees

TAGS, LABELS = 5, 4


def make_sentence(rng, n, labels=LABELS, tags=TAGS, arc_labels=None):
    """A sentence with random scores, labels, tags and words."""
    arcs = rng.normal(size=(n + 1, n + 1)).astype("f")
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    best = rng.integers(labels, size=(n + 1, n + 1)).astype(np.int32)
    best[0] = labels
    of_tokens = np.append(0, rng.integers(1, tags + 1, size=n)).astype(np.int32)
    words = np.append(0, rng.integers(1, 2**63, size=n)).astype(np.uint64)
    return SentenceScores(np.arange(n), arcs, best, 0 * best, of_tokens, words, arc_labels)


def make_templates(rng, families=FAMILIES, scale=0.05, **options):
    model = FactorWeights(2**12)
    add_families(model, families)
    for family in families:
        model.set_param(family, (scale * rng.normal(size=2**12)).astype("f"))
    return FactorTemplates(model, tuple(families), **options)


def problem_of(templates, sentence, **options):
    return TreeParser(BranchAndBound(), templates, **options).problem(sentence)


@pytest.mark.parametrize("families", [[family] for family in FAMILIES] + [list(FAMILIES)])
def test_the_gradient_is_that_of_a_trees_score(rng, families):
    templates = make_templates(rng, families, window=3)
    for n in (1, 2, 4, 5):
        sentence = make_sentence(rng, n)
        problem = problem_of(templates, sentence, projective=False)
        for heads in list(all_trees(n, projective=False, single_root=True))[::7]:
            heads = np.array(heads, dtype=np.int32)
            counts = {family: np.zeros(2**12, "f") for family in families}
            templates.add(counts, sentence, heads, 1.0)
            worth = GAIN * sum(templates.model.get_param(of) @ counts[of] for of in families)
            by_arcs = sum(sentence.arcs[h, m] for m, h in enumerate(heads, start=1))
            assert score_tree(problem, heads) == pytest.approx(by_arcs + worth, abs=1e-5)


@pytest.mark.parametrize("pruned", [{"k": 2}, {"beam": 0.5}])
def test_factors_are_pruned_with_their_arcs(rng, pruned):
    templates = make_templates(rng, ["grandparents", "siblings"], window=3)
    sentence = make_sentence(rng, 9)
    full, fewer = problem_of(templates, sentence), problem_of(templates, sentence, **pruned)
    assert (full.scope, fewer.scope) == ("full", "pruned")
    g, h, m = np.nonzero(fewer.grandparents)
    assert 0 < len(g) < np.count_nonzero(full.grandparents)
    assert fewer.allowed[g, h].all() and fewer.allowed[h, m].all()
    np.testing.assert_array_equal(fewer.grandparents[g, h, m], full.grandparents[g, h, m])
    h, a, b = np.nonzero(fewer.siblings)
    assert fewer.allowed[h, a].all() and fewer.allowed[h, b].all()
    assert (a < b).all() and (b - a <= 3).all()


def test_margin_training_learns_what_arcs_can_not(rng):
    """Arcs prefer a wrong chain in every sentence; factors over tags can tell."""
    templates = make_templates(rng, ["grandparents", "siblings"], scale=0.0)
    right = np.array([2, 0, 2, 3], dtype=np.int32)
    arcs = np.full((5, 5), -4.0, dtype="f")
    arcs[[2, 0, 2, 2], [1, 2, 3, 4]] = 2.0
    arcs[3, 4] = 1.5
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    labels = np.zeros((5, 5), dtype=np.int32)
    labels[0] = LABELS
    tags = np.array([0, 1, 2, 3, 4], dtype=np.int32)
    sentence = SentenceScores(np.arange(4), arcs, labels, labels, tags, tags.astype("u8"), None)
    parser = TreeParser(BranchAndBound(), templates)
    # the second sentence lacks a head, and is left out
    heads = np.array([1, -1, 1, 2, 5, -1, -2, 5])
    gold = GoldTrees(np.array([0, 4, 8]), heads, heads, heads, heads, np.array([0, 8]))
    assert (parser.decode(sentence).solution.heads != right).any()
    model = templates.model
    for _ in range(30):
        wrong = train_factors(templates, BranchAndBound(), True, [sentence, sentence], gold)
        for family in templates.families:
            model.set_param(family, model.get_param(family) - 0.1 * model.get_grad(family))
            model.set_grad(family, np.zeros_like(model.get_param(family)))
    assert (parser.decode(sentence).solution.heads == right).all()
    assert wrong == 0 and templates.is_trained
