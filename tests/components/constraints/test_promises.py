"""Random sets of demands: each holds in what is written to the Doc, or is named in a least set."""

import warnings

import pytest

from tests.campaigns.wishes import COMPONENTS, faults


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_demand_is_kept_or_named(shipped, component):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a sentence has no tree
        assert [fault for seed in range(60) for fault in faults(shipped, component, seed)] == []
