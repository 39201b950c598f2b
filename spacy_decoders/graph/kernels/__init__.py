"""Compiled loops of the concept graph."""
