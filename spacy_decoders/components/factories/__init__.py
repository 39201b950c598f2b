"""The factories of components and their options: all that spaCy imports on every start.

A factory imports its component when it creates one, so that unused components cost nothing.
"""

from . import words  # noqa: F401 - registered with all others
