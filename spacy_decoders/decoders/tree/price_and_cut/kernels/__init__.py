"""The compiled loops of price and cut."""
