"""Readers of open data from which a knowledge base of real size is built by one command."""
