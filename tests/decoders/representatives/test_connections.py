"""Connecting sets in closed form gives the distances of the edited graph."""

import networkx
import numpy as np
import pytest

from spacy_decoders.decoders.representatives import ExactRepresentatives, RepresentativesProblem
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
        best = float(min(all_representatives(problem).values()))
        solution = ExactRepresentatives().decode(problem)
        assert solution.certificate.is_optimal
        assert solution.certificate.score == pytest.approx(best)
        assert [s[c] for s, c in zip(sets, solution.choices, strict=True)] == (
            solution.vertices.tolist()
        )
