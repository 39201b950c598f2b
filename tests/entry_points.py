"""Entry points by their group, rather than among those of all packages for each name.

Much of the time that spaCy takes to make a component of a config goes into that search.
"""

import catalogue

__all__ = ["list_by_group"]


def list_by_group() -> None:
    """Let the registries have what they look for in a dict, which they take as well."""
    every = catalogue.AVAILABLE_ENTRY_POINTS
    if hasattr(every, "select"):
        groups = {group: list(every.select(group=group)) for group in every.groups}
        catalogue.AVAILABLE_ENTRY_POINTS = groups
