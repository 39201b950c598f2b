"""Distances in a concept graph, however they are found, against networkx."""

import networkx
import numpy as np
import pytest

from spacy_decoders.graph import ConceptGraph


def with_and_without_hubs(edges, ids, count) -> list[ConceptGraph]:
    """The same graph with a hub index, which takes other ways to the distances, and without."""
    graphs = [ConceptGraph.from_edges(edges, vertices=ids) for _ in range(2)]
    graphs[0].index_hubs(count)
    return graphs


def random_edges(rng, size: int, edges: int, heavy: bool) -> np.ndarray:
    """Edges with loops and repeats; with a heavy tail, or even."""
    weights = (np.arange(size) + 1.0) ** (-0.9 if heavy else 0.0)
    return rng.choice(size, (edges, 2), p=weights / weights.sum())


def truth(edges, vertices, chosen) -> np.ndarray:
    """All distances by networkx."""
    graph = networkx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((int(u), int(v)) for u, v in edges)
    rows = []
    for source in chosen:
        found = networkx.single_source_shortest_path_length(graph, int(source))
        rows.append([found.get(int(target), -1) for target in chosen])
    return np.array(rows).reshape(len(chosen), len(chosen))


def test_distances_equal_networkx():
    for case in range(60):
        rng = np.random.default_rng(case)
        size = int(rng.integers(2, 120))
        edges = random_edges(
            rng, size, int(size * rng.choice([0.6, 1.0, 1.5, 3.0])), case % 2 == 0
        )
        ids = np.sort(rng.choice(10**6 if case % 3 else size, size, replace=False))
        edges = ids[edges]
        graphs = with_and_without_hubs(edges, ids, int(rng.choice([1, 2, 5, 70])))
        chosen = rng.choice(ids, int(rng.integers(1, size + 10)))
        expected = truth(edges, ids, chosen)
        for graph in graphs:
            found = graph.distances(chosen)
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, expected, err_msg=f"{case} {graph}")
        sets = [rng.choice(ids, int(rng.integers(1, 6))) for _ in range(int(rng.integers(1, 5)))]
        flat = np.concatenate(sets)
        among = truth(edges, ids, flat)
        among = np.where(among < 0, 10**6, among)
        begins = np.cumsum([0, *map(len, sets)])[:-1]
        nearest = np.minimum.reduceat(among, begins, axis=1)
        nearest = np.where(nearest == 10**6, -1, nearest)
        for graph in graphs:
            hits = graph.hitting(sets)
            assert [h.shape for h in hits] == [(len(s), len(sets)) for s in sets]
            np.testing.assert_array_equal(np.concatenate(hits), nearest, err_msg=f"{case} {graph}")


def test_many_vertices(rng):
    size = 3000
    edges = random_edges(rng, size, 7000, True)
    graph, searched = with_and_without_hubs(edges, np.arange(size), 3)
    chosen = rng.permutation(size)[:1500]
    np.testing.assert_array_equal(graph.distances(chosen), searched.distances(chosen))


@pytest.mark.parametrize("count", [1, 4])
def test_long_paths_and_small_components(count):
    # a hub with a tail, and a path beyond all hubs
    star = [(0, leaf) for leaf in range(1, 12)]
    tail = [(v, v + 1) for v in range(11, 60)]
    lonely = [(v, v + 1) for v in range(100, 320)]
    edges = np.array(star + tail + lonely)
    chosen = np.array([0, 1, 35, 60, 100, 101, 320, 250])
    for graph in with_and_without_hubs(edges, None, count):
        np.testing.assert_array_equal(
            graph.distances(chosen), truth(edges, graph.vertices, chosen)
        )
    # too wide for hubs
    graph, _ = with_and_without_hubs(np.array([(v, v + 1) for v in range(200)]), None, count)
    assert graph.distances([0, 200]).tolist() == [[0, 200], [200, 0]]
