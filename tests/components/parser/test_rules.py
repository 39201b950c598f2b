"""Rules that trees must satisfy, and heads and labels that are given."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_decoders.components.tree_rules import rules_over
from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.errors import ProblemError
from tests.components.parser.parsing import NAME, make_nlp, parse, sentence
from tests.decoders.tree.truth import JointTruth


@pytest.fixture(scope="module")
def nlp():
    return make_nlp(factors=[])


@pytest.fixture
def ruled(nlp):
    """A parser whose rules are set by a call, until the test is over."""
    pipe = nlp.get_pipe(NAME)
    certain = pipe.certain

    def configure(*rules, **options):
        pipe.configure(rules=list(rules), **options)
        return nlp

    yield configure
    pipe.configure(rules=[], overwrite=True, certain=certain)


def test_given_heads_join_their_sentences(ruled):
    nlp = ruled()
    assert len(list(parse(nlp, [0, 1]).sents)) == 2
    doc = Doc(nlp.vocab, words=["she", "eats", "the", "red", "fish", ".", "he", "sleeps", "."])
    doc[7]._.fixed_head = 1
    assert len(list(nlp(doc).sents)) == 1
    doc = Doc(
        nlp.vocab, words=["she", "eats", ".", "he", "sleeps", "."], sent_starts=[1, 0, 0, 1, 0, 0]
    )
    doc[4]._.fixed_head = 1
    nlp.get_pipe(NAME)._warned.clear()
    with pytest.warns(UserWarning, match="a sentence has no tree"):
        doc = nlp(doc)
    assert [(one["start"], one["end"]) for one in doc._.conflicts] == [(3, 6)]


def test_without_overwrite_a_tree_is_completed(ruled):
    nlp = ruled(overwrite=False)
    doc = Doc(
        nlp.vocab,
        words=["she", "eats", "the", "red", "fish", "."],
        heads=[4, 4, 4, 4, 4, 4],
        deps=["obj", "", "", "", "ROOT", ""],
    )
    assert (doc[0].head.i, doc[4].head.i, doc[3].has_head()) == (4, 4, False)
    doc = nlp(doc)
    assert (doc[0].head.i, doc[0].dep_, doc[4].dep_) == (4, "obj", "ROOT")
    assert all(token.dep_ for token in doc)
    assert [s.root.i for s in doc.sents] == [4]
    doc = ruled(overwrite=True)(doc)
    assert doc[0].head.i == 1


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        (["ud"], r"rules\[0\]: expected a dict with 'labels' and 'at_most'"),
        ([{"labels": ["obj"]}], r"rules\[0\].at_most: field required"),
        ([{"leaf": ["punct"], "exempt": [1]}], r"rules\[0\].exempt.*valid string"),
    ],
)
def test_wrong_rules_are_refused_at_once(rules, match):
    with pytest.raises(ProblemError, match=match):
        spacy.blank("en").add_pipe(NAME, config={"rules": rules})


def test_one_label_stands_for_its_subtypes():
    labels = ("nsubj", "nsubj:outer", "nsubj:pass", "obj", "ROOT")
    rules = rules_over([{"labels": ["nsubj"], "at_most": 1, "exempt": ["nsubj:outer"]}], labels)
    assert rules[0].labels == (0, 2)
    found = rules_over(["universal-dependencies"], labels)
    assert [rule.labels for rule in found] == [(0, 2), (1,), (3,)]


@pytest.mark.parametrize("keeps", [False, True])
def test_an_exempt_label_that_is_demanded_is_given(ruled, keeps):
    """Also to a token whose best label the rule counts: as wished, or as it was before."""
    nlp = ruled({"labels": ["det", "amod"], "at_most": 1, "exempt": ["amod"]}, overwrite=not keeps)
    words = ["the", "dog", "sees", "a", "cat", "."]
    doc = sentence(nlp, words)
    if keeps:
        heads, deps = [1, 2, 2, 4, 2, 2], ["amod", "nsubj", "ROOT", "det", "obj", "punct"]
        doc = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
    else:
        doc[0]._.fixed_dep = "amod"
    doc = nlp(doc)
    assert [doc[0].dep_, doc[3].dep_] == ["amod", "det"]
    assert [of["status"] for of in doc._.certificates[NAME]] == ["optimal"]
    assert doc._.conflicts == []


@pytest.mark.parametrize("name", ["fixed_dep", "forbidden_deps"])
def test_a_label_that_the_parser_lacks_is_named(ruled, name):
    nlp = ruled()
    doc = sentence(nlp, ["the", "dog", "sees", "."])
    doc[0]._.set(name, ["nsuj"])
    with pytest.raises(ProblemError, match=f"^{name}: expected a label of the parser.*nsuj"):
        nlp(doc)


@pytest.mark.parametrize(
    "rules",
    [
        [{"labels": ["det", "nsubj"], "at_most": 0}, {"leaf": ["obj", "punct"]}],
        [{"labels": ["det", "nsubj", "obj"], "at_most": 1}],
        [{"labels": ["amod"], "at_most": 3}],
    ],
    ids=["broken", "may be broken", "not broken"],
)
def test_trees_and_margins_under_rules_are_those_of_all_trees(ruled, rules):
    """Against the enumeration of all labelled trees of a short sentence."""
    nlp = ruled(*rules, k_best=6, head_margins=True)
    pipe = nlp.get_pipe(NAME)
    doc = sentence(nlp, ["the", "dog", "sees", "."])
    scores = pipe.predict([doc])[0]
    block = scores.blocks[0].completed()
    arcs = block.arcs.astype("d") - block.label_scores
    labels, _ = block.best_labels(np.arange(block.label_count), block.label_count)
    truth = JointTruth(TreeProblem(arcs, labels=labels, rules=pipe.tree_rules))
    (parsed,) = pipe.decode_together([doc], [scores])
    pipe.configure(k_best=1, head_margins=False)
    ranked = truth.ranked
    assert parsed.certificates[0].score == pytest.approx(ranked[0], abs=1e-4)
    assert [of["score"] for of in parsed.parses[0]] == pytest.approx(ranked[:6], abs=1e-4)
    numbers = {name: number for number, name in enumerate(pipe.labels)}
    for tree in parsed.parses[0]:
        heads = [0 if head == m else head + 1 for m, head in enumerate(tree["heads"])]
        given = [-1, *heads], [-1, *(numbers[name] for name in tree["deps"])]
        assert not any(rule.is_broken(*given) for rule in pipe.tree_rules)
    best = max(truth.score, key=truth.score.__getitem__)
    others = [
        max(score for heads, score in truth.score.items() if heads[m] != best[m]) for m in range(4)
    ]
    assert parsed.margins.tolist() == pytest.approx([ranked[0] - of for of in others], abs=1e-4)


@pytest.mark.parametrize(
    ("heads", "deps"),
    [([2, 3, 2, 2], "det det ROOT obj"), ([2, 2, 2, 2], "det unheard ROOT obj")],
    ids=["crossing", "unknown label"],
)
def test_a_tree_that_cannot_be_kept_stays(ruled, heads, deps):
    nlp = ruled(overwrite=False, head_margins=True)
    given = {"words": ["a", "b", "c", "d"], "heads": heads, "deps": deps.split()}
    doc = Doc(nlp.vocab, **given)
    with pytest.warns(UserWarning, match="no tree"):
        nlp.get_pipe(NAME)._warned.clear()
        doc = nlp(doc)
    nlp.get_pipe(NAME).configure(head_margins=False)
    assert [t.head.i for t in doc] == heads and [t.dep_ for t in doc] == deps.split()
    assert [one["status"] for one in doc._.certificates[NAME]] == ["infeasible"]
    assert doc._.margins[NAME] == [None] * 4
    (conflict,) = doc._.conflicts
    assert {one["source"] for one in conflict["demands"]} == {"overwrite"}


@pytest.mark.filterwarnings("ignore:.*no tree")
def test_white_space_stays_with_a_tree_that_cannot_be_kept(ruled):
    nlp = ruled(overwrite=False)
    heads, deps = [0, 0, 1], ["ROOT", "dep", "dep"]
    doc = nlp(Doc(nlp.vocab, words=[" ", "a", "b"], heads=heads, deps=deps))
    assert [token.head.i for token in doc] == heads
    assert [token.i for token in doc[0].subtree] == [0, 1, 2]  # endless in a cycle


@pytest.mark.filterwarnings("ignore:.*no tree")
@pytest.mark.parametrize("words", [["a", "b", "c", "d"], ["a", "b", "\n", "d"]])
def test_a_head_beyond_the_sentence_leaves_no_tree(ruled, words):
    nlp = ruled()
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, words[2] == "c", True])
    doc[0]._.fixed_head = 2
    doc = nlp(doc)
    statuses = [one["status"] for one in doc._.certificates[NAME]]
    assert statuses[0] == "infeasible" and set(statuses[1:]) == {"optimal"}
    (conflict,) = doc._.conflicts
    assert [one["source"] for one in conflict["demands"]] == ["fixed_head"]
