"""A small random network."""

import networkx
import pytest


@pytest.fixture
def network() -> networkx.Graph:
    return networkx.gnp_random_graph(60, 0.05, seed=3)
