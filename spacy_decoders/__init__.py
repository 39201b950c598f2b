"""Exact, certified structured decoding for spaCy."""

from typing import Any

from .budget import Budget
from .bundled import load
from .certificate import Certificate
from .errors import DecodersError, InfeasibleError, NotDecomposableError, ProblemError
from .verify import Verification, verify

__all__ = [
    "Budget",
    "Certificate",
    "DecodersError",
    "InfeasibleError",
    "NotDecomposableError",
    "ProblemError",
    "Verification",
    "__version__",
    "explain",
    "load",
    "verify",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "explain":  # its templates are loaded only where a page is wanted
        from .display import explain

        return explain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
