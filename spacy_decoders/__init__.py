"""Exact, certified structured decoding for spaCy."""

from typing import TYPE_CHECKING, Any

from .budget import Budget
from .bundled import load
from .certificate import Certificate
from .errors import (
    DecodersError,
    InfeasibleError,
    NotDecomposableError,
    ProblemError,
    StorageError,
)
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
    "Verification",
    "__version__",
    "explain",
    "load",
    "verify",
]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    # imported where they are wanted: templates of pages, arrays of knowledge bases
    if name == "explain":
        from .display import explain

        return explain
    if name == "ConceptBase":
        from .knowledge.concept_base import ConceptBase

        return ConceptBase
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
