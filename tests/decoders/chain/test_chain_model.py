"""The problem and its checks."""

import numpy as np
import pytest

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.errors import ProblemError


def test_refuses_what_is_no_model():
    with pytest.raises(ProblemError, match="transitions: expected a square"):
        ChainModel(np.zeros((2, 3)))
    with pytest.raises(ProblemError, match="at least one label"):
        ChainModel(np.zeros((0, 0)))
    with pytest.raises(ProblemError, match=r"transitions: .*index \(0, 1\)"):
        ChainModel([[0, np.nan], [0, 0]])
    with pytest.raises(ProblemError, match="start: expected shape"):
        ChainModel(np.zeros((2, 2)), start=[0, 0, 0])
    with pytest.raises(ProblemError, match="end: every score"):
        ChainModel(np.zeros((2, 2)), end=[0, np.inf])
