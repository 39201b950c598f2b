"""The systems of Blanco, Boldi and Marino (2014) and their baselines, for comparison."""
