"""The scores of link candidates."""
