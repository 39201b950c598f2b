"""Matrix products, by the processor's matrix unit, as integers or by numpy's BLAS."""

from __future__ import annotations

import ctypes
import math
import platform
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, NumpyOps

from ...arrays import Floats32

__all__ = [
    "Multiplier", "aligned", "forward_of", "linear", "padded", "rectified", "times",
    "with_own_products",
]  # fmt: skip

#: With fewer rows, BLAS libraries sum in another order.
_LEAST_ROWS = 8
#: The least number of rows for which packing weights that are not kept pays off.
_ENOUGH_ROWS = 256
#: The least number of rows, and of columns, of the weights: with fewer, tiles are mostly zeros.
_ENOUGH_INSIDE = 16
#: The least number of columns that rows are made integers for.
_ENOUGH_COLUMNS = 64


#: Packed parameters, by the address, the first column, and what multiplies.
_PACKED: dict[tuple[int, int, bool, bool], Multiplier] = {}


class Multiplier:
    """A matrix, prepared for products with a number of `rows`.

    A processor's matrix unit takes a quarter of BLAS's time for many rows, and is precise to about
    five digits, BLAS to six.

    **Shape**: matrix (inner, columns).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, matrix = rng.normal(size=(900, 5)).astype("f"), rng.normal(size=(5, 4)).astype("f")
    >>> bool(np.allclose(Multiplier(matrix, 900).product(rows), rows @ matrix, atol=1e-4))
    True
    """

    def __init__(self, matrix: Any, rows: int) -> None:
        self.matrix: Any = np.asarray(matrix, dtype="f")
        self.columns: int = self.matrix.shape[1]
        #: The packed weights, of the matrix unit or as integers; at most one of both.
        self.tiles: NDArray[np.uint32] | None = None
        self.panels: tuple[NDArray[Any], Floats32] | None = None
        if rows >= _ENOUGH_ROWS and self._fits_tiles:
            self.tiles = _in_tiles(self.matrix)

    @classmethod
    def of(
        cls,
        model: Model[Any, Any],
        name: str,
        columns: slice = slice(None),
        *,
        transposed: bool = False,
        stepwise: bool = False,
    ) -> Multiplier:
        """Return the multiplier of some columns of a layer's parameter, for predictions.

        Whatever the number of rows, they are multiplied in the same way, and so have the same
        products in any batch: by the matrix unit; or else as integers (VNNI), in half of BLAS's
        time, whose errors, as parts of the product of the norms of a row and a column, are about
        1e-5, and at most the root of `inner` over 32,000. Packed weights are kept as long as the
        parameter is the same array and has no gradient: optimizers change parameters in place,
        which leaves no other trace. If the parameter is `transposed`, its last axis is that of the
        inputs. A multiplier that is used `stepwise`, by a kernel, has tiles or panels on every
        processor.
        """
        given: Any = model.get_param(name)
        key = id(given), columns.start or 0, has_tiles(), has_pairs()
        lasts = not model.has_grad(name)
        if lasts and key in _PACKED:
            return _PACKED[key]
        whole = given.reshape(-1, given.shape[-1]).T if transposed else given
        found = cls(whole[:, columns], 0)
        inner, width = found.matrix.shape
        is_large = inner >= _ENOUGH_INSIDE and width >= _ENOUGH_COLUMNS
        if found._fits_tiles:
            found.tiles = _in_tiles(found.matrix)
        elif stepwise or (is_large and has_pairs()):
            from .kernels.panels import pack

            found.panels = pack(np.ascontiguousarray(whole, dtype="f"), key[1], width)
        else:
            return found
        found.matrix = None  # which would keep the parameter alive
        if lasts:
            _PACKED[key] = found
            finalize(given, _PACKED.pop, key, None)
        return found

    @property
    def _fits_tiles(self) -> bool:
        return min(self.matrix.shape) >= _ENOUGH_INSIDE and has_tiles()

    def product(self, rows: Floats32, room: Floats32 | None = None) -> Floats32:
        """Return ``rows @ matrix``; up to rounding, no row of it depends on other rows.

        OpenBLAS may sum in an order that depends on a row's position and the number of rows.

        **Shape**: rows (rows, inner); room (:func:`padded` rows or more, columns), contiguous, a
        buffer for the result, which is written there where that saves a copy; None for a new one.
        """
        count = len(rows)
        if self.tiles is not None:
            from .kernels import tiles as kernels

            if room is None:
                room = aligned((padded(count), self.columns), np.float32)
            assert len(room) >= padded(count)  # the kernel writes so many rows
            rows = np.ascontiguousarray(rows, dtype="f")
            kernels.multiply(rows, self.tiles, room)
            return room[:count]
        if self.panels is not None:
            from .kernels.panels import multiply_panels

            panels, factors = self.panels
            if room is None or len(factors) > self.columns:
                room = np.empty((count, len(factors)), np.float32)
            multiply_panels(np.ascontiguousarray(rows, dtype="f"), panels, factors, room)
            return np.ascontiguousarray(room[:count, : self.columns])
        if count < _LEAST_ROWS:
            more = np.zeros((_LEAST_ROWS - count, rows.shape[1]), rows.dtype)
            rows = np.concatenate([rows, more])
        out = None if room is None else room[: len(rows)]
        found: Floats32 = np.dot(rows, self.matrix, out=out)
        return found[:count]


