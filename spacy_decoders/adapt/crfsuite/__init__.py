"""Model files of CRFsuite: the same labels, and what else can be asked of a chain."""

from .model import CrfSuiteModel, EncodedItems, ModelFile, read_model_file

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "read_model_file"]
