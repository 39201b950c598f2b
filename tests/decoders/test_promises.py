"""A fixed few of the random problems that `make fuzz` tries many of."""

from collections import Counter

import pytest

from tests.decoders.test_arguments import DECODERS
from tests.fuzz import CORES, check


@pytest.mark.parametrize("core", CORES)
def test_every_promise_is_kept(core):
    met: Counter[str] = Counter()
    check(core, 160 if core == "tree" else 200, met, derandomize=True)
    decoders = {type(of).__name__ for home, of in DECODERS if home.__name__.endswith(core)}
    assert decoders and decoders <= {name.replace(",", " ").split()[0] for name in met}
