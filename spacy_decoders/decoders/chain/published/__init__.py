"""The methods of Belanger et al. (2012) and their baselines, for comparison."""
