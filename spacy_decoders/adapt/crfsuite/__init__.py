"""Model files of CRFsuite: the same labels, and what else can be asked of a chain.

Names load on first use, so that naming them compiles nothing.
"""

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .model import CrfSuiteModel, EncodedItems
    from .model_file import ModelFile, read_model_file

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "read_model_file"]

__getattr__, __dir__ = lazy_names(__name__)
