"""Collective linking of scored candidates over a user's graph."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError
from spacy_decoders.adapt.linking import CollectiveLinker
from spacy_decoders.graph import ConceptGraph


def cheapest(graph, mentions, weight):
    """What the cheapest choice costs, by enumeration."""
    steps = dict(nx.all_pairs_shortest_path_length(graph))
    names = {concept for candidates in mentions for concept, _ in candidates}
    reached = [steps[a][b] for a in names for b in names if b in steps.get(a, ())]
    far = max(reached, default=0) + 1
    best = np.inf
    for choice in product(*mentions):
        cost = -sum(np.log(score) for _, score in choice)
        pairs = [(a, b) for i, (a, _) in enumerate(choice) for b, _ in choice[i + 1 :]]
        apart = sum(0 if a == b else steps.get(a, {}).get(b, far) for a, b in pairs)
        best = min(best, cost + weight * apart / max(1, len(mentions) - 1))
    return best


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_no_choice_is_cheaper(rng, weight):
    graph = nx.gnp_random_graph(12, 0.2, seed=1)
    graph = nx.relabel_nodes(graph, {node: f"c{node}" for node in graph})
    linker = CollectiveLinker(graph, weight=weight)
    for _ in range(20):
        mentions = [
            [(f"c{c}", rng.uniform(0.1, 1.0)) for c in rng.choice(14, 3, replace=False)]
            for _ in range(4)
        ]
        found = linker.link(mentions)
        assert found.certificate.status == "optimal"
        assert found.certificate.score == pytest.approx(cheapest(graph, mentions, weight))


def test_a_graph_in_each_of_its_forms():
    edges = [(1, 2), (2, 3), (7, 8)]
    mentions = [[(7, 0.6), (1, 0.4)], [(3, 1.0)]]
    forms = [edges, np.array(edges), nx.Graph(edges), ConceptGraph.from_edges(edges)]
    assert {CollectiveLinker(form).link(mentions).concepts for form in forms} == {(1, 3)}


def test_mentions_without_candidates_stay_without():
    found = CollectiveLinker([(1, 2)]).link([[], [(1, 0.5), (2, 0.5)], [(1, 1.0)]])
    assert found.concepts == (None, 1, 1) and found.margins[0] is None
    assert CollectiveLinker([(1, 2)]).link([]).concepts == ()


@pytest.mark.parametrize(
    ("options", "mentions", "message"),
    [
        ({}, [[(1, np.float64(1.5))]], r"mentions: expected probabilities.* got 1\.5 for 1 in"),
        ({}, [[(1, float("nan"))]], "mentions: expected probabilities"),
        ({}, [[("a", "much")]], "mentions: expected pairs"),
        ({}, [[], 3], r"mentions: expected pairs.* mentions\[1\]"),
        (
            {},
            [[], [(1, 0.0), (2, 0.0)]],
            r"all candidates of mentions\[1\] have the probability 0",
        ),
        ({"weight": -1.0}, [], "weight"),
        ({"graph": None}, [], "graph: expected a ConceptGraph, .* got NoneType"),
        ({"graph": ["ab", "cd"]}, [], "graph: .*a text is no pair"),
        ({"graph": [(1, 2), (3,)]}, [], "graph: expected a ConceptGraph, .* got list"),
        ({}, None, "mentions: expected"),
    ],
)
def test_what_is_refused_is_named(options, mentions, message):
    with pytest.raises((ProblemError, InfeasibleError), match=message):
        CollectiveLinker(**{"graph": [(1, 2)], **options}).link(mentions)
