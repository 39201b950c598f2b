"""Bad arrays are refused with the argument's name and the first offending index."""

from types import SimpleNamespace

import numpy as np
import pytest
import spacy

from spacy_decoders import ConceptBase, ProblemError, verify
from spacy_decoders.adapt.crfsuite import CrfSuiteModel, read_model_file
from spacy_decoders.adapt.learning import learn_chain
from spacy_decoders.adapt.pipelines import beam_entities, exact_senter_from
from spacy_decoders.adapt.spans import best_entities, best_spans, log_odds
from spacy_decoders.adapt.tokens import EntityScheme, merge_windows, word_scores
from spacy_decoders.annotate import Job, annotate
from spacy_decoders.arrays import checked_indices, checked_scores, owned
from spacy_decoders.decoders import chain, tree
from spacy_decoders.decoders.path import Beam, ExactPath, PathProblem
from spacy_decoders.decoders.representatives import RepresentativesProblem
from spacy_decoders.graph import ConceptGraph, adjacency
from spacy_decoders.knowledge.sources.concept_files import ConceptFile
from spacy_decoders.readers.corpora import ConlluCorpus, JoinedCorpus, gold_corpus
from spacy_decoders.readers.sentences import read_columns


@pytest.mark.parametrize(
    ("values", "shape", "message"),
    [
        *(
            ([[0.0, 1.0], [bad, -np.inf]], (2, 2), r"arcs: .* at index \(1, 0\)")
            for bad in (np.nan, np.inf, 1e300)
        ),
        ([-1e300], (1,), "fit float32"),  # an overflow is not taken for forbidden
        *((no, (None,), "arcs: expected") for no in (["a"], [None], [[1], [1, 2]], [1j])),
    ],
)
def test_scores_that_mean_nothing_are_named(values, shape, message):
    with pytest.raises(ProblemError, match=message):
        checked_scores("arcs", values, shape)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, 3], "classes: every entry must be at least 0"),
        ([-1, 0], "classes: every entry must be at least 0"),
        ([0, 0.5], "whole numbers"),
    ],
)
def test_indices_out_of_range_or_no_whole_numbers_are_named(values, message):
    with pytest.raises(ProblemError, match=message):
        checked_indices("classes", values, (2,), low=0, high=3)


@pytest.mark.parametrize("value", [2**32 + 1, 2**64 - 1, -(2**40)])
def test_indices_never_wrap_round(value):
    dtype = np.uint64 if value > 0 else np.int64
    with pytest.raises(ProblemError, match="arcs: every entry must be"):
        checked_indices("arcs", np.array([0, value], dtype=dtype), (2,))


def test_refuses_what_numpy_would_take_silently():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(ProblemError, match="scores: a masked array would lose its mask"):
        checked_scores("scores", masked, (2,))
    for value in (1e101, -1e101):
        with pytest.raises(ProblemError, match=r"scores must lie within .* at index \(1,\)"):
            checked_scores("scores", [-np.inf, value], (2,), dtype=np.float64)


class Tensor:
    """As of torch, with a gradient on a GPU until it is detached and on the CPU."""

    def __init__(self, array, precision, *done):
        self.array, self.precision, self.done = array, precision, {*done}

    def detach(self):
        return Tensor(self.array, self.precision, *self.done, "detached")

    def cpu(self):
        return Tensor(self.array, self.precision, *self.done, "cpu")

    def float(self):
        return Tensor(self.array.astype(np.float32), "float32", *self.done)

    def is_floating_point(self):
        return True

    def element_size(self):
        return 2 if self.precision == "bfloat16" else self.array.itemsize

    def __array__(self, dtype=None, copy=None):
        if self.precision == "bfloat16" or self.done != {"detached", "cpu"}:
            raise TypeError("Got unsupported ScalarType")
        return self.array


def test_tensors_of_any_precision_are_scores():
    scores = np.array([[0.1, 1.0 / 3.0]])
    for name, precision in (("bfloat16", np.float32), ("float64", np.float64)):
        tensor = Tensor(scores, name)
        found = checked_scores("logits", tensor, (1, 2), dtype=np.float64)
        np.testing.assert_array_equal(found, scores.astype(precision))
        assert not np.may_share_memory(owned(found, tensor), scores)
        np.testing.assert_array_equal(word_scores(tensor, [0]), word_scores(found, [0]))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("allowed", lambda ragged: tree.TreeProblem(np.zeros((2, 2)), allowed=ragged)),
        ("distances", lambda ragged: RepresentativesProblem(ragged, [[0], [1]])),
        ("edges", ConceptGraph.from_edges),
        ("factors.arcs", lambda ragged: tree.Factors(ragged, [0, 2], [1.0])),
        ("factors.arcs", lambda ragged: tree.Factors.any_of(ragged, 1.0)),
        ("factors.parts", lambda ragged: tree.Factors.of_parts(ragged, [(0, 1)], [1.0])),
        ("heads", tree.is_tree),
    ],
)
def test_lists_of_unequal_lengths_are_named(argument, call):
    with pytest.raises(ProblemError, match=f"^{argument}: expected an array of numbers"):
        call([[0, 1], [2]])


