"""Word clusters of raw text: words in like company are together."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_decoders.models.clusters.sources import clusters_of_paths

SCRIPT = Path(__file__).parents[2] / "projects" / "danish" / "scripts" / "clusters.py"


@pytest.mark.slow
def test_words_in_like_company_are_clustered(tmp_path):
    pytest.importorskip("brown_clustering")
    rng = random.Random(1)
    kinds = [["a", "the"], ["cat", "dog", "cow"], ["sleeps", "eats"], ["."]]
    lines = [" ".join(rng.choice(kind) for kind in kinds) for _ in range(200)]
    (tmp_path / "text").write_text("\n".join(lines))
    given = [SCRIPT, tmp_path / "text", tmp_path / "paths", "--clusters", "4"]
    subprocess.run([sys.executable, *map(str, given)], check=True)
    table = clusters_of_paths(tmp_path / "paths")
    path = {word: table.lookup([word])[0, 0] for word in ("a", "the", "cat", "dog", "cow")}
    assert path["cat"] == path["dog"] == path["cow"] != path["a"] == path["the"]
