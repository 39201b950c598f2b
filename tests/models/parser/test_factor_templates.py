"""Templates of non-local factors: scores, gradients and learning."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_decoders.decoders.tree import BranchAndBound, score_tree
from spacy_decoders.errors import ProblemError
from spacy_decoders.models.parser.decoding import TreeParser
from spacy_decoders.models.parser.factor_templates import FactorTemplates
from spacy_decoders.models.parser.factor_training import train_factors
from spacy_decoders.models.parser.factor_weights import FAMILIES, FactorWeights, add_families
from spacy_decoders.models.parser.tree_scores import SentenceScores
from tests.oracles import all_trees

TAGS, LABELS = 5, 4


def make_sentence(rng, n):
    arcs = rng.normal(size=(n + 1, n + 1)).astype("f")
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    labels = rng.integers(LABELS, size=(n + 1, n + 1)).astype(np.int32)
    labels[0] = LABELS
    tags = np.append(0, rng.integers(1, TAGS + 1, size=n)).astype(np.int32)
    words = np.append(0, rng.integers(1, 2**63, size=n)).astype(np.uint64)
    return SentenceScores(np.arange(n), arcs, labels, tags, words)


def make_templates(rng, families=FAMILIES, scale=0.05, **options):
    model = FactorWeights(2**12)
    add_families(model, families)
    for family in families:
        model.set_param(family, (scale * rng.normal(size=2**12)).astype("f"))
    return FactorTemplates(model, tuple(families), **options)


def problem_of(templates, sentence, **options):
    return TreeParser(BranchAndBound(), templates, **options).problem(sentence)


@pytest.mark.parametrize("families", [[family] for family in FAMILIES] + [list(FAMILIES)])
def test_a_tree_is_worth_its_factors(rng, families):
    """The dense problem, the sparse one and the gradient speak of the same score."""
    templates = make_templates(rng, families, window=3)
    for n in (1, 2, 4, 5):
        sentence = make_sentence(rng, n)
        problem = problem_of(templates, sentence, projective=False)
        for heads in list(all_trees(n, projective=False, single_root=True))[::7]:
            heads = np.array(heads, dtype=np.int32)
            by_arcs = sum(sentence.arcs[h, m] for m, h in enumerate(heads, start=1))
            worth = templates.tree_score(sentence, heads)
            assert score_tree(problem, heads) == pytest.approx(by_arcs + worth, abs=1e-5)
            assert worth <= templates.most(n)


def test_factors_are_pruned_with_their_arcs(rng):
    templates = make_templates(rng, ["grandparents", "siblings"])
    sentence = make_sentence(rng, 9)
    pruned = problem_of(templates, sentence, projective=True, k=2)
    assert pruned.scope == "pruned"
    assert pruned.allowed.sum(axis=0).max() <= 3
    full = problem_of(templates, sentence, projective=True)
    assert full.scope == "full"
    g, h, m = np.nonzero(pruned.grandparents)
    assert pruned.allowed[g, h].all()
    assert pruned.allowed[h, m].all()
    np.testing.assert_array_equal(pruned.grandparents[g, h, m], full.grandparents[g, h, m])


def test_a_beam_thins_out_what_is_scored(rng):
    templates = make_templates(rng, ["grandparents", "siblings"])
    sentence = make_sentence(rng, 9)
    narrow = problem_of(templates, sentence, projective=True, beam=0.5)
    wide = problem_of(templates, sentence, projective=True, beam=3.0)
    assert narrow.scope == "pruned"
    assert (narrow.allowed <= wide.allowed).all() and narrow.allowed.sum() < wide.allowed.sum()
    assert np.count_nonzero(narrow.siblings) < np.count_nonzero(wide.siblings)


@pytest.mark.parametrize("family", FAMILIES[1:])
def test_weights_that_are_no_numbers_are_refused(rng, family):
    templates = make_templates(rng, [family])
    templates.model.set_param(family, np.full(2**12, np.nan, dtype="f"))
    with pytest.raises(ProblemError, match=family):
        problem_of(templates, make_sentence(rng, 5), projective=True)


def test_siblings_stay_within_the_window(rng):
    templates = make_templates(rng, ["siblings"], window=2)
    h, a, b = np.nonzero(problem_of(templates, make_sentence(rng, 8), projective=True).siblings)
    assert len(h)
    assert ((b - a) <= 2).all()
    assert (a < b).all()


def test_margin_training_learns_what_arcs_can_not(rng):
    """Arcs prefer a wrong chain in every sentence; factors over tags can tell."""
    templates = make_templates(rng, ["grandparents", "siblings"], scale=0.0)
    gold = np.array([2, 0, 2, 3], dtype=np.int32)
    arcs = np.full((5, 5), -4.0, dtype="f")
    arcs[[2, 0, 2, 2], [1, 2, 3, 4]] = 2.0
    arcs[3, 4] = 1.5
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    labels = np.zeros((5, 5), dtype=np.int32)
    labels[0] = LABELS
    tags = np.array([0, 1, 2, 3, 4], dtype=np.int32)
    sentence = SentenceScores(np.arange(4), arcs, labels, tags, tags.astype(np.uint64))
    parser = TreeParser(BranchAndBound(), templates)

    def heads():
        return parser.decode(sentence).solution.heads

    assert (heads() != gold).any()
    model = templates.model
    wrong = [1]
    for _ in range(30):
        given = [sentence, sentence], [gold, None]
        wrong.append(train_factors(templates, BranchAndBound(), True, *given))
        for family in templates.families:
            model.set_param(family, model.get_param(family) - 0.1 * model.get_grad(family))
            model.set_grad(family, np.zeros_like(model.get_param(family)))
    assert (heads() == gold).all()
    assert wrong[-1] == 0
    assert templates.is_trained


def test_long_sentences_fall_back_to_arcs_with_an_honest_bound(rng):
    templates = make_templates(rng, scale=0.01)
    sentence = make_sentence(rng, 30)
    exact = TreeParser(BranchAndBound(), make_templates(rng, ["grandparents"]))
    short = TreeParser(BranchAndBound(), templates, longest=10)
    problem = short.problem(sentence)
    assert problem.is_first_order
    certificate = short.decode(sentence).solution.certificate
    assert certificate.status == "bounded"
    assert certificate.bound > certificate.score
    best = exact.decode(sentence).solution.certificate
    assert best.status == "optimal"


def test_a_thousand_tokens_need_little_memory(rng):
    sentence = make_sentence(rng, 1000)
    parser = TreeParser(BranchAndBound(), make_templates(rng, ["grandparents", "siblings"]))
    solution = parser.decode(sentence).solution
    assert len(solution.heads) == 1000
    assert solution.certificate.status == "bounded"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"families": ("cousins",)}, "factors"),
        ({"window": 0}, "window"),
    ],
)
def test_refuses_senseless_options(options, match):
    with pytest.raises(ProblemError, match=match):
        FactorTemplates(FactorWeights(4), **options)


def test_the_table_has_a_power_of_two_rows():
    with pytest.raises(ProblemError, match="power of two"):
        FactorWeights(1000)
