"""Pair costs from shared neighbours agree with sets of neighbours counted one by one."""

import numpy as np
import pytest

from spacy_decoders.graph import ConceptGraph, adjacency, shared_neighbour_cosine


def random_graph(rng, size, edges):
    pairs = rng.integers(size, size=(edges, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    neighbours = {v: set() for v in range(size)}
    for u, v in pairs.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    return ConceptGraph.from_edges(pairs, vertices=np.arange(size)), neighbours


@pytest.mark.parametrize("within", ["vertices", "graph"])
@pytest.mark.parametrize(("edges", "count"), [(0, 12), (5, 0), (5, 12), (200, 12)])
def test_adjacency_and_cosine_against_sets(rng, edges, count, within):
    graph, neighbours = random_graph(rng, 30, edges)
    chosen = rng.permutation(30)[:count]
    joined = adjacency(graph, chosen)
    given = {"joined": joined} if within == "vertices" else {}
    cosine = shared_neighbour_cosine(graph, chosen, **given)
    assert joined.shape == cosine.shape == (count, count)
    inside = set(chosen.tolist()) if within == "vertices" else set(neighbours)
    near = {v: neighbours[v] & inside for v in neighbours}
    degrees = {v: len(near[v]) for v in near}
    falls = {v: np.log(1.5 + d) if given else max(1, d) ** 0.5 for v, d in degrees.items()}
    weight = {v: 1 / falls[v] for v in near}
    total = {v: sum(weight[x] for x in near[v] | {v}) for v in near}
    for i, u in enumerate(chosen.tolist()):
        for j, v in enumerate(chosen.tolist()):
            assert joined[i, j] == (v in neighbours[u])
            shared = (near[u] | {u}) & (near[v] | {v})
            expected = sum(weight[x] for x in shared) / np.sqrt(total[u] * total[v])
            assert cosine[i, j] == pytest.approx(expected)
