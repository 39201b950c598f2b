"""Compiled loops: one file for each entry point, flat arrays and offsets."""
