"""Pipelines that several tests use."""

import pytest

from tests.components.headline.titled import blank, examples


@pytest.fixture(scope="package")
def trained():
    nlp = blank(length=2, n_best=3)
    nlp.initialize(lambda: examples(nlp))
    return nlp
