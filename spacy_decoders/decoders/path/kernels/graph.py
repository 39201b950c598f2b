"""What every loop over paths is given."""

from typing import Any, NamedTuple

__all__ = ["Graph", "Prices"]


class Graph(NamedTuple):
    """A problem as arrays, ``-inf`` where something is forbidden.

    A named tuple takes numba about 2 us more to unpack than a plain one. Kernels that are called
    from Python for every problem take a plain tuple and name it themselves.
    """

    #: Worth of beginning with each vertex, and (`end`) of ending there. **Shape:** ``(n,)``
    start: Any
    #: Worth of the edge from row to column; none within a class. **Shape:** ``(n, n)``, float64
    edges: Any
    #: The transpose of `edges`.
    reversed_edges: Any
    end: Any
    #: The class of each vertex, from 0 without holes. **Shape:** ``(n,)``, int32
    classes: Any
    #: How many classes there are.
    class_count: int


class Prices(NamedTuple):
    """Lagrangian multipliers of the classes."""

    vertex: Any  # (n,), float64: what a visit of each vertex pays, alike within a class
    total: float  # the sum over classes: what a path gets back
