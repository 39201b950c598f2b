"""Building a concept base from dumps larger than memory, in stages that can be resumed."""
