"""The compiled loops of the parser's scores."""
