"""What scores: thinc architectures, counted models, factor templates."""
