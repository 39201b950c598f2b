"""The compiled loops of colour-coding."""
