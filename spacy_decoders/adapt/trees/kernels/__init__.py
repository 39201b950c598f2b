"""The compiled loops over spans of a sentence."""
