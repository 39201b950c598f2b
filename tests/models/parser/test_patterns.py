"""Hand-made patterns, against all trees and spaCy's DependencyMatcher."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.matcher import DependencyMatcher
from spacy.tokens import Doc

from spacy_decoders.decoders.tree import BranchAndBound
from spacy_decoders.errors import ProblemError
from spacy_decoders.models.parser.decoding import TreeParser
from spacy_decoders.models.parser.pattern_matches import PatternMatcher
from spacy_decoders.models.parser.patterns import OPERATORS, arc_patterns, stated_patterns
from spacy_decoders.models.parser.tree_scores import SentenceScores
from spacy_decoders.verify import verify
from tests import oracles

LABELS = ("a", "b", "ROOT")
TAGS = ("X", "Y")
WORDS = ["u", "v", "w", "u", "v"]


def first(**attributes):
    return {"RIGHT_ID": "0", "RIGHT_ATTRS": attributes}


def then(name, left, operator, **attributes):
    return {"LEFT_ID": left, "REL_OP": operator, "RIGHT_ID": name, "RIGHT_ATTRS": attributes}


SHAPES = {
    "chain": [first(LOWER="u"), then("1", "0", ">"), then("2", "1", ">", DEP="a")],
    "siblings": [first(), then("1", "0", ">", TAG="X"), then("2", "0", ">", TAG={"IN": ["X"]})],
    "comb": [first(), then("1", "0", ">"), then("2", "1", "$+"), then("3", "2", "$+")],
    "upwards": [
        first(TAG="Y"),
        then("1", "0", "<--"),
        then("2", "1", "<", LOWER={"REGEX": "u|v"}),
    ],
    "sides": [first(), then("1", "0", ">--", DEP={"NOT_IN": ["a"]}), then("2", "1", "$++")],
    "root": [first(DEP="ROOT", LOWER="v"), then("1", "0", ">-"), then("2", "0", ">++")],
    "one arc": [first(TAG="X"), then("1", "0", "<++", LOWER="w")],
}
PATTERNS = [
    {"name": name, "weight": weight, "pattern": pattern}
    for weight, (name, pattern) in zip((4, -3, 5, 2.5, -2, 3, 1), SHAPES.items(), strict=True)
]


def scores_of(seed: int, n: int = 5) -> SentenceScores:
    rng = np.random.default_rng(seed)
    arcs = rng.normal(size=(n + 1, n + 1)).astype("f")
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    labels = rng.integers(0, 2, size=arcs.shape).astype(np.int32)
    labels[0] = len(LABELS) - 1
    tags = np.array([0, *rng.integers(1, 3, size=n)], np.int32)
    return SentenceScores(np.arange(n), arcs, labels, tags, np.zeros(n + 1, np.uint64))


def with_patterns(vocab, sentence, given):
    matcher = PatternMatcher(stated_patterns(given), LABELS, TAGS)
    doc = Doc(vocab, words=WORDS[: len(sentence.tokens)])
    own = sentence.tokens, sentence.tags, sentence.labels
    return replace(sentence, patterns=matcher.in_sentences(doc, [own])[0])


def counted(vocab, sentence, heads, pattern) -> int:
    """How often a tree has a pattern, by spaCy's own matcher."""
    tokens = range(1, len(heads) + 1)
    doc = Doc(
        vocab,
        words=WORDS[: len(heads)],
        heads=[m - 1 if heads[m - 1] == 0 else heads[m - 1] - 1 for m in tokens],
        deps=[LABELS[sentence.labels[heads[m - 1], m]] for m in tokens],
        tags=[TAGS[sentence.tags[m] - 1] for m in tokens],
    )
    matcher = DependencyMatcher(vocab)
    matcher.add("pattern", [pattern])
    # siblings may change roles
    found = {frozenset(match) for _, match in matcher(doc)}
    return len({match for match in found if len(match) == len(pattern)})


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("name", [*SHAPES, "all"])
def test_the_best_tree_is_the_best_of_all_trees(name, projective):
    vocab = spacy.blank("en").vocab
    given = [of for of in PATTERNS if name in (of["name"], "all")]
    differ = 0
    for seed in range(4):
        sentence = scores_of(seed)
        best = max(
            oracles.tree_score(heads, sentence.arcs.astype("d"))
            + sum(of["weight"] * counted(vocab, sentence, heads, of["pattern"]) for of in given)
            for heads in oracles.all_trees(5, projective=projective, single_root=True)
        )
        parser = TreeParser(BranchAndBound(), projective=projective)
        found = parser.decode(with_patterns(vocab, sentence, given))
        assert found.solution.certificate.is_optimal
        assert found.solution.certificate.score == pytest.approx(best, abs=1e-5)
        verify(found.problem, found.solution)
        alone = parser.decode(sentence)
        differ += not np.array_equal(alone.solution.heads, found.solution.heads)
    assert differ or name != "all", "the test is void if patterns change no tree"


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_means_what_it_means_to_spacy(operator):
    vocab = spacy.blank("en").vocab
    start = [first()] if operator[0] != "$" else [first(), then("s", "0", ">")]
    left = start[-1]["RIGHT_ID"]
    pattern = [*start, then("t", left, operator)]
    sentence = scores_of(3)
    patterns = with_patterns(
        vocab, sentence, [{"name": "p", "weight": 1, "pattern": pattern}]
    ).patterns
    for heads in oracles.all_trees(5, projective=False, single_root=True):
        in_tree, _ = patterns.bounds(np.array(heads))
        assert in_tree == counted(vocab, sentence, heads, pattern)


