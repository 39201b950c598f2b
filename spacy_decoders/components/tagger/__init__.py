"""``exact_tagger``: tag sequences by exact, certified decoding."""
