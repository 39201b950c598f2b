"""Compiled loops over dumps."""
