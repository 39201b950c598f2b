"""What factors changed in a tree, against decoding twice."""

from __future__ import annotations

import json

import numpy as np
import pytest
from spacy.tokens import Doc

from spacy_decoders.decoders.tree import score_tree
from tests.components.parser.parsing import NAME, make_nlp

FAMILIES = ["arcs", "grandparents", "siblings", "combs"]
FIRST = ["the", "dog", "she", "eats", "red", "fish", "he", "sees"]
WORDS = [*FIRST, "a", "cat", ".", "he", "sleeps", "the", "red", "dog", "."]


@pytest.fixture(scope="module")
def nlp():
    """A parser of strong factors."""
    nlp = make_nlp(steps=15, factors_start=10**6, factors=FAMILIES)
    weights = nlp.get_pipe(NAME).model.get_ref("factors")
    rng = np.random.default_rng(5)
    for family in FAMILIES:
        table = weights.get_param(family)
        weights.set_param(family, rng.normal(0, 0.7, table.shape).astype("f"))
    return nlp


@pytest.fixture
def pipe(nlp):
    pipe = nlp.get_pipe(NAME)
    before = {
        name: getattr(pipe, name) for name in ("factors", "k", "rules", "certain", "projective")
    }
    pipe.configure(head_margins=True)
    yield pipe
    pipe.configure(**before, head_margins=False, k_best=1)


def text(nlp, seed):
    rng = np.random.default_rng(seed)
    return Doc(nlp.vocab, words=rng.permutation(WORDS)[:9].tolist())


def both(pipe, doc):
    """The document by all factors and by arcs alone, and the scores of the trees."""
    scores = pipe.predict([doc])[0]
    parsed = pipe.decode(doc, scores)
    pipe.annotate(doc, parsed)
    factors = pipe.factors
    pipe.configure(factors=[])
    alone = pipe.decode(doc, scores)
    pipe.configure(factors=factors)
    return scores, parsed, alone


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"factors": ["grandparents"]},
        {"factors": ["siblings"], "projective": False},
        {"k": 2},
        {"certain": 100.0},
        {"rules": ["universal-dependencies"]},
        {"rules": [{"labels": ["det", "obj"], "at_most": 1}], "k": 3},
    ],
    ids=str,
)
def test_the_gains_are_the_difference_of_two_scores(nlp, pipe, options, seed):
    pipe.configure(**options)
    doc = text(nlp, seed)
    scores, parsed, alone = both(pipe, doc)
    changed = {t for t in range(len(doc)) if parsed.heads[t] != alone.heads[t]}
    changed |= {t for t in range(len(doc)) if parsed.labels[t] != alone.labels[t]}
    found = doc._.factor_changes
    assert {arc["token"] for change in found for arc in change["changed"]} == changed
    for change in found:
        for arc in change["changed"]:
            assert doc[arc["token"]].head.i == arc["head"]
            assert doc[arc["token"]].dep_ == arc["dep"]
            assert alone.heads[arc["token"]] == arc["arcs_head"]
    if "certain" in options:
        assert scores.blocks[0].boundaries is not None
    # the score of the tree by arcs alone, with its own labels, and what factors add to it
    pipe.configure(k=None)
    problems = [pipe.parser.problem(block) for block in scores.blocks]
    pipe.configure(factors=[])
    firsts = [pipe.parser.problem(block) for block in scores.blocks]
    worth = certified(parsed) - certified(alone)
    for block, problem, first in zip(scores.blocks, problems, firsts, strict=True):
        place = {token: i + 1 for i, token in enumerate(block.tokens.tolist())}
        heads = [0 if alone.heads[t] == t else place[alone.heads[t]] for t in place]
        worth -= score_tree(problem, heads) - score_tree(first, heads)
    total = sum(sum(change["gains"].values()) for change in found)
    assert total == pytest.approx(worth, abs=1e-4)


def certified(parsed):
    """The score of all trees; sentences that were decided together share a certificate."""
    return sum({id(c): c.score for c in parsed.certificates}.values())


def test_strong_factors_change_trees_and_arcs_speak_against(nlp, pipe):
    docs = [text(nlp, seed) for seed in range(6)]
    for doc in docs:
        both(pipe, doc)
    changes = [change for doc in docs for change in doc._.factor_changes]
    assert changes, "the test is void if nothing changes"
    for change in changes:
        gains = change["gains"]
        assert set(gains) >= {"network", *FAMILIES}
        assert gains["network"] + gains.get("boundaries", 0.0) <= 1e-5
        assert sum(gains.values()) >= -1e-5
        sizes = [abs(factor["gain"]) for factor in change["factors"]]
        assert sizes == sorted(sizes, reverse=True) and 0 < len(sizes) <= 8
        assert change["component"] == NAME
    assert json.loads(json.dumps(changes)) == changes


def test_a_single_factor_is_named_with_what_it_adds(nlp, pipe):
    """The chain that is in this tree only has its own score, read from the problem."""
    doc = text(nlp, 1)
    scores, _, _ = both(pipe, doc)
    (block,) = scores.blocks
    problem = pipe.parser.problem(block)
    place = {-1: 0, **{token: i + 1 for i, token in enumerate(block.tokens.tolist())}}
    seen = set()
    for change in doc._.factor_changes:
        for factor in change["factors"]:
            where = tuple(place[token] for token in factor["tokens"])
            sign = 1 if factor["in_tree"] else -1
            seen.add(factor["family"])
            if factor["family"] == "arcs":
                worth = problem.arcs[where] - block.arcs[where]
            else:
                worth = getattr(problem, factor["family"])[where]
            assert factor["gain"] == pytest.approx(sign * worth, abs=1e-5)
    assert seen


def test_nothing_is_recorded_without_factors_or_unasked(nlp, pipe):
    doc = text(nlp, 1)
    pipe.configure(factors=[])
    assert nlp(doc.copy())._.factor_changes == []
    pipe.configure(factors=FAMILIES, head_margins=False)
    assert nlp(doc.copy())._.factor_changes == []
    pipe.configure(k_best=2)
    assert nlp(doc.copy())._.factor_changes
