"""The spaCy components."""
