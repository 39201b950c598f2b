"""The compiled loops of the tree decoders."""
