"""Model files of CRFsuite, for the same labels, and for whatever else a chain model can give."""

from .model import CrfSuiteModel, EncodedItems, ModelFile, read_model_file

__all__ = ["CrfSuiteModel", "EncodedItems", "ModelFile", "read_model_file"]
