"""The spanning-tree heuristic, against the exact decoders."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from spacy_decoders.decoders.representatives import (
    RepresentativesProblem,
    SpanningTree,
)
from spacy_decoders.graph import ConceptGraph
from tests.decoders.representatives.graphs import decomposable_case
from tests.oracles import all_representatives


def test_spanning_tree_is_exact_on_decomposable_graphs():
    for case in range(150):
        network, sets = decomposable_case(np.random.default_rng(case))
        graph = ConceptGraph.from_networkx(network)
        # the tree must keep all bridges, but may lose edges inside parts that hold no set
        problem = RepresentativesProblem.from_graph(graph, sets)
        if networkx.is_tree(network):
            best = all_representatives(problem.distances, problem.sets, None, 1.0)[0][0]
            assert SpanningTree(case).decode(problem).certificate.score == pytest.approx(best)


def test_spanning_tree_worked_by_hand():
    # sets {0, 1} and {4, 5} over the path 1 - 2 - 3 - 4: the near ends win
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    problem = RepresentativesProblem.from_graph(graph, [[0, 1], [5, 4], [4, 5]])
    solution = SpanningTree().decode(problem)
    # the second and third overlap, are merged, and each takes the near end
    assert solution.vertices.tolist() == [1, 4, 4]
