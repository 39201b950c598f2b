"""Pipelines that several tests use."""

from __future__ import annotations

import pytest

from tests.components.parser.parsing import make_nlp


@pytest.fixture(scope="package")
def trained():
    return make_nlp()