ZEROS = np.zeros((2, 2))
CHAIN, TREE, GRAPH = (
    chain.ChainModel(ZEROS),
    tree.TreeProblem(ZEROS),
    ConceptGraph.from_edges([[0, 1]]),
)
CRF = CrfSuiteModel(SimpleNamespace(attributes={}))
PATH = PathProblem(ZEROS[0], ZEROS, ZEROS[0], [0, 1])


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("budget", lambda wrong: tree.head_margins(TREE, [0], budget=wrong)),
        ("candidates", lambda wrong: RepresentativesProblem.from_graph(GRAPH, wrong)),
        ("columns", lambda wrong: next(read_columns("", wrong))),
        ("concepts", ConceptBase.build),
        ("corpora", JoinedCorpus),
        ("corpus", gold_corpus),
        ("decoder", lambda wrong: tree.k_best(TREE, 1, decoder=wrong or 1)),
        ("encoded: expected an Enc", lambda wrong: CRF.emissions(wrong)),
        ("entities", best_entities),
        ("factors.any_of", lambda wrong: tree.Factors.any_of(wrong, 1.0)),
        ("folder", ConceptBase.open),
        ("graph", lambda wrong: adjacency(wrong, [0])),
        ("items", lambda wrong: CRF.tag([wrong])),
        ("job", annotate),
        ("labels", EntityScheme),
        ("live", lambda wrong: ConceptBase.open("base", live=wrong)),
        ("model", lambda wrong: Job("texts", "out", wrong)),
        ("ner", lambda wrong: beam_entities(wrong, [])),
        ("model: expected a Chain", lambda wrong: chain.k_best(wrong, ZEROS, 2)),
        ("model: expected a Chain", lambda wrong: chain.marginals(wrong, ZEROS)),
        ("path", lambda wrong: next(ConlluCorpus(wrong)(None))),
        ("probabilities", log_odds),
        ("problem: expected a Tree", lambda wrong: tree.head_margins(wrong, [0])),
        ("problem: expected a Tree", lambda wrong: tree.k_best(wrong, 2)),
        ("problem: expected a Tree", tree.max_marginals),
        ("problem: expected a Tree", lambda wrong: tree.prune(wrong, 2)),
        ("problem: expected a Tree", lambda wrong: tree.score_tree(wrong, [0])),
        ("reduced_cost", lambda wrong: chain.ColumnGeneration(reduced_cost=[wrong])),
        ("rules", lambda wrong: learn_chain([], [], wrong)),
        ("scores", lambda wrong: learn_chain(wrong, [], CHAIN)),
        ("sequences", CRF.encode),
        ("sets", GRAPH.hitting),
        ("source", ConceptFile),
        ("source", lambda wrong: Job(wrong, "out")),
        ("source", read_model_file),
        ("spans", best_spans),
        ("width", Beam),
        ("windows", merge_windows),
        ("windows", lambda wrong: merge_windows([wrong])),
        ("word_ids", lambda wrong: word_scores(ZEROS, wrong)),
        ("word_ids", lambda wrong: word_scores(ZEROS, [0, wrong or np.inf])),
        ("words", lambda wrong: word_scores(ZEROS, [0, 1], wrong or "2")),
        ("workers", lambda wrong: annotate(Job("texts", "out"), workers=wrong)),
    ],
)
def test_arguments_of_a_wrong_kind_are_named(argument, call):
    for wrong in (None, object()):
        with pytest.raises(ProblemError, match=f"^{argument}"):
            call(wrong)


def test_arguments_of_what_is_built_are_named():
    base, nlp = ConceptBase.build([{"id": "sun"}]), spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.initialize()
    solution = ExactPath().decode(PATH, 1)
    for argument, call in (
        ("aliases", base.aliases.find),
        ("aliases", lambda wrong: base.aliases.find([wrong])),
        *(("concept", ask) for ask in (base.id, base.names, base.known, base.url)),
        ("concepts: .* below 1; got 9", lambda wrong: base.id(9)),
        ("examples", lambda wrong: exact_senter_from(nlp, "senter", wrong)),
        ("seconds", lambda wrong: verify(PATH, solution, seconds=wrong)),
    ):
        test_arguments_of_a_wrong_kind_are_named(argument, call)
