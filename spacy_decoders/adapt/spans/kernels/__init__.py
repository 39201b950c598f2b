"""The compiled loops over scored spans."""
