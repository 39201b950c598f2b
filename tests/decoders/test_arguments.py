"""An argument of another type than a decoder takes is named, and how to make the right one."""

from functools import partial

import numpy as np
import pytest

from spacy_decoders import Budget
from spacy_decoders.decoders import chain, path, representatives, tree
from spacy_decoders.errors import ProblemError

ZEROS = np.zeros((3, 3))
PROBLEMS = {
    tree: (tree.TreeProblem(ZEROS),),
    path: (path.PathProblem(ZEROS[0], ZEROS, ZEROS[0], [0, 1, 2]), 2),
    representatives: (representatives.RepresentativesProblem(ZEROS, [[0, 1], [2]]),),
    chain: (chain.ChainModel(ZEROS), ZEROS),
}
DECODERS = [
    (core, getattr(core, name)())
    for core in PROBLEMS
    for name in core.__all__
    if hasattr(getattr(core, name), "decode") and "Decoder" not in name and name != "TreeKnapsack"
]


def ways_to_decode(core, decoder):
    """Return the methods of a decoder, each with the arguments that follow the problem."""
    given = PROBLEMS[core][1:]
    more = {
        tree: {"k_best": (2,)},
        path: {"k_best": (*given, 2), "decode_lengths": ([2],)},
        representatives: {},
        chain: {"decode_batch": (ZEROS, [3]), "decode_tree": (ZEROS, [-1, 0, 0])},
    }[core]
    return [
        (getattr(decoder, name), arguments)
        for name, arguments in {"decode": given, **more}.items()
        if hasattr(decoder, name)
    ]


@pytest.mark.parametrize(("core", "decoder"), DECODERS, ids=lambda one: type(one).__name__)
def test_a_wrong_argument_is_named_with_the_fix(core, decoder):
    problem = PROBLEMS[core][0]
    name, kind = "model" if core is chain else "problem", type(problem).__name__
    for decode, arguments in ways_to_decode(core, decoder):
        for wrong in (ZEROS, None, Budget()):
            with pytest.raises(ProblemError, match=rf"^{name}: expected a {kind}, .*; use {kind}"):
                decode(wrong, *arguments)
        for wrong in (3, 1.5, None):
            with pytest.raises(ProblemError, match=r"^budget: expected a Budget, .*; use Budget"):
                decode(problem, *arguments, budget=wrong)


RANKINGS = {"chain": (chain.k_best, PROBLEMS[chain])} | {
    type(decoder).__name__: (decoder.k_best, PROBLEMS[core])
    for core, decoder in DECODERS
    if hasattr(decoder, "k_best") and decoder != tree.ChuLiuEdmonds()  # which is for other trees
}


@pytest.mark.parametrize(("k_best", "given"), RANKINGS.values(), ids=RANKINGS)
def test_ranks_are_whole_numbers_and_more_than_there_are_is_all(k_best, given):
    for wrong in (0, -1, True, np.True_, 2.0, "2", None, [2], 2**63, np.inf):
        with pytest.raises(ProblemError, match=r"^k: expected a whole number from 1 on; got"):
            k_best(*given, wrong)
    assert 1 < len(k_best(*given, 10**12)) < 30


def test_too_many_ranks_for_memory_are_refused():
    zeros = np.zeros((20, 20))
    for ask in (
        lambda k: chain.k_best(chain.ChainModel(zeros), zeros, k),
        lambda k: tree.BranchAndBound().k_best(tree.TreeProblem(zeros), k),
    ):
        with pytest.raises(ProblemError, match=r"^k: the tables for .* ask for fewer"):
            ask(10**12)


FLAGS = [
    (partial(tree.TreeProblem, ZEROS), ["projective", "single_root"]),
    (tree.PriceAndCut, ["relax", "pruning"]),
    (path.Beam, ["lookahead"]),
    (representatives.ExactRepresentatives, ["exact_margins"]),
]


@pytest.mark.parametrize(("make", "names"), FLAGS)
def test_flags_are_true_or_false(make, names):
    for name in names:
        make(**{name: np.bool_(True)})
        for wrong in ("no", None, 1):
            with pytest.raises(ProblemError, match=f"^{name}: expected True or False; got"):
                make(**{name: wrong})


@pytest.mark.parametrize("core", PROBLEMS, ids=lambda core: core.__name__.rpartition(".")[2])
def test_public_names_are_listed_and_loaded_once(core):
    assert dir(core) == sorted(core.__all__)
    assert all(getattr(core, name) is vars(core)[name] for name in core.__all__)
