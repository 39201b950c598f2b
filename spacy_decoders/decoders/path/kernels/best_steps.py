"""The best way to reach each vertex by one more edge."""

import numpy as np

from ....jit import jit

__all__ = ["best_steps"]


@jit()
def best_steps(values, vertices, count, edges, out):
    """Set out[v] to the best of values[i] + edges[vertices[i], v], for the first `count` i.

    The inner loop is a plain elementwise maximum over v, which compiles to vector code; four rows
    at once save three of four loads and stores of the maxima.
    """
    n = out.size
    quads = count - count % 4
    for v in range(n):
        out[v] = -np.inf
    for i in range(0, quads, 4):
        value0 = values[i]
        value1 = values[i + 1]
        value2 = values[i + 2]
        value3 = values[i + 3]
        row0 = edges[vertices[i]]
        row1 = edges[vertices[i + 1]]
        row2 = edges[vertices[i + 2]]
        row3 = edges[vertices[i + 3]]
        for v in range(n):
            a = row0[v] + value0
            b = row1[v] + value1
            c = row2[v] + value2
            d = row3[v] + value3
            a = a if a > b else b
            c = c if c > d else d
            a = a if a > c else c
            out[v] = a if a > out[v] else out[v]
    for i in range(quads, count):
        value0 = values[i]
        row0 = edges[vertices[i]]
        for v in range(n):
            a = row0[v] + value0
            out[v] = a if a > out[v] else out[v]
