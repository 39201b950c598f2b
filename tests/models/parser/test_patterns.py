"""Hand-made patterns, against all trees and spaCy's DependencyMatcher."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from spacy.matcher import DependencyMatcher
from spacy.tokens import Doc

from spacy_decoders.decoders.tree import BranchAndBound
from spacy_decoders.errors import ProblemError
from spacy_decoders.models.parser import patterns as module
from spacy_decoders.models.parser.decoding import TreeParser
from spacy_decoders.models.parser.patterns import OPERATORS, Patterns, arc_patterns
from spacy_decoders.models.parser.tree_scores import SentenceScores
from spacy_decoders.verify import verify
from tests import oracles

from .test_factors import make_sentence

LABELS = ("a", "b", "ROOT")
TAGS = ("X", "Y|Case=Nom")
VOCAB = spacy.blank("en").vocab
WORDS = ["u", "v", "w", "u", "v"]


def first(**attributes):
    return {"RIGHT_ID": "0", "RIGHT_ATTRS": attributes}


def then(name, left, operator, **attributes):
    return {"LEFT_ID": left, "REL_OP": operator, "RIGHT_ID": name, "RIGHT_ATTRS": attributes}


#: Stands for what labels are computed from.
NO_LABELS = SimpleNamespace(part=lambda first, end: NO_LABELS)
ONE = [first(), then("1", "0", ">")]
SHAPES = {
    "chain": [first(LOWER="u"), then("1", "0", ">"), then("2", "1", ">", dep="a")],
    "siblings": [first(), then("1", "0", ">", TAG="X"), then("2", "0", ">", TAG={"IN": ["X"]})],
    "comb": [*ONE, then("2", "1", "$+"), then("3", "2", "$+")],
    "sides": [first(), then("1", "0", ">--", DEP={"NOT_IN": ["a"]}), then("2", "1", "$++")],
    "root": [first(DEP="ROOT", LOWER="v"), then("1", "0", ">-"), then("2", "0", ">++")],
    "one arc": [first(LOWER={"REGEX": "u|w"}), then("1", "0", ">++", TAG="Y")],
}
PATTERNS = [
    {"name": name, "weight": weight, "pattern": pattern}
    for weight, (name, pattern) in zip((4, -3, 5, -2, 3, 1.5), SHAPES.items(), strict=True)
]


def scores_of(seed: int, n: int = 5) -> SentenceScores:
    return make_sentence(np.random.default_rng(seed), n, len(LABELS) - 1, len(TAGS), NO_LABELS)


def parser_of(vocab, given, **options):
    patterns = Patterns.of(given, LABELS, TAGS).within(Doc(vocab, words=WORDS))
    return TreeParser(BranchAndBound(), patterns=patterns, **options)


def counted(sentence, heads, pattern) -> int:
    """How often a tree has a pattern, by spaCy's own matcher."""
    tokens = range(1, len(heads) + 1)
    doc = Doc(
        VOCAB,
        words=WORDS[: len(heads)],
        heads=[m - 1 if heads[m - 1] == 0 else heads[m - 1] - 1 for m in tokens],
        deps=[LABELS[sentence.labels[heads[m - 1], m]] for m in tokens],
        tags=[TAGS[sentence.tags[m] - 1].partition("|")[0] for m in tokens],
    )
    matcher = DependencyMatcher(VOCAB)
    matcher.add("pattern", [pattern])
    # siblings may change roles
    found = {frozenset(match) for _, match in matcher(doc)}
    return len({match for match in found if len(match) == len(pattern)})


