"""Scores of tag sequences, and the losses that train them."""
