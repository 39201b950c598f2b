"""Best walks, which may visit a class more than once: a relaxation that bounds all paths."""

from typing import Any, NamedTuple

import numpy as np

from ....jit import jit

__all__ = [
    "Graph",
    "PriceSearch",
    "Prices",
    "best_steps",
    "lagrangian_bounds",
    "walk_bounds",
]


class Graph(NamedTuple):
    """A problem as arrays, ``-inf`` where something is forbidden.

    Numba takes about 2 us longer to unpack a named tuple than a plain one, so kernels that Python
    calls for every problem take a plain tuple and build this inside.
    """

    #: Score of starting, and (`end`) of ending, at each vertex. **Shape:** ``(n,)``
    start: Any
    #: Score of the edge from row to column; ``-inf`` within a class. **Shape:** ``(n, n)``,
    #: float64
    edges: Any
    #: The transpose of `edges`.
    reversed_edges: Any
    end: Any
    #: The class of each vertex, numbered contiguously from 0. **Shape:** ``(n,)``, int32
    classes: Any
    #: The number of classes.
    class_count: int


class Prices(NamedTuple):
    """Lagrangian multipliers of the classes."""

    vertex: Any  # (n,), float64: the price of visiting each vertex, equal within a class
    total: float  # the sum over classes, added to the bound of every path


#: The indices of :attr:`PriceSearch.state`.
FACTOR, STALLED, LOWEST = 0, 1, 2


class PriceSearch(NamedTuple):
    """The state of the subgradient method between two runs."""

    prices: Any  # (classes,): the prices of the classes at the next step
    best: Any  # (classes,): the prices that gave the lowest bound
    # (3,): the step size factor, the number of steps without progress, and the lowest bound
    state: Any


@jit()
def best_steps(values, vertices, count, edges, out):
    """Set out[v] to the maximum of values[i] + edges[vertices[i], v] over the first `count` i.

    The inner loop is a plain elementwise maximum over v, which compiles to vector code.
    """
    n = out.size
    for v in range(n):
        out[v] = -np.inf
    for i in range(count):
        value, row = values[i], edges[vertices[i]]
        for v in range(n):
            step = row[v] + value
            out[v] = step if step > out[v] else out[v]


@jit()
def _fill(arcs, last, prices, table):
    """Fill table[l, v], the score of the best walk of l vertices beyond v.

    `arcs[u]` is the row of edges between u, the vertex farther out, and each v.
    """
    n = last.size
    vertices = np.arange(n)
    values = np.empty(n)
    table[0] = last
    for steps in range(1, table.shape[0]):
        for u in range(n):
            values[u] = table[steps - 1, u] - prices[u]
        best_steps(values, vertices, n, arcs, table[steps])


@jit()
def walk_bounds(arcs, last, prices, steps):
    """Return table[l, v]: the best score, less prices, of l vertices beyond v, l = 0 ... steps.

    With the reversed edges and the ends it bounds the part of a path after v; with the edges
    and the starts, the part before v. The price of v itself is not included.
    """
    table = np.empty((steps + 1, last.size))
    _fill(arcs, last, prices, table)
    return table


@jit()
def _best_walk(start, edges, prices, table, walk):
    """Follow the table from the best first vertex; return the walk's score less its prices."""
    n = start.size
    length = walk.size
    value = -np.inf
    for v in range(n):
        candidate = start[v] - prices[v] + table[length - 1, v]
        if candidate > value:
            value = candidate
            walk[0] = v
    if value == -np.inf:
        return value
    for i in range(1, length):
        beyond = table[length - 1 - i]
        row = edges[walk[i - 1]]
        best = -np.inf
        for u in range(n):
            candidate = row[u] + (beyond[u] - prices[u])
            if candidate > best:
                best = candidate
                walk[i] = u
    return value


@jit()
def lagrangian_bounds(graph, length, incumbent, step_count, progress):
    """Lower the walk bound by a price on each class; return the lowest bound found.

    For prices p >= 0, the score of a path is at most sum(p) plus that of the best walk that
    pays p[c] at each visit of class c, since a path visits c at most once. The prices are updated
    by subgradient steps with Polyak's step size, resumed from `progress`.
    """
    start, edges, reversed_edges, end, classes, class_count = graph
    class_prices, best_prices, state = progress
    n = start.size
    prices = np.empty(n)
    visits = np.zeros(class_count, np.int64)
    walk = np.empty(length, np.int64)
    table = np.empty((length, n))
    for _ in range(step_count):
        total = 0.0
        for c in range(class_count):
            total += class_prices[c]
        for v in range(n):
            prices[v] = class_prices[classes[v]]
        _fill(reversed_edges, end, prices, table)
        value = _best_walk(start, edges, prices, table, walk)
        if value == -np.inf:
            state[LOWEST] = -np.inf
            return value
        bound = value + total
        if bound < state[LOWEST]:
            state[LOWEST] = bound
            state[STALLED] = 0.0
            for c in range(class_count):  # an array assignment takes a second more to compile
                best_prices[c] = class_prices[c]
        else:
            state[STALLED] += 1.0
            if state[STALLED] >= 4.0:
                state[FACTOR] *= 0.6
                state[STALLED] = 0.0
        if state[LOWEST] <= incumbent:
            break
        visits[:] = 0
        for i in range(length):
            visits[classes[walk[i]]] += 1
        norm = 0.0
        for c in range(class_count):
            if visits[c] > 1 or (class_prices[c] > 0.0 and visits[c] == 0):
                norm += (visits[c] - 1.0) ** 2
        if norm == 0.0:
            break  # every price is paid once: the subgradient is zero
        step = state[FACTOR] * max(bound - incumbent, 1e-3 * abs(bound) * state[FACTOR]) / norm
        for c in range(class_count):
            if visits[c] > 1 or (class_prices[c] > 0.0 and visits[c] == 0):
                class_prices[c] = max(0.0, class_prices[c] + step * (visits[c] - 1.0))
    return state[LOWEST]
