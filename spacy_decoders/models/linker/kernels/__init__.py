"""Compiled loops over the pair costs of candidates."""
