"""A fixed few of the random problems that `make fuzz` tries many of."""

from collections import Counter

import pytest

from tests.fuzz import CORES, check


@pytest.mark.parametrize("core", CORES)
def test_every_promise_is_kept(core):
    check(core, 160 if core == "tree" else 200, Counter(), derandomize=True)
