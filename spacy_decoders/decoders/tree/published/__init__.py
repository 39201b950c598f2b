"""Methods as their papers print them, for comparison."""
