"""Model files of CRFsuite: the same labels, and what else can be asked of a chain.

Names load on first use, so that naming them compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .features import EncodedItems
    from .model import CrfSuiteModel
    from .model_file import ModelFile, read_model_file

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "read_model_file"]

_HOMES = {
    "CrfSuiteModel": "model",
    "EncodedItems": "features",
    "ModelFile": "model_file",
    "read_model_file": "model_file",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found  # the next time this function is not asked
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
