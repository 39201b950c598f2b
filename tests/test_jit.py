"""Compiled functions called from Python."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from spacy_decoders.jit import jit


class Named(NamedTuple):
    """An array in a named tuple."""

    array: Any


@jit()
def named_arrays(size):
    return Named(np.zeros(size)), np.ones(size), (Named(np.ones(size)), size)


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_what_a_handler_raises_while_results_are_made_is_raised(calls, monkeypatch):
    """A handler of a signal runs when Python code does, as in the class of a named tuple."""
    make, left = Named.__new__, iter(range(calls))

    def interrupted(*given):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return make(*given)

    first, ones, (second, size) = named_arrays(3)
    assert (first.array + ones).tolist() == second.array.tolist() and size == 3
    monkeypatch.setattr(Named, "__new__", interrupted)
    if calls == 2:
        assert named_arrays(3)[2][1] == 3
    else:
        with pytest.raises(KeyboardInterrupt):
            named_arrays(3)
