"""What scores the parts of structures, by the component that uses it."""
