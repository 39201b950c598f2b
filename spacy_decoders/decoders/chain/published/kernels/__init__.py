"""Compiled loops of the published methods."""
