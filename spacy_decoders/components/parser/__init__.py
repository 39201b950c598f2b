"""``branch_and_bound_parser``: dependency trees that are the best by proof."""
