"""The compiled loops, one file for each entry point."""
