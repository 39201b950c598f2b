"""The configs that ship are valid as they are, before a corpus is named."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from spacy.cli.debug_config import debug_config

CONFIGS = sorted((Path(__file__).parents[1] / "configs").glob("*.cfg"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_spacy_finds_nothing_to_debug(path, capsys):
    if path.stem.startswith("transformer") and find_spec("spacy_curated_transformers") is None:
        pytest.skip("needs the extra 'transformers'")
    debug_config(path)
    assert "Config is valid" in capsys.readouterr().out
