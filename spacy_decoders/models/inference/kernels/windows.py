"""One layer of a convolution: maxout, layer norm, residual, and the windows of the next layer."""

import numpy as np

from ....jit import jit

#: Sums may be reordered; the order is the same for all rows, which run the same loop.
_SUMS = frozenset({"nsz", "reassoc", "contract"})

#: The epsilon of thinc's layer norm.
_LEAST_VARIANCE = np.float32(1e-8)


@jit(fastmath=_SUMS, error_model="numpy")
def finish_layer(products, bias, gain, shift, windows, size):
    """Add the layer norm of each row's maxout to its vector, in all windows that contain it.

    **Shape**: products float32 (rows, width * pieces), the pieces of an output adjacent; bias
    float32 (width * pieces,); gain and shift float32 (width,); windows float32 (rows, (2 * size +
    1) * width), changed in place.
    """
    rows, width = len(products), len(gain)
    pieces = products.shape[1] // width
    best = np.empty(width, np.float32)
    for i in range(rows):
        given = products[i]
        _maxout(given, bias, pieces, best)
        total = np.float32(0.0)
        for j in range(width):
            total += best[j]
        mean = total / np.float32(width)
        squares = np.float32(0.0)
        for j in range(width):
            squares += (best[j] - mean) * (best[j] - mean)
        scale = np.float32(1.0) / np.sqrt(squares / np.float32(width) + _LEAST_VARIANCE)
        own = windows[i, size * width : (size + 1) * width]
        for j in range(width):
            own[j] += (best[j] - mean) * scale * gain[j] + shift[j]
        # row i is block `size + distance` of the window of row i - distance
        for distance in range(-size, size + 1):
            at = i - distance
            if distance != 0 and 0 <= at < rows:
                begin = (size + distance) * width
                into = windows[at, begin : begin + width]
                for j in range(width):
                    into[j] = own[j]


@jit(inline="always")
def _maxout(given, bias, pieces, best):
    """Write the largest piece of each output, NaN if a piece is NaN."""
    if pieces == 3:  # a constant for the compiler, so that the loop is vectorised
        for j in range(len(best)):
            a = given[3 * j] + bias[3 * j]
            b = given[3 * j + 1] + bias[3 * j + 1]
            c = given[3 * j + 2] + bias[3 * j + 2]
            a = a if a > b or a != a else b
            best[j] = a if a > c or a != a else c
    else:
        for j in range(len(best)):
            top = given[pieces * j] + bias[pieces * j]
            for piece in range(1, pieces):
                other = given[pieces * j + piece] + bias[pieces * j + piece]
                top = top if top > other or top != top else other
            best[j] = top
