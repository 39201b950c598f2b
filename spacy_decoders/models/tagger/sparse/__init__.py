"""Scores of tag sequences from hashed features: linear, sparse, compiled."""
