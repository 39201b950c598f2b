"""Word clusters: where they come from, and the table that is kept with a pipeline."""
