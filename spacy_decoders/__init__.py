"""Exact, certified structured decoding for spaCy."""

from typing import TYPE_CHECKING

from .budget import Budget
from .bundled import load
from .certificate import Certificate
from .errors import (
    DecodersError,
    InfeasibleError,
    NotDecomposableError,
    ProblemError,
    StorageError,
    UndecidedError,
)
from .lazy import lazy_names
from .verify import Verification, verify

if TYPE_CHECKING:
    from .display import explain
    from .knowledge.concept_base import ConceptBase

__all__ = [
    "Budget",
    "Certificate",
    "ConceptBase",
    "DecodersError",
    "InfeasibleError",
    "NotDecomposableError",
    "ProblemError",
    "StorageError",
    "UndecidedError",
    "Verification",
    "__version__",
    "explain",
    "load",
    "verify",
]

__version__ = "0.3.0"


# imported on first use, since they are slow to import
__getattr__, __dir__ = lazy_names(__name__)
