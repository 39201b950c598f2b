"""The compiled loops of the models."""