def test_a_pattern_over_likely_arcs_is_certified_among_these():
    vocab = spacy.blank("en").vocab
    parser = TreeParser(BranchAndBound(), beam=0.5)
    found = parser.decode(with_patterns(vocab, scores_of(0), PATTERNS))
    assert found.problem.allowed.sum() <= 2 * 5
    assert found.solution.certificate.scope == "pruned"


def test_long_sentences_are_bounded_with_their_patterns():
    vocab = spacy.blank("en").vocab
    sentence = with_patterns(vocab, scores_of(1), PATTERNS)
    found = TreeParser(BranchAndBound(), longest=4).decode(sentence).solution
    exact = TreeParser(BranchAndBound()).decode(sentence).solution.certificate
    of_patterns = sum(
        of["weight"] * counted(vocab, sentence, found.heads.tolist(), of["pattern"])
        for of in PATTERNS
    )
    arcs = oracles.tree_score(found.heads.tolist(), sentence.arcs.astype("d"))
    assert found.certificate.score == pytest.approx(arcs + of_patterns, abs=1e-5)
    assert found.certificate.score <= exact.score + 1e-6 <= found.certificate.bound + 2e-6


def test_a_part_of_a_block_keeps_its_patterns():
    vocab = spacy.blank("en").vocab
    starts, heads = np.array([True, False, True, False, False]), np.array([2, 0, 4, 0, 4])
    worth = []
    for seed in range(8):
        block = replace(scores_of(seed), boundaries=np.zeros(5, "f"))
        block = with_patterns(vocab, block, PATTERNS)
        trees = zip((block, *block.cut(starts)), (heads, [2, 0], [2, 0, 2]), strict=True)
        worth.append([scores.patterns.bounds(np.array(tree))[0] for scores, tree in trees])
    worth = np.array(worth)
    assert worth.any()
    assert (worth[:, 0] == worth[:, 1] + worth[:, 2]).all()


@pytest.mark.parametrize("most", [10, 0])
@pytest.mark.parametrize("weight", [5.0, -5.0])
def test_a_sentence_with_too_many_places_is_bounded(monkeypatch, most, weight):
    from spacy_decoders.models.parser import pattern_matches

    vocab = spacy.blank("en").vocab
    comb = {**PATTERNS[2], "weight": weight}
    for seed in range(4):
        sentence = with_patterns(vocab, scores_of(seed), [comb])
        exact = TreeParser(BranchAndBound()).decode(sentence).solution.certificate
        with monkeypatch.context() as patch:
            patch.setattr(pattern_matches, "MOST_PLACES", most)
            found = TreeParser(BranchAndBound()).decode(sentence).solution
            assert TreeParser(BranchAndBound()).problem(sentence).factors is None
        heads = found.heads.tolist()
        score = oracles.tree_score(heads, sentence.arcs.astype("d"))
        score += weight * counted(vocab, sentence, heads, comb["pattern"])
        # a tree without what counts against it may be proven the best all the same
        assert found.certificate.status == "bounded" or weight < 0
        assert not found.certificate.is_optimal or score == pytest.approx(exact.score, abs=1e-5)
        # a lower bound where the places in the tree are too many to count, too
        assert found.certificate.score <= score + 1e-5
        assert score <= exact.score + 1e-5 <= found.certificate.bound + 2e-5
        assert most == 0 or found.certificate.score == pytest.approx(score, abs=1e-5)


