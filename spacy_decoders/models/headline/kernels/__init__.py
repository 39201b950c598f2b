"""Compiled loops of the headline graph."""
