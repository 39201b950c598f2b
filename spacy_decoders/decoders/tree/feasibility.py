"""Whether a set of arcs contains any tree: the proof behind "infeasible"."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .problem import NO_GAPS

__all__ = ["tree_exists"]


def tree_exists(allowed: NDArray[np.bool_], projective: bool, single_root: bool) -> bool:
    """Return whether the allowed arcs contain a tree.

    For non-projective trees, whether all tokens can be reached from the root; for projective ones,
    whether a chart with zero scores contains one.

    Examples
    --------
    >>> allowed = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)
    >>> tree_exists(allowed, True, True), tree_exists(allowed.T, True, True)
    (True, False)
    """
    from .kernels import eisner, proofs  # compiled where they are first needed

    if not projective:
        return bool(proofs.reaches_all(allowed, single_root))
    arcs = np.where(allowed, 0.0, -np.inf)
    arcs.flags.writeable = False
    _, chart, _, _ = eisner.charted(arcs, single_root, NO_GAPS)
    # an incorrect chart has an infinite bound: then nothing is proven
    return bool(proofs.chart_bound(arcs, single_root, NO_GAPS, chart) > -np.inf)
