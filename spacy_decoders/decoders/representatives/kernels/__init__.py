"""The compiled loops of choosing representatives."""
