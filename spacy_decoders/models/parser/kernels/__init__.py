"""Compiled loops of the parser's scores."""
