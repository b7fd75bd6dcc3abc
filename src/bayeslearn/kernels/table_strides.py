"""Tables of cliques: factors multiplied into them and sums read off, along strides, and axes that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels._jit import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: No entry of a table may be smaller than this but zero: products of such entries are exact to the last digits.
EDGE = 1e-290


@inner
def multiply(
    table: NDArray[np.float64],
    at: int,
    factor: NDArray[np.float64],
    base: int,
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    lo: int,
    hi: int,
    index: NDArray[np.int64],
    overwrite: bool,  # noqa: FBT001 - numba knows no keyword-only arguments
) -> None:
    """table[at + i] ·= factor[base + i·strides] over the axes lo … hi, at least three of them (= to overwrite).

    The three innermost axes are plain loops; an odometer turns the others.
    """
    a, b, c = dims[hi - 3], dims[hi - 2], dims[hi - 1]
    sa, sb, sc = strides[hi - 3], strides[hi - 2], strides[hi - 1]
    while True:
        for i in range(a):
            for j in range(b):
                line = base + i * sa + j * sb
                if overwrite:
                    for k in range(c):
                        table[at + k] = factor[line + k * sc]
                elif sc == 0:
                    value = factor[line]
                    for k in range(c):
                        table[at + k] *= value
                elif sc == 1:
                    for k in range(c):
                        table[at + k] *= factor[line + k]
                else:
                    for k in range(c):
                        table[at + k] *= factor[line + k * sc]
                at += c
        d = hi - 4
        while d >= lo:
            index[d - lo] += 1
            base += strides[d]
            if index[d - lo] < dims[d]:
                break
            base -= strides[d] * dims[d]
            index[d - lo] = 0
            d -= 1
        if d < lo:
            break


@inner
def add_up(
    table: NDArray[np.float64],
    at: int,
    target: NDArray[np.float64],
    base: int,
    dims: NDArray[np.int64],
    strides: NDArray[np.int64],
    lo: int,
    hi: int,
    index: NDArray[np.int64],
    weight: float,
) -> None:
    """target[base + i·strides] += weight · table[at + i] over the axes lo … hi, of which there are at least three."""
    a, b, c = dims[hi - 3], dims[hi - 2], dims[hi - 1]
    sa, sb, sc = strides[hi - 3], strides[hi - 2], strides[hi - 1]
    while True:
        for i in range(a):
            for j in range(b):
                line = base + i * sa + j * sb
                if sc == 0:
                    total = 0.0
                    for k in range(c):
                        total += table[at + k]
                    target[line] += weight * total
                elif sc == 1:
                    for k in range(c):
                        target[line + k] += weight * table[at + k]
                else:
                    for k in range(c):
                        target[line + k * sc] += weight * table[at + k]
                at += c
        d = hi - 4
        while d >= lo:
            index[d - lo] += 1
            base += strides[d]
            if index[d - lo] < dims[d]:
                break
            base -= strides[d] * dims[d]
            index[d - lo] = 0
            d -= 1
        if d < lo:
            break


@inner
def grow(table: NDArray[np.float64], at: int, n: int, repeat: int) -> None:
    """Repeat each of n entries, in place: the next axes come inside those that are there."""
    if repeat == 2:  # the commonest, and too short for a loop of its own
        for i in range(n - 1, -1, -1):
            value = table[at + i]
            table[at + 2 * i] = value
            table[at + 2 * i + 1] = value
        return
    for i in range(n - 1, -1, -1):
        value = table[at + i]
        first = at + i * repeat
        for k in range(first, first + repeat):
            table[k] = value


@inner
def shrink(table: NDArray[np.float64], at: int, n: int, many: int) -> None:
    """Sum `many` entries at a time into one, in place, n of them: the inverse way of `grow`."""
    if many == 2:
        for i in range(n):
            table[at + i] = table[at + 2 * i] + table[at + 2 * i + 1]
        return
    first = at
    for i in range(at, at + n):
        total = 0.0
        for k in range(first, first + many):
            total += table[k]
        table[i] = total
        first += many


@inner
def rescaled(tables: NDArray[np.float64], lo: int, hi: int) -> tuple[float, float]:
    """Divide a table by its largest entry, so that more factors may come; the log of it, −∞ when all is zero.

    The second number is the least of the entries that are left and not zero.
    """
    top, least = 0.0, np.inf
    for i in range(lo, hi):
        value = tables[i]
        top = max(top, value)
        if value > 0.0:
            least = min(least, value)
    if top == 0.0:
        return -np.inf, 1.0
    inverse = 1.0 / top
    for i in range(lo, hi):
        tables[i] *= inverse
    return np.log(top), least * inverse


@inner
def factor_base(network: Any, site: NDArray[np.int64], codes: NDArray[np.int64], f: int) -> int:
    """Where the entries of factor f begin that agree with the evidence."""
    scope_start, scope, scope_stride, cpt_start = network[0], network[1], network[2], network[3]
    base = cpt_start[f]
    for i in range(scope_start[f], scope_start[f + 1]):
        if site[scope[i]] < 0:
            base += codes[scope[i]] * scope_stride[i]
    return base
