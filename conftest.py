"""What tests and doctests share: each begins from the same random state, in whatever order."""

import pytest
from spacy.util import fix_random_seed


@pytest.fixture(autouse=True)
def same_random_state() -> None:
    """Weights begin alike in every run, whichever tests ran before in the process."""
    fix_random_seed(0)
