"""Options of components and their defaults: all that spaCy imports on every start.

A factory imports its component when it creates one, so that unused components cost nothing.
"""

from . import attribute_ruler  # noqa: F401 - registers its factory with those of all others
