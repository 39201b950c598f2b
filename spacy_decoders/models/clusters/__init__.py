"""Word clusters and vectors: their sources, and the tables saved with a pipeline."""
