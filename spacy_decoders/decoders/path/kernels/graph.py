"""What every loop over paths is given."""

from typing import Any, NamedTuple

__all__ = ["Graph", "Prices"]


class Graph(NamedTuple):
    """A problem as arrays, ``-inf`` where something is forbidden.

    A named tuple takes numba about 2 us more to unpack than a plain one. Kernels that are called
    from Python for every problem take a plain tuple and name it themselves.

    Attributes
    ----------
    start, end
        Worth of beginning and of ending with each vertex. **Shape:** ``(n,)``, float64
    edges
        Worth of the edge from row to column; none within a class. **Shape:** ``(n, n)``, float64
    reversed_edges
        The transpose of `edges`.
    classes
        The class of each vertex, from 0 without holes. **Shape:** ``(n,)``, int32
    class_count
        How many classes there are.
    """

    start: Any
    edges: Any
    reversed_edges: Any
    end: Any
    classes: Any
    class_count: int


class Prices(NamedTuple):
    """Lagrangian multipliers of the classes."""

    vertex: Any  # (n,), float64: what a visit of each vertex pays, alike within a class
    total: float  # the sum over classes: what a path gets back