ONE = [first(), then("1", "0", ">")]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (ONE[:1], "it has no arc; expected 1 to 3"),
        ([*ONE, *(then(c, "0", ">") for c in "abc")], "it has 4 arcs; expected 1 to 3"),
        ([first(), then("1", "0", ">>")], "REL_OP: .*expected one of > .*; got '>>'"),
        ([first(), then("1", "2", ">")], "LEFT_ID should already"),
        ([first(), then("1", "0", "$+")], "the head of '0' is no token of the pattern"),
        ([first(DEP="nsubj"), then("1", "0", ">")], "DEP at '0': it has no head"),
        ([first(), then("1", "0", ">", LOVER="x")], "LOVER"),
        ([first(), then("1", "0", ">", LOWER="x", OP="*")], "OP"),
        ([first(), then("1", "0", ">", DEP="ROOT")], "the root has no head, and it has '0'"),
        ([first(DEP="ROOT"), then("1", "0", "<")], "the root has no head, and it has '1'"),
        ([first(SENT_START=True), ONE[1]], "where sentences begin"),
        ([first(LOWER={"REGEX": "("}), ONE[1]], r"missing \)"),
        ([first(), then("1", "0", ">", DEP={"REGEX": "("})], r"missing \)"),
    ],
)
def test_errors_name_the_pattern(pattern, message):
    with pytest.raises(ProblemError, match=rf"patterns\[0\].*{message}"):
        arc_patterns("patterns", [{"name": "p", "weight": 1, "pattern": pattern}])


@pytest.mark.parametrize("given", ["chain", ["chain"], [{"name": "p", "weight": 1}]])
def test_patterns_are_a_list_of_dicts(given):
    with pytest.raises(ProblemError, match="patterns"):
        arc_patterns("patterns", given)


@pytest.mark.parametrize("weight", [0, float("nan"), 2e4, "1"])
def test_weights_are_finite_and_not_zero(weight):
    with pytest.raises(ProblemError, match=r"patterns\[0\].weight"):
        arc_patterns("patterns", [{"name": "p", "weight": weight, "pattern": ONE}])


def test_names_are_unique():
    with pytest.raises(ProblemError, match="a name of its own"):
        arc_patterns("patterns", [{"name": "p", "weight": 1, "pattern": ONE}] * 2)


def test_labels_that_the_parser_lacks_are_named():
    pattern = {"name": "p", "weight": 1, "pattern": [first(), then("1", "0", ">", DEP="nsubj")]}
    with pytest.raises(ProblemError, match=r"\('p'\): the parser has no label 'nsubj'"):
        PatternMatcher(stated_patterns([pattern]), LABELS, TAGS)


def test_attributes_in_small_letters_are_the_same():
    small, capital = (
        [{"name": "p", "weight": 1, "pattern": [first(**{of("tag"): "X"}), then("1", "0", ">")]}]
        for of in (str, str.upper)
    )
    assert stated_patterns(small) == stated_patterns(capital)


def test_each_token_without_a_tag_has_the_parsers_own():
    sentence = scores_of(0)
    matcher = PatternMatcher(
        stated_patterns([{"name": "p", "weight": 1, "pattern": [first(TAG="X"), ONE[1]]}]),
        LABELS,
        TAGS,
    )
    is_x = [TAGS[tag - 1] == "X" for tag in sentence.tags[1:]]
    assert 0 < sum(is_x) < 5
    doc = Doc(spacy.blank("en").vocab, words=WORDS, tags=["", "X", "Y", "", ""])
    own = sentence.tokens, sentence.tags, sentence.labels
    (found,) = matcher.in_sentences(doc, [own])
    assert found.may_be[0].tolist() == [False, is_x[0], True, False, *is_x[3:]]


@pytest.mark.parametrize("attributes", [{"_": {"nobodys": 1}}, {"POS": "VERB"}])
def test_attributes_that_nobody_set_are_refused(attributes):
    pattern = {"name": "p", "weight": 1, "pattern": [first(**attributes), ONE[1]]}
    with pytest.raises((AttributeError, ValueError), match=r"nobodys|POS"):
        with_patterns(spacy.blank("en").vocab, scores_of(0), [pattern])
