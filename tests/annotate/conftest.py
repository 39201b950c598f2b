"""A pipeline that stumbles over some documents, in a module of its own."""

import os
import textwrap

import pytest

#: A pipeline package whose component refuses some documents and whose process can be killed.
PACKAGE = """
import os, signal, time
from pathlib import Path
import spacy
from spacy.language import Language


@Language.component("touchy")
def touchy(doc):
    if "poison" in doc.text:
        raise ValueError("cannot stand poison")
    if "deadly" in doc.text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "endless" in doc.text:
        Path(os.environ["STUMBLED"]).touch()
        while True:
            time.sleep(1)
    if "stumble" in doc.text:
        marker = Path(os.environ["STUMBLED"])
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return doc


def load(**overrides):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("touchy")
    return nlp
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """An installed pipeline package, seen by worker processes too."""
    name = f"touchy_{tmp_path.name}".replace("-", "_")
    site = tmp_path / "site"
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(textwrap.dedent(PACKAGE))
    meta = site / f"{name}-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    monkeypatch.setenv("STUMBLED", str(tmp_path / "stumbled"))
    return name
