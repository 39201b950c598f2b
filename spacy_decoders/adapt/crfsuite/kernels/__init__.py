"""The compiled loops over attributes and labels."""
