"""Gradients against differences."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

__all__ = ["assert_slopes"]


def assert_slopes(
    loss: Callable[[], float],
    array: np.ndarray,
    gradient: np.ndarray,
    step: float,
    places: Iterable[tuple[int, ...]] | None = None,
    **tolerance: Any,
) -> None:
    """Compare some entries of a gradient, or all, with the slopes of `loss` along its array."""
    for place in np.ndindex(array.shape) if places is None else places:
        before, sides = array[place], []
        for moved in (before + step, before - step):
            array[place] = moved
            sides.append(loss())
        array[place] = before
        assert gradient[place] == pytest.approx((sides[0] - sides[1]) / (2 * step), **tolerance)
