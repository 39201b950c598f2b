"""Fast inference for thinc networks: compiled kernels and cached word vectors."""
