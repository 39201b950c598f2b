"""What the method as published does at a node: its own steps, and linear lower bounds.

All parts are factors there, and the upper bounds those of :mod:`.counted_factors`.
"""

from .....jit import jit
from ...kernels.rows import copy_all
from .counted_factors import bound_factors_below, settle_factors, step_factors
from .node import branching_arc
from .relaxation import gather, room


@jit()
def step(scores, multipliers, mask, heads, length, options):
    """Take a projected subgradient step of some length (section 3.2).

    Multipliers get their first values before it. Returns the head and the modifier of the arc
    whose factors are bounded worst at the tree (section 3.3).
    """
    parts = gather(scores, multipliers, mask)
    settle_factors(parts.factors, multipliers.factors)
    arc = branching_arc(parts, heads, options)
    step_factors(parts.factors, multipliers.factors, heads, length)
    return arc


@jit()
def bounded_below(scores, multipliers, mask, heads):
    """Return scores of arcs, of which a tree's sum is its score, others' no more (section 3.4)."""
    parts = gather(scores, multipliers, mask)
    arcs, _ = room(parts, False)
    copy_all(arcs, scores.arcs)
    bound_factors_below(parts.factors, heads, arcs)
    return arcs
