"""Models that score the parts of structures, by the component that uses them."""
