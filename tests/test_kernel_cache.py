"""Compiled code that is kept on disk is that of the sources as they are, inner functions too."""

from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba import types

import spacy_decoders
from spacy_decoders.jit import internal
from spacy_decoders.kernel_cache import KernelCache
from tests.processes import forked_python, python

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


def outputs(folder, command, name, texts):
    """Return what a script prints after a file gets each text; an equal text is not rewritten."""
    printed, path = [], folder / name
    for text in texts:
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        run = forked_python(command, folder=folder, NUMBA_CACHE_DIR=str(folder / "cache"))
        printed.append(run.split())
    return printed


def test_a_changed_callee_is_noticed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    texts = [CALLEE.format(number) for number in (1, 1, 22)]
    printed = outputs(tmp_path, "caller.py", "callee.py", texts)
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
    texts = [RENAMED.format(name) for name in ("Pair", "Couple")]
    (tmp_path / "ask.py").write_text("import asker")  # which names the class by its module
    printed = outputs(tmp_path, "ask.py", "asker.py", texts)
    assert printed == [["7", "0"], ["7", "0"]]


KERNEL = """
from spacy_decoders.jit import jit


@jit()
def double(x):
    return 2 * x


print(double(4), sum(double.stats.cache_hits.values()))
"""
READ_ONLY = """
from spacy_decoders import kernel_cache

def refuse(*given):
    raise PermissionError("read-only")

kernel_cache.written_whole = refuse
"""


@pytest.mark.parametrize("place", ["given", "in tree"])
def test_code_is_used_from_where_nothing_can_be_written(tmp_path, place):
    (tmp_path / "kernel.py").write_text(KERNEL)
    given = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")} if place == "given" else {}
    printed, told = [], []
    for before in ("", READ_ONLY):
        code = f"{before}\nimport kernel"
        run = python("-c", code, folder=tmp_path, without=("NUMBA_CACHE_DIR",), **given)
        printed.append(run.stdout.split())
        told.append(run.stderr)
    assert printed == [["8", "0"], ["8", "1"]]
    assert "compiled 1 function in" in told[0] and told[1] == ""


def test_code_that_can_not_be_kept_is_told(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    dotted = "from spacy_decoders.kernel_cache import progress\nprogress.is_dotted = True"
    code = f"{READ_ONLY}\n{dotted}\nimport kernel"
    run = python("-c", code, folder=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert "\n.\nspacy-decoders: compiled 1 function in" in run.stderr
    assert "could not be kept" in run.stderr and "NUMBA_CACHE_DIR" in run.stderr
    silent = f"{READ_ONLY}\nimport sys\nsys.stderr = None\nimport kernel"
    assert python("-c", silent, folder=tmp_path).stdout.split() == ["8", "0"]


def test_code_that_is_damaged_or_of_other_sources_is_not_used(tmp_path):
    """Neither after a write that failed, as on a full disk."""
    (tmp_path / "kernel.py").write_text(KERNEL)

    def run(before=""):
        code = f"{before}\nimport kernel"
        cache = str(tmp_path / "cache")
        return python("-c", code, folder=tmp_path, NUMBA_CACHE_DIR=cache).stdout.split()

    assert [run(), run()] == [["8", "0"], ["8", "1"]]
    (tmp_path / "kernel.py").write_text(KERNEL.replace("2 * x", "3 * x"))
    assert [run(READ_ONLY), run(), run()] == [["12", "0"], ["12", "0"], ["12", "1"]]
    (kept,) = tmp_path.glob("cache/*/kernel.double*.nbc")  # none of the other sources
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes(content)
    assert [run(), run()] == [["12", "0"], ["12", "1"]]


MODULE = """
import sys
import numpy as np
from spacy_decoders.jit import internal, jit

@internal()
def square(x):
    return x * x

@internal(counted=True)
def squares(count):
    out = np.empty(count)
    for i in range(count):
        out[i] = square(i)
    return out

@jit()
def total(count):
    return squares(count).sum()

@jit()
def largest(count):
    return squares(count).max()

print({"total": total, "largest": largest}[sys.argv[1]](5))
print(sum(sum(f.stats.cache_hits.values()) for f in (square, squares, total, largest)))
"""


@internal(counted=True)
def _running(values):
    return np.cumsum(values)


def test_no_two_functions_share_a_name():
    """Code that processes keep for two of one name may have one symbol, which crashes a third."""
    root = Path(spacy_decoders.__file__).parents[1]
    for path in root.glob("spacy_decoders/**/kernels/*.py"):
        module = import_module(".".join(path.relative_to(root).with_suffix("").parts))
        found = [of for of in vars(module).values() if hasattr(of, "py_func")]
        own = {of.py_func for of in found if isinstance(of._cache, KernelCache)}
        names = Counter(of.__qualname__ for of in own if of.__module__ == module.__name__)
        assert set(names.values()) <= {1}, names


def test_an_internal_function_has_no_entry_from_python():
    _running.compile((types.float64[::1],))
    compiled = _running.overloads[(types.float64[::1],)]
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name) == 0


def test_one_from_the_cache_is_linked_into_a_new_caller(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(MODULE)

    def run(name):
        return forked_python(script, name, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()

    assert run("total") == ["30.0", "0"]
    value, hits = run("largest")
    assert value == "16.0"
    assert int(hits) >= 1  # the array of squares, which was compiled for the other
    assert run("largest")[0] == "16.0"
