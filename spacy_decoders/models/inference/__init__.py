"""Networks of thinc without training: the same numbers, in compiled loops and from tables."""
