"""What a candidate is worth by itself, and beside the others."""
