"""Compiled loops of the sparse model."""
