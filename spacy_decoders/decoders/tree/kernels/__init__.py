"""The compiled loops of the tree decoders, one file for each chart."""
