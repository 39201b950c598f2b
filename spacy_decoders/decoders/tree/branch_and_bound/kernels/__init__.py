"""Compiled loops of branch and bound: bounding a node, branching, and the multipliers."""
