"""Compiled code that is kept on disk is that of the sources as they are."""

import os
import subprocess
import sys

import pytest

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


RENAMED = """
from typing import NamedTuple
from spacy_decoders.jit import jit


class {0}(NamedTuple):
    number: int


@jit()
def ask(pair):
    return pair.number


print(ask({0}(7)), sum(ask.stats.cache_hits.values()))
"""


def test_an_index_that_names_a_class_of_before_counts_as_none(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    for name in ("Pair", "Pair", "Couple"):
        text = RENAMED.format(name)
        if not (tmp_path / "asker.py").exists() or (tmp_path / "asker.py").read_text() != text:
            (tmp_path / "asker.py").write_text(text)
        run = subprocess.run(
            [sys.executable, "-c", "import asker"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(run.stdout.split())
    assert printed == [["7", "0"], ["7", "1"], ["7", "0"]]


KERNEL = """
from spacy_decoders.jit import jit


@jit()
def double(x):
    return 2 * x


print(double(4), sum(double.stats.cache_hits.values()))
"""
READ_ONLY = """
from numba.core.caching import IndexDataCacheFile

def refuse(*given):
    raise PermissionError("read-only")

IndexDataCacheFile._open_for_write = refuse
"""


@pytest.mark.parametrize("place", ["given", "in tree"])
def test_code_is_used_from_where_nothing_can_be_written(tmp_path, place):
    (tmp_path / "kernel.py").write_text(KERNEL)
    given = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} if place == "given" else {}
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    printed, told = [], []
    for before in ("", READ_ONLY):
        run = subprocess.run(
            [sys.executable, "-c", f"{before}\nimport kernel"],
            cwd=tmp_path,
            env={**environment, **given},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(run.stdout.split())
        told.append(run.stderr)
    assert printed == [["8", "0"], ["8", "1"]]
    assert "compiled 1 functions" in told[0] and told[1] == ""
