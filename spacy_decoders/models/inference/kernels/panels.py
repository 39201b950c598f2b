"""Products of float32 matrices, as integers where the processor is faster with them.

An instruction of newer x86 processors (VNNI) multiplies two pairs of 16-bit integers, and adds
both products to a sum, in the time of one product of float32. With it, rows and columns are scaled
to integers by their norms, so that no sum overflows (Cauchy and Schwarz); without it, and beside a
matrix unit, which is more precise, numbers stay what they are. The sums of a row do not depend on
other rows.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

from ....jit import internal, jit
from ....simd import add, fill8, fill16, load8, load16, multiply, peek, store, vector_of

_WANTED = vars(config)["CPU_FEATURES"]
#: What code is compiled for, and kept by, so that code that another machine has compiled fits.
FEATURES = frozenset((get_host_cpu_features() if _WANTED is None else _WANTED).split(","))
#: Whether the numbers of panels are pairs of integers.
HAS_PAIRS = not FEATURES.isdisjoint({"+avx512vnni", "+avxvnni"}) and "+amx-bf16" not in FEATURES
#: The lanes of a register: with twice as many, too few registers would be left for the sums.
_LANES = 16 if "+avx512f" in FEATURES else 8
_load, _fill = (load16, fill16) if _LANES == 16 else (load8, fill8)
#: The number of columns of a panel.
PANEL = 2 * _LANES
#: The type of a number of a panel, how many parts it has, each of another row, and their type.
NUMBER, PARTS, PART = (np.int32, 2, np.int16) if HAS_PAIRS else (np.float32, 1, np.float32)
#: The largest norm of a row or column of integers: none is larger, and no sum overflows.
_LONGEST = 32766.0
#: Rows and columns of a smaller norm are scaled as those that have this one.
_LEAST = 1e-30
#: The number of rows that are converted at once, so that they stay in the cache.
_BLOCK = 64
#: Sums of squares may be reordered.
_FAST = frozenset({"nsz", "reassoc", "contract"})


@intrinsic
def _as_floats(typing, vector):
    """Return int32, or float32, as float32."""
    found = vector_of(types.float32, vector.lanes)

    def build(context, builder, signature, given):
        return given[0] if vector == found else builder.sitofp(given[0], found.layout)

    return found(vector), build


@intrinsic
def _add_pairs(typing, total, left, right):
    """Add the products of two int16 in each lane of two vectors of int32 to a third.

    LLVM recognises the one instruction for these operations.
    """
    lanes = total.lanes
    halves, wide = (ir.VectorType(ir.IntType(bits), 2 * lanes) for bits in (16, 32))

    def build(context, builder, signature, given):
        numbers = [builder.sext(builder.bitcast(of, halves), wide) for of in given[1:]]
        products = builder.mul(*numbers)
        even, odd = (
            builder.shuffle_vector(products, products, ir.Constant(total.layout, places))
            for places in (list(range(0, 2 * lanes, 2)), list(range(1, 2 * lanes, 2)))
        )
        return builder.add(given[0], builder.add(even, odd))

    return total(total, total, total), build


@jit(inline="always")
def _scale(squares, count):
    """Return the scale of `count` numbers, of the sum of their squares.

    Of numbers that are not finite, it is no number.
    """
    if not HAS_PAIRS:
        return np.float32(1.0)
    norm = np.sqrt(squares)
    # rounding lengthens them by at most half the root of their number
    longest = _LONGEST - np.sqrt(count)
    return np.float32(longest / max(norm, _LEAST)) if norm < np.inf else np.float32(np.nan)


@jit(inline="always")
def _converted(number, scale):
    if not HAS_PAIRS:
        return number
    # of a positive number, the cast cuts off what is behind the point
    return np.int32(number * scale + np.float32(32768.5)) - np.int32(32768)


@jit(inline="always")
def _added(sums, number, left, right):
    """Add the products of a number with two vectors to the sums of a row."""
    if HAS_PAIRS:
        return _add_pairs(sums[0], number, left), _add_pairs(sums[1], number, right)
    return add(sums[0], multiply(number, left)), add(sums[1], multiply(number, right))


@jit(inline="always")
def _store(sums, factor, factors, column, out, at):
    factor = _fill(factor)
    left, right = _load(factors, column), _load(factors, column + _LANES)
    store(out, at, multiply(_as_floats(sums[0]), multiply(factor, left)))
    store(out, at + _LANES, multiply(_as_floats(sums[1]), multiply(factor, right)))


@jit(fastmath=_FAST, error_model="numpy")
def pack(matrix, begin, columns):
    """Return the columns of a matrix from `begin` on in panels, and the factors of their sums.

    Each panel is read sequentially. The factor of a column that is not finite is no number.

    **Shape**: matrix float32 (inner, all columns); panels :data:`NUMBER` (columns /
    :data:`PANEL`, inner / :data:`PARTS`, :data:`PANEL`), and factors float32 (columns,), both
    rounded up to whole panels and numbers, and 0 beyond the matrix.
    """
    inner, count, end = len(matrix), -(-columns // PANEL), begin + columns
    panels = np.zeros((count, -(-inner // PARTS), PANEL), NUMBER)
    squares = np.zeros(columns)
    for k in range(inner):
        row = matrix[k, begin:end]
        for j in range(columns):
            squares[j] += np.float64(row[j]) * np.float64(row[j])
    scales, factors = np.empty(columns, np.float32), np.zeros(count * PANEL, np.float32)
    for j in range(columns):
        scales[j] = _scale(squares[j], inner)
        factors[j] = np.float32(1.0) / scales[j]
    beyond = np.zeros(columns, np.float32)
    for k in range(panels.shape[1]):
        at = k * PARTS
        upper = matrix[at, begin:end]
        lower = matrix[at + 1, begin:end] if at + 1 < inner else beyond
        for panel in range(count):
            into, first = panels[panel, k], panel * PANEL
            for j in range(min(PANEL, columns - first)):
                into[j] = _number(upper[first + j], lower[first + j], scales[first + j])
    return panels, factors


@jit(inline="always")
def _number(upper, lower, scale):
    """Return one number of a panel."""
    if not HAS_PAIRS:
        return upper
    pair = _converted(lower, scale) << np.int32(16)
    return pair | _converted(upper, scale) & np.int32(0xFFFF)


@internal(fastmath=_FAST, error_model="numpy")
def _convert(row, into):
    """Write a row as it is multiplied; return the factor of its sums."""
    squares = 0.0
    for k in range(len(row)):
        squares += np.float64(row[k]) * np.float64(row[k])
    scale = _scale(squares, len(row))
    for k in range(len(row)):
        into[k] = _converted(row[k], scale)
    return np.float32(1.0) / scale


# not reordered: a sum times the factor of its row alone may overflow
@jit(fastmath=_FAST - {"reassoc"}, error_model="numpy")
def multiply_panels(rows, panels, factors, out):
    """Write ``rows @ matrix``, where :func:`pack` has written the panels and factors.

    The sums of four rows and a panel's columns stay in registers; if there are fewer rows at the
    end, the last one is repeated.

    **Shape**: rows float32 (rows, inner); panels :data:`NUMBER` (panels, inner / :data:`PARTS`,
    :data:`PANEL`); out float32 (rows, columns), with those of whole panels or more.
    """
    count, inner, width = len(rows), panels.shape[1], out.shape[1]
    block = np.zeros((min(_BLOCK, count), inner), NUMBER)
    parts, of_rows = block.view(PART), np.empty(len(block), np.float32)
    zero = _fill(NUMBER(0)), _fill(NUMBER(0))
    for start in range(0, count, _BLOCK):
        height = min(_BLOCK, count - start)
        for i in range(height):
            of_rows[i] = _convert(rows[start + i], parts[i])
        for column in range(0, len(factors), PANEL):
            for row in range(0, height, 4):
                b, c, d = row + 1, row + 2, row + 3
                b, c, d = min(b, height - 1), min(c, height - 1), min(d, height - 1)
                at_a, at_b, at_c, at_d = row * inner, b * inner, c * inner, d * inner
                at = column * inner
                of_a = of_b = of_c = of_d = zero
                for k in range(inner):
                    left, right = _load(panels, at), _load(panels, at + _LANES)
                    of_a = _added(of_a, _fill(peek(block, at_a + k)), left, right)
                    of_b = _added(of_b, _fill(peek(block, at_b + k)), left, right)
                    of_c = _added(of_c, _fill(peek(block, at_c + k)), left, right)
                    of_d = _added(of_d, _fill(peek(block, at_d + k)), left, right)
                    at += PANEL
                begin = start * width + column
                _store(of_d, of_rows[d], factors, column, out, begin + d * width)
                _store(of_c, of_rows[c], factors, column, out, begin + c * width)
                _store(of_b, of_rows[b], factors, column, out, begin + b * width)
                _store(of_a, of_rows[row], factors, column, out, begin + row * width)
