"""A small random network, with a loop."""

from __future__ import annotations

import networkx
import pytest


@pytest.fixture
def network() -> networkx.Graph:
    graph = networkx.gnp_random_graph(60, 0.05, seed=3)
    graph.add_edge(5, 5)
    return graph


def plain(network: networkx.Graph) -> networkx.Graph:
    graph = network.copy()
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    return graph