@cache
def worth(seed: int, name: str) -> dict[tuple[int, ...], float]:
    """What a pattern adds to each tree of a drawn sentence."""
    (given,) = (of for of in PATTERNS if of["name"] == name)
    every = oracles.all_trees(5, projective=False, single_root=True)
    sentence = scores_of(seed)
    return {heads: given["weight"] * counted(sentence, heads, given["pattern"]) for heads in every}


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("name", [*SHAPES, "all"])
def test_the_best_tree_is_the_best_of_all_trees(name, projective):
    given = [of for of in PATTERNS if name in (of["name"], "all")]
    differ = 0
    for seed in range(2):
        sentence = scores_of(seed)
        best = max(
            sum(sentence.arcs[h, m] for m, h in enumerate(heads, start=1))
            + sum(worth(seed, of["name"])[heads] for of in given)
            for heads in oracles.all_trees(5, projective=projective, single_root=True)
        )
        parser = parser_of(VOCAB, given, projective=projective)
        found = parser.decode(sentence)
        assert found.solution.certificate.is_optimal
        assert found.solution.certificate.score == pytest.approx(best, abs=1e-5)
        assert verify(found.problem, found.solution)
        alone = replace(parser, patterns=None).decode(sentence)
        differ += not np.array_equal(alone.solution.heads, found.solution.heads)
    assert differ or name != "all", "the test is void if patterns change no tree"


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_means_what_it_means_to_spacy(operator):
    start = [first()] if operator[0] != "$" else [first(), then("s", "0", ">")]
    pattern = [*start, then("t", start[-1]["RIGHT_ID"], operator)]
    sentence = scores_of(3, 4)
    patterns = parser_of(VOCAB, [{"name": "p", "weight": 1, "pattern": pattern}]).patterns
    for heads in oracles.all_trees(4, projective=False, single_root=True):
        tree = np.zeros((5, 5), dtype=bool)
        tree[heads, np.arange(1, 5)] = True
        found = patterns.factors(sentence, tree)
        assert (found.count if found else 0) == counted(sentence, heads, pattern)


def test_a_pattern_over_likely_arcs_is_certified_among_these():
    found = parser_of(VOCAB, PATTERNS, beam=0.5).decode(scores_of(0))
    assert found.problem.allowed.sum() <= 2 * 5
    assert found.solution.certificate.scope == "pruned"


def test_a_sentence_of_a_block_keeps_its_patterns():
    block = replace(scores_of(1), boundaries=np.zeros(5, "f"))
    patterns = parser_of(VOCAB, PATTERNS).patterns
    within = np.zeros((6, 6), dtype=bool)
    within[1:3, 1:3] = within[3:, 3:] = within[0, 1:] = True
    whole = patterns.factors(block, within)
    parts = [
        patterns.factors(part, np.ones((len(part.tokens) + 1,) * 2, dtype=bool))
        for part in block.cut(np.array([True, False, True, False, False]))
    ]
    assert whole.count == sum(part.count for part in parts if part) > 0


def test_a_sentence_with_too_many_matches_is_parsed_by_its_arcs(monkeypatch):
    parser, sentence = parser_of(VOCAB, PATTERNS), scores_of(0)
    by_arcs = replace(parser, patterns=None).decode(sentence).solution
    monkeypatch.setattr(module, "MOST_MATCHES", 0)
    found = parser.decode(sentence).solution
    assert found.certificate.status == "heuristic"
    np.testing.assert_array_equal(found.heads, by_arcs.heads)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (ONE[:1], "it has 0 arcs; expected 1 to 3"),
        ([first(), then("1", "0", "<")], "REL_OP: expected one of > .*; got '<'"),
        ([first(), then("1", "0", "$+")], "Begin with the head of all"),
        ([first(), then("1", "0", ">", LOWER="x", OP="*")], "OP"),
        ([first(LOWER={"REGEX": "("}), ONE[1]], r"missing \)"),
        ([first(LOWR="x"), ONE[1]], r"'p'\): \[pattern -> 0 -> LOWR\] Extra inputs"),
        (3, r"pattern: expected a list of dicts, one for each token; got 3"),
        ([first(), None], r"pattern\[1\]: expected a dict; got None"),
        ([ONE[:1], ONE[1]], r"pattern\[0\]: expected a dict; got \[{'RIGHT_ID"),
        ([{"RIGHT_ID": "0"}, ONE[1]], r"pattern\[0\].RIGHT_ATTRS: expected a dict; got None"),
        ([first(), {**ONE[1], "RIGHT_ID": 1}], r"pattern\[1\].RIGHT_ID: expected a text; got 1"),
        ([first(), {**ONE[1], "REL_OP": None}], r"pattern\[1\].REL_OP: expected a text; got None"),
    ],
)
def test_errors_name_the_pattern(pattern, message):
    with pytest.raises(ProblemError, match=rf"patterns\[0\].*{message}"):
        arc_patterns("patterns", [{"name": "p", "weight": 1, "pattern": pattern}])


@pytest.mark.parametrize("wrong", [{"name": 3}, {"weight": True}, {"weight": "1"}])
def test_names_are_texts_and_weights_numbers(wrong):
    (value,) = wrong.values()
    with pytest.raises(ProblemError, match=rf"patterns\[0\].*expected a .*; got {value!r}"):
        arc_patterns("patterns", [{"name": "p", "weight": 1, "pattern": ONE, **wrong}])
