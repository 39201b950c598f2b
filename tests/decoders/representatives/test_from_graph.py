"""Problems taken from a graph, and the decoders that look into it."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from spacy_decoders import NotDecomposableError, ProblemError
from spacy_decoders.decoders.representatives import (
    Decomposable,
    Degree,
    ExactRepresentatives,
    Greedy,
    HittingDistance,
    LocalSearch,
    PageRank,
    RepresentativesProblem,
    SpanningTree,
)
from spacy_decoders.graph import ConceptGraph
from tests.oracles import all_representatives


def distances_of(network, vertices, same: float, unreachable: float) -> np.ndarray:
    """All distances by networkx, as costs."""
    lengths = dict(networkx.all_pairs_shortest_path_length(network))
    return np.array(
        [[same if u == v else lengths[u].get(v, unreachable) for v in vertices] for u in vertices],
        dtype=float,
    )


def connected(network, sets, connection: str) -> networkx.Graph:
    """Edit the graph as section 5 and footnote 5 of the paper say."""
    edited = network.copy()
    for members in sets:
        if connection == "maximal":
            edited.add_edges_from((u, v) for u in members for v in members if u != v)
            continue
        parts = [sorted(part) for part in networkx.connected_components(network.subgraph(members))]
        tips = [(max(part, key=lambda v: (network.degree[v], -v)), part) for part in parts]
        middle = max(tips, key=lambda tip: (len(tip[1]), network.degree[tip[0]], -tip[0]))[0]
        edited.add_edges_from((middle, tip) for tip, _ in tips if tip != middle)
    return edited


@pytest.mark.parametrize("connection", [None, "maximal", "minimal"])
def test_costs_are_those_of_the_edited_graph(connection):
    for case in range(60):
        rng = np.random.default_rng(case)
        network = networkx.gnm_random_graph(24, int(rng.integers(10, 40)), seed=case)
        sets = [
            rng.choice(24, int(rng.integers(1, 6)), replace=False)
            for _ in range(int(rng.integers(1, 5)))
        ]
        edited = (
            connected(network, [s.tolist() for s in sets], connection) if connection else network
        )
        graph = ConceptGraph.from_networkx(network)
        problem = RepresentativesProblem.from_graph(
            graph, sets, connection, same_vertex=2, unreachable=99
        )
        expected = distances_of(edited, problem.vertices.tolist(), 2, 99)
        np.testing.assert_array_equal(problem.distances, expected)
        best = all_representatives(problem.distances, problem.sets, None, 1.0)[0][0]
        solution = ExactRepresentatives().decode(problem)
        assert solution.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(best)
        assert [s[c] for s, c in zip(sets, solution.choices, strict=True)] == (
            solution.vertices.tolist()
        )


def test_defaults_for_shared_and_unreachable_vertices():
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [5, 6]])
    problem = RepresentativesProblem.from_graph(graph, [[0, 2], [2, 5]])
    # 0-2 is the farthest pair: sharing 2 costs as much, and 5 one more
    assert problem.vertices.tolist() == [0, 2, 5]
    assert problem.distances.tolist() == [[2, 2, 3], [2, 2, 3], [3, 3, 2]]
    with pytest.raises(ProblemError, match="connection"):
        RepresentativesProblem.from_graph(graph, [[0]], "full")
    with pytest.raises(ProblemError, match="9 at index 0"):
        RepresentativesProblem.from_graph(graph, [[9]])
    with pytest.raises(ProblemError, match="same_vertex"):
        RepresentativesProblem.from_graph(graph, [[0]], same_vertex=np.nan)


def test_degree_and_pagerank_choose_the_most_central():
    graph = ConceptGraph.from_edges([[0, 1], [0, 2], [0, 3], [3, 4], [4, 5], [4, 6], [6, 7]])
    problem = RepresentativesProblem.from_graph(graph, [[1, 0, 3], [5, 4], [7]])
    for decoder in (Degree(), PageRank()):
        solution = decoder.decode(problem)
        assert solution.vertices.tolist() == [0, 4, 7]
        assert solution.certificate.status == "heuristic"
        assert solution.certificate.score == problem.cost(solution.choices)
    bare = RepresentativesProblem(problem.distances, problem.sets)
    for decoder in (Degree(), PageRank(), SpanningTree(), Decomposable()):
        with pytest.raises(ProblemError, match="from_graph"):
            decoder.decode(bare)


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
    for case in range(250):
        rng = np.random.default_rng(case)
        network, sets = decomposable_case(rng)
        local = [rng.integers(0, 3, len(s)) * 0.5 for s in sets] if case % 3 == 0 else None
        graph = ConceptGraph.from_networkx(network)
        problem = RepresentativesProblem.from_graph(graph, sets, local=local)
        best = all_representatives(problem.distances, problem.sets, local, 1.0)[0][0]
        solution = Decomposable(seed=case).decode(problem)
        assert solution.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(best)
        assert ExactRepresentatives().decode(problem).certificate.score == pytest.approx(best)


@pytest.mark.parametrize("connection", ["maximal", "minimal"])
def test_decomposable_sees_the_connection(connection):
    # two paths whose sets skip a vertex, joined by a bridge
    edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]
    graph = ConceptGraph.from_edges(edges)
    sets = [[0, 2], [4, 6]]
    with pytest.raises(NotDecomposableError, match="connected"):
        Decomposable().decode(RepresentativesProblem.from_graph(graph, sets))
    problem = RepresentativesProblem.from_graph(graph, sets, connection)
    solution = Decomposable().decode(problem)
    assert solution.vertices.tolist() == [2, 4]
    assert solution.certificate.score == 2.0
    assert solution.certificate.is_optimal


def test_what_is_not_decomposable_is_refused():
    triangle = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]])
    for sets in ([[0], [1]], [[0, 1], [1]], [[0, 3], [4]]):
        with pytest.raises(NotDecomposableError, match="sets"):
            Decomposable().decode(RepresentativesProblem.from_graph(triangle, sets))


def test_spanning_tree_is_exact_on_decomposable_graphs():
    for case in range(150):
        network, sets = decomposable_case(np.random.default_rng(case))
        graph = ConceptGraph.from_networkx(network)
        # the tree must keep all bridges, but may lose edges inside parts that hold no set
        problem = RepresentativesProblem.from_graph(graph, sets)
        if networkx.is_tree(network):
            best = all_representatives(problem.distances, problem.sets, None, 1.0)[0][0]
            assert SpanningTree(case).decode(problem).certificate.score == pytest.approx(best)


def test_spanning_tree_is_no_better_than_exact_and_takes_overlaps():
    for case in range(80):
        rng = np.random.default_rng(case)
        network = networkx.gnm_random_graph(30, 50, seed=case)
        sets = [rng.choice(30, int(rng.integers(1, 6)), replace=False) for _ in range(4)]
        problem = RepresentativesProblem.from_graph(
            ConceptGraph.from_networkx(network), sets, [None, "maximal", "minimal"][case % 3]
        )
        best = ExactRepresentatives(exact_margins=False).decode(problem).certificate.score
        for decoder in (SpanningTree(case), Greedy(case), HittingDistance(), LocalSearch()):
            solution = decoder.decode(problem)
            assert solution.certificate.score >= best - 1e-9
            assert solution.certificate.score == pytest.approx(problem.cost(solution.choices))


def test_spanning_tree_worked_by_hand():
    # sets {0, 1} and {4, 5} over the path 1 - 2 - 3 - 4: the near ends win
    graph = ConceptGraph.from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    problem = RepresentativesProblem.from_graph(graph, [[0, 1], [5, 4], [4, 5]])
    solution = SpanningTree().decode(problem)
    # the second and third overlap, are merged, and each takes the near end
    assert solution.vertices.tolist() == [1, 4, 4]
