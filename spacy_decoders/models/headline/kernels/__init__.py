"""The compiled loops over phrases."""
