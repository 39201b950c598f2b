"""Readers of Wikipedia and Wikidata dumps: streamed, bad rows counted and never fatal."""
