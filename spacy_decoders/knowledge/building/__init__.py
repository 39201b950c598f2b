"""Building a concept base from dumps larger than memory."""
