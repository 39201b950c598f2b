"""Decomposable is exact where its hypotheses hold, and refuses where not."""

import networkx
import numpy as np
import pytest

from spacy_decoders import NotDecomposableError
from spacy_decoders.decoders import representatives as core
from spacy_decoders.graph import ConceptGraph
from tests.oracles import all_representatives


def decomposable_case(rng) -> tuple[networkx.Graph, list[np.ndarray]]:
    """Blobs joined by bridges, a connected set inside each but some."""
    network = networkx.Graph()
    blobs, sets = [], []
    for _ in range(int(rng.integers(2, 6))):
        size = int(rng.integers(1, 6))
        first = len(network)
        blob = networkx.gnm_random_graph(size, 2 * size, seed=int(rng.integers(10**6)))
        network.add_nodes_from(range(first, first + size))
        network.add_edges_from((first + u, first + v) for u, v in blob.edges)
        network.add_edges_from((first + u, first + u + 1) for u in range(size - 1))
        if blobs:
            other = blobs[int(rng.integers(len(blobs)))]
            # sometimes over a chain of vertices that are in no set
            path = list(range(len(network), len(network) + int(rng.integers(0, 3))))
            networkx.add_path(network, [int(rng.choice(other)), *path, first])
        blobs.append(np.arange(first, first + size))
        if len(blobs) == 1 or rng.random() < 0.8:
            reached = list(
                networkx.bfs_tree(network.subgraph(blobs[-1]), int(rng.choice(blobs[-1])))
            )
            sets.append(rng.permutation(reached[: int(rng.integers(1, size + 1))]))
    return network, sets


def test_decomposable_is_exact_where_its_hypotheses_hold():
    for case in range(120):
        rng = np.random.default_rng(case)
        network, sets = decomposable_case(rng)
        local = [rng.integers(0, 3, len(s)) * 0.5 for s in sets] if case % 3 == 0 else None
        graph = ConceptGraph.from_networkx(network)
        problem = core.RepresentativesProblem.from_graph(graph, sets, local=local)
        best = float(min(all_representatives(problem).values()))
        solution = core.Decomposable(seed=case).decode(problem)
        assert solution.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(best)
        assert core.ExactRepresentatives().decode(problem).certificate.score == pytest.approx(best)


@pytest.mark.parametrize("connection", ["maximal", "minimal"])
def test_decomposable_sees_the_connection(connection):
    # two paths whose sets skip a vertex, joined by a bridge
    edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]
    graph = ConceptGraph.from_edges(edges)
    sets = [[0, 2], [4, 6]]
    with pytest.raises(NotDecomposableError, match="connected"):
        core.Decomposable().decode(core.RepresentativesProblem.from_graph(graph, sets))
    problem = core.RepresentativesProblem.from_graph(graph, sets, connection)
    solution = core.Decomposable().decode(problem)
    assert solution.vertices.tolist() == [2, 4]
    assert solution.certificate.score == 2.0
    assert solution.certificate.is_optimal


def test_what_is_not_decomposable_is_refused():
    triangle = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]])
    for sets in ([[0], [1]], [[0, 1], [1]], [[0, 3], [4]]):
        with pytest.raises(NotDecomposableError, match="sets"):
            core.Decomposable().decode(core.RepresentativesProblem.from_graph(triangle, sets))


def test_neither_order_nor_repetition_of_candidates_counts():
    graph = ConceptGraph.from_edges([(0, 1), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)])
    chosen = [
        core.SpanningTree().decode(core.RepresentativesProblem.from_graph(graph, sets)).vertices
        for sets in ([[4, 1], [3, 2]], [[1, 4], [2, 3]])
    ]
    assert (chosen[0] == chosen[1]).all()
    path = ConceptGraph.from_edges([(0, 1), (1, 2)])
    problem = core.RepresentativesProblem.from_graph(path, [[0, 0], [2]])
    assert core.Decomposable().decode(problem).certificate.status == "optimal"
