"""The compiled loops over the labels of words."""