def _in_tiles(weights: Floats32) -> NDArray[np.uint32]:
    """Return the packed weights of the matrix unit."""
    from .kernels import tiles as kernels

    inner, width = (padded(size) // 32 for size in weights.shape)
    matrix = np.ascontiguousarray(weights)
    parts = 1 + bool(np.bitwise_or.reduce(matrix.view(np.uint32), axis=None) & 0xFFFF)
    packed: NDArray[np.uint32] = aligned((2 * width, inner, parts, 16, 16), np.uint32)
    packed[:] = 0
    kernels.pack(matrix, packed)
    return packed


@cache
def has_tiles() -> bool:
    """Return whether this process may use a matrix unit; the system is asked once."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    from numba import config

    from .kernels import panels

    # numba makes no code for the unit if told to compile for another processor, or not to compile
    of_unit = {"+amx-tile", "+amx-bf16"}
    if vars(config)["DISABLE_JIT"] or not of_unit <= panels.FEATURES:
        return False
    # arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA): Linux saves tile registers on request
    # only
    return bool(ctypes.CDLL(None).syscall(158, 0x1023, 18) == 0)


@cache
def has_pairs() -> bool:
    """Return whether products of integers take less time than BLAS."""
    from .kernels.panels import HAS_PAIRS

    return HAS_PAIRS


def padded(rows: int) -> int:
    """Round a number of rows up to whole tiles, as kernels write them; the rest is undefined."""
    return -(-rows // 32) * 32


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an uninitialised array that is aligned to a cache line."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    plain = np.empty(size + 64, np.uint8)
    first = -plain.__array_interface__["data"][0] % 64
    return plain[first : first + size].view(dtype).reshape(shape)


class _OwnProducts(NumpyOps):
    """thinc's operations with products by a :class:`Multiplier`, up to three times as fast."""

    def gemm(
        self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False
    ) -> Any:
        rows, matrix = x.T if trans1 else x, y.T if trans2 else y
        found = Multiplier(matrix, len(rows)).product(rows)
        if out is None:
            return found
        out[:] = found
        return out


_OPS = _OwnProducts()


def times(
    model: Model[Any, Any], name: str, X: Any, is_train: bool, *, transposed: bool = False
) -> Any:
    """Return ``X @ parameter`` of a layer, in predictions by a :class:`Multiplier`."""
    if is_train or not isinstance(model.ops, _OwnProducts):
        weights: Any = model.get_param(name)
        return model.ops.gemm(X, weights, trans2=transposed)
    return Multiplier.of(model, name, transposed=transposed).product(X)


def forward_of(layer: str) -> Any:
    """Return the forward function of a thinc layer, given the name of its module."""
    return import_module(f"thinc.layers.{layer}").forward


def linear(model: Model[Any, Any], X: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Run thinc's layer of this name, in predictions with a :class:`Multiplier`."""
    if is_train or not isinstance(model.ops, _OwnProducts):
        return forward_of("linear")(model, X, is_train)
    found = times(model, "W", X, False, transposed=True)
    found += model.get_param("b")
    return found, lambda gradient: []


def rectified(model: Model[Any, Any], X: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Run thinc's layer ``Relu``, in predictions with a :class:`Multiplier`."""
    if is_train or not isinstance(model.ops, _OwnProducts):
        return forward_of("relu")(model, X, is_train)
    found, backprop = linear(model, X, False)
    return np.maximum(found, 0, out=found), backprop


def with_own_products(model: Model[Any, Any]) -> Model[Any, Any]:
    """Make the layers of a model that run on the CPU multiply by this module's functions."""
    own = {forward_of("linear"): linear, forward_of("relu"): rectified}
    for layer in model.walk():
        if type(layer.ops) is NumpyOps:
            layer.ops = _OPS
            layer._func = own.get(layer._func, layer._func)
    return model
