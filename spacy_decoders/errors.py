"""The errors that this package raises on purpose.

Every message names the argument, what is wrong with it, and what to do.
"""

__all__ = [
    "CONTROLS",
    "DecodersError",
    "InfeasibleError",
    "NotDecomposableError",
    "ProblemError",
    "StorageError",
    "UndecidedError",
]


#: Characters that no page or terminal may get: the replacement character stands for them.
CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {*b"\t\n\r"}, "\ufffd")


class DecodersError(Exception):
    """Base class of every error that this package raises on purpose."""


class ProblemError(DecodersError, ValueError):
    """The given arrays or options do not describe a problem."""


class InfeasibleError(DecodersError, ValueError):
    """The problem is well formed, but no structure satisfies its constraints.

    Attributes
    ----------
    rules
        Some of the problem's rules that no structure satisfies together; empty if none satisfies
        the problem even without rules, or such rules are not known.
    is_least
        Whether dropping any one of them makes a structure possible.
    """

    rules: tuple[object, ...] = ()
    is_least: bool = False


class UndecidedError(DecodersError):
    """The budget ended before any structure that satisfies the constraints was found.

    There may be one: nothing is proven, in contrast to `InfeasibleError`.
    """


class NotDecomposableError(DecodersError, ValueError):
    """The graph lacks the structure that a decomposing decoder relies on."""


class StorageError(ProblemError):
    """A folder does not hold what was saved: files are missing, foreign or damaged."""
