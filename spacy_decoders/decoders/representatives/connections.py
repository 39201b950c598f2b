"""The distances after connecting each set of candidates, without editing the graph.

Both connections of the paper give every set a *centre*: for a clique an imaginary one at
half an edge from each member, for a star its middle vertex. A shortest path over new edges
runs from centre to centre, so the new distances can be computed from the old ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["connect"]

#: The length, in half-edges, that stands for "no path"; sums of a few of them fit int32.
FAR = 2**28


def connect(
    distances: NDArray[np.int32],
    sets: Sequence[NDArray[np.int32]],
    connection: str,
    degrees: NDArray[Any],
) -> NDArray[np.int32]:
    """Return the distances after connecting the members of every set.

    The connection ``"maximal"`` makes each set a clique, ``"minimal"`` joins the vertex of highest
    degree of its largest component to that of highest degree of each other component.

    **Shape:** distances int32 (v, v), -1 where there is no path; sets, rows of these; degrees
    (v,).

    References
    ----------
    Blanco, Boldi, Marino 2014, section 5, and footnote 5 for the minimal connection.

    Examples
    --------
    >>> far = np.array([[0, 4, -1], [4, 0, -1], [-1, -1, 0]], dtype=np.int32)
    >>> connect(far, [np.array([0, 1]), np.array([1, 2])], "maximal", np.ones(3)).tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    v = len(distances)
    far = np.full((v + len(sets),) * 2, FAR, dtype=np.int32)  # vertices, then centres
    far[:v, :v] = np.where(distances < 0, FAR, 2 * distances)
    for centre, members in enumerate(sets, v):
        half_edges = np.ones(len(members), dtype=np.int32)
        if connection == "minimal":
            members, half_edges = _star(members, distances, degrees)
        direct = (far[:centre, members] + half_edges).min(axis=1)
        far[:centre, centre] = far[centre, :centre] = direct
    for centre in range(v, len(far)):  # Floyd-Warshall: every new path runs through a centre
        np.minimum(far, far[:, [centre]] + far[[centre]], out=far)
    halves = far[:v, :v]
    np.fill_diagonal(halves, 0)
    return np.where(halves >= FAR, -1, halves // 2).astype(np.int32)


def _star(
    members: NDArray[np.int32], distances: NDArray[np.int32], degrees: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the middle of the star and its tips, with their half-edges from the middle."""
    from scipy.sparse.csgraph import connected_components

    # ties of degree go to the first row, and rows are in the order of the vertices' ids
    members = np.unique(members)
    adjacent = distances[np.ix_(members, members)] == 1
    count, component = connected_components(adjacent, directed=False)
    tips: list[tuple[int, int]] = []
    for part in range(count):
        inside = np.flatnonzero(component == part)
        tips.append((-len(inside), int(inside[np.argmax(degrees[members[inside]])])))
    # the largest component first; among equal ones, that of the tip of highest degree
    tips.sort(key=lambda tip: (tip[0], -int(degrees[members[tip[1]]]), tip[1]))
    chosen = members[[tip for _, tip in tips]]
    offsets = np.full(len(chosen), 2, dtype=np.int32)
    offsets[0] = 0
    return chosen, offsets
