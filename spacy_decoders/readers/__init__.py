"""Readers of corpora, which yield spaCy's Examples."""
