"""The errors that this package raises on purpose.

Every message names the argument, what is wrong with it, and what to do.
"""

__all__ = [
    "DecodersError",
    "InfeasibleError",
    "NotDecomposableError",
    "ProblemError",
    "StorageError",
]


class DecodersError(Exception):
    """Base class of every error that this package raises on purpose."""


class ProblemError(DecodersError, ValueError):
    """The given arrays or options do not describe a problem."""


class InfeasibleError(DecodersError, ValueError):
    """The problem is well formed, but no structure satisfies its constraints.

    Attributes
    ----------
    rules
        A smallest set of the problem's rules without any structure; empty where it isn't known.
    """

    rules: tuple[object, ...] = ()


class NotDecomposableError(DecodersError, ValueError):
    """The graph lacks the structure that a decomposing decoder relies on."""


class StorageError(ProblemError):
    """A folder does not hold what was saved: files are missing, foreign or damaged."""
