"""What spaCy imports on every start, and all that it imports: options and their defaults.

A factory imports its component when it makes one, so that whoever uses none pays for none.
"""
