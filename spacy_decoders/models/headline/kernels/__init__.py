"""Compiled loops over phrases."""
