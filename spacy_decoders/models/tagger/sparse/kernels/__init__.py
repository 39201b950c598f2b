"""The compiled loops of the sparse model."""
