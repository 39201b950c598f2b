"""Scores of trees: arcs, labels, boundaries and factors beyond single arcs."""
