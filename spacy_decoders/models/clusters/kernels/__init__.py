"""Compiled loops of the word clusters."""
