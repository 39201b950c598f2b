"""Exact, certified structured decoding for spaCy."""

from .budget import Budget
from .bundled import load
from .certificate import Certificate
from .errors import DecodersError, InfeasibleError, NotDecomposableError, ProblemError

__all__ = [
    "Budget",
    "Certificate",
    "DecodersError",
    "InfeasibleError",
    "NotDecomposableError",
    "ProblemError",
    "__version__",
    "load",
]

__version__ = "0.1.0"
