"""Corpora in their formats, as spaCy's Examples."""
