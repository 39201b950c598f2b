"""Pipelines that several tests use."""

import pytest

from tests.components.parser.parsing import make_nlp


@pytest.fixture(scope="package")
def trained():
    return make_nlp()
