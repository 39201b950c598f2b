"""The mathematics: decoders over numpy arrays, without spaCy."""
