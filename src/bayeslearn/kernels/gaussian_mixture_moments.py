"""Squared distances and moments along the rows of a tile: columns are taken two with four at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayeslearn.kernels._jit import inner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@inner
def subtract_squares(tile: Floats, c: int, mean: Floats, scale: Floats, q: Floats, m: int) -> None:
    """Take (scale δ)² of four columns off."""
    x0, x1, x2, x3 = tile[c], tile[c + 1], tile[c + 2], tile[c + 3]
    s0, s1, s2, s3 = scale[c], scale[c + 1], scale[c + 2], scale[c + 3]
    m0, m1, m2, m3 = mean[c] * s0, mean[c + 1] * s1, mean[c + 2] * s2, mean[c + 3] * s3
    for t in range(m):
        a, b, e, f = x0[t] * s0 - m0, x1[t] * s1 - m1, x2[t] * s2 - m2, x3[t] * s3 - m3
        q[t] -= (a * a + b * b) + (e * e + f * f)


@inner
def add_moments(tile: Floats, c: int, mean: Floats, r: Floats, m: int, first: Floats, second: Floats) -> None:
    """Σ r δ and Σ r δ² of two and two columns."""
    for b in (c, c + 2):
        x0, x1, m0, m1 = tile[b], tile[b + 1], mean[b], mean[b + 1]
        s0, s1, q0, q1 = 0.0, 0.0, 0.0, 0.0
        for t in range(m):
            a, e = x0[t] - m0, x1[t] - m1
            ra, re = r[t] * a, r[t] * e
            s0 += ra
            s1 += re
            q0 += ra * a
            q1 += re * e
        first[b] += s0
        first[b + 1] += s1
        second[b] += q0
        second[b + 1] += q1


@inner
def project(one: Floats, two: Floats, x: Floats, b: int, y: Floats, z: Floats, m: int) -> None:
    """Σ row x over four columns from b on, of two rows; added to what the columns before came to."""
    x0, x1, x2, x3 = x[b], x[b + 1], x[b + 2], x[b + 3]
    a0, a1, a2, a3 = one[b], one[b + 1], one[b + 2], one[b + 3]
    c0, c1, c2, c3 = two[b], two[b + 1], two[b + 2], two[b + 3]
    if b == 0:
        for t in range(m):
            y[t] = (a0 * x0[t] + a1 * x1[t]) + (a2 * x2[t] + a3 * x3[t])
            z[t] = (c0 * x0[t] + c1 * x1[t]) + (c2 * x2[t] + c3 * x3[t])
        return
    for t in range(m):
        y[t] += (a0 * x0[t] + a1 * x1[t]) + (a2 * x2[t] + a3 * x3[t])
        z[t] += (c0 * x0[t] + c1 * x1[t]) + (c2 * x2[t] + c3 * x3[t])


@inner
def subtract_four_squares(factor: Floats, at: Floats, x: Floats, a: int, y: Floats, q: Floats, m: int) -> None:
    """Take (Σ_b factor_ab x_b − at_a)² of four rows from a on off; `y` holds the columns before a."""
    x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
    p0, p1, p2, p3 = at[a], at[a + 1], at[a + 2], at[a + 3]
    a00, a10, a11 = factor[a, a], factor[a + 1, a], factor[a + 1, a + 1]
    a20, a21, a22 = factor[a + 2, a], factor[a + 2, a + 1], factor[a + 2, a + 2]
    a30, a31, a32, a33 = factor[a + 3, a], factor[a + 3, a + 1], factor[a + 3, a + 2], factor[a + 3, a + 3]
    if a == 0:
        for t in range(m):
            z0, z1 = a00 * x0[t] - p0, a10 * x0[t] + a11 * x1[t] - p1
            z2, z3 = a20 * x0[t] + a21 * x1[t] - p2, a30 * x0[t] + a31 * x1[t] - p3
            z2, z3 = z2 + a22 * x2[t], z3 + a32 * x2[t] + a33 * x3[t]
            q[t] -= (z0 * z0 + z1 * z1) + (z2 * z2 + z3 * z3)
        return
    y0, y1, y2, y3 = y[0], y[1], y[2], y[3]
    for t in range(m):
        z0, z1 = y0[t] + a00 * x0[t] - p0, y1[t] + a10 * x0[t] + a11 * x1[t] - p1
        z2, z3 = y2[t] + a20 * x0[t] + a21 * x1[t] - p2, y3[t] + a30 * x0[t] + a31 * x1[t] - p3
        z2, z3 = z2 + a22 * x2[t], z3 + a32 * x2[t] + a33 * x3[t]
        q[t] -= (z0 * z0 + z1 * z1) + (z2 * z2 + z3 * z3)


@inner
def add_corner(r: Floats, δ: Floats, a: int, m: int, into: Floats) -> None:
    """Σ r δ_a δ_b of two columns among themselves."""
    d0, d1 = δ[a], δ[a + 1]
    s0, s1, s2 = 0.0, 0.0, 0.0
    for t in range(m):
        y = r[t] * d0[t]
        s0 += y * d0[t]
        s1 += y * d1[t]
        s2 += r[t] * d1[t] * d1[t]
    into[a, a] += s0
    into[a + 1, a] += s1
    into[a + 1, a + 1] += s2


@inner
def add_squares(r: Floats, δ: Floats, a: int, b: int, m: int, into: Floats) -> None:
    """Σ r δ_a δ_b of two columns with four."""
    e0, e1, d0, d1, d2, d3 = δ[a], δ[a + 1], δ[b], δ[b + 1], δ[b + 2], δ[b + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    u0, u1, u2, u3 = 0.0, 0.0, 0.0, 0.0
    for t in range(m):
        y, z = r[t] * e0[t], r[t] * e1[t]
        s0 += y * d0[t]
        s1 += y * d1[t]
        s2 += y * d2[t]
        s3 += y * d3[t]
        u0 += z * d0[t]
        u1 += z * d1[t]
        u2 += z * d2[t]
        u3 += z * d3[t]
    row, next_row = into[a], into[a + 1]
    row[b] += s0
    row[b + 1] += s1
    row[b + 2] += s2
    row[b + 3] += s3
    next_row[b] += u0
    next_row[b + 1] += u1
    next_row[b + 2] += u2
    next_row[b + 3] += u3


@inner
def add_products(y: Floats, δ: Floats, b: int, m: int, into: Floats) -> None:
    """Σ y δ_b of four columns."""
    d0, d1, d2, d3 = δ[b], δ[b + 1], δ[b + 2], δ[b + 3]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for t in range(m):
        s0 += y[t] * d0[t]
        s1 += y[t] * d1[t]
        s2 += y[t] * d2[t]
        s3 += y[t] * d3[t]
    into[b] += s0
    into[b + 1] += s1
    into[b + 2] += s2
    into[b + 3] += s3
