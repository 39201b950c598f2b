"""Compiled code that is kept on disk is that of the sources as they are."""

import os
import subprocess
import sys

CALLEE = """
from spacy_decoders.jit import jit


@jit()
def answer():
    return {}
"""
CALLER = """
from callee import answer
from spacy_decoders.jit import jit


@jit()
def ask():
    return answer()


print(ask(), sum(ask.stats.cache_hits.values()))
"""


def test_a_changed_callee_is_noticed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    for number in (1, 1, 22):
        text = CALLEE.format(number)
        if not (tmp_path / "callee.py").exists() or (tmp_path / "callee.py").read_text() != text:
            (tmp_path / "callee.py").write_text(text)
        run = subprocess.run(
            [sys.executable, "caller.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(run.stdout.split())
    assert printed == [["1", "0"], ["1", "1"], ["22", "0"]]
