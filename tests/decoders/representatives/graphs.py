"""Graphs and sets for the decoders that look into a graph."""

import networkx
import numpy as np


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
