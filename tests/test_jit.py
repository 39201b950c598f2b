"""Functions without an entry from Python: linked into their callers, fresh or from the cache."""

import numpy as np
from numba import types

from spacy_decoders.jit import internal
from tests.processes import forked_python

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


def test_an_internal_function_has_no_entry_from_python():
    _running.compile((types.float64[::1],))
    compiled = _running.overloads[(types.float64[::1],)]
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name) == 0


def test_one_from_the_cache_is_linked_into_a_new_caller(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(MODULE)
    given = {"log": tmp_path / "log", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(name):
        return forked_python(script, name, **given).split()

    assert run("total") == ["30.0", "0"]
    value, hits = run("largest")
    assert value == "16.0"
    assert int(hits) >= 1  # the array of squares, which was compiled for the other
    assert run("largest")[0] == "16.0"
