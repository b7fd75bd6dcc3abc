"""Moments: weights, means and squared deviations, as values that add.

    n = Σ w        x̄ = Σ w x / n        M = Σ w (x − x̄)²        (x − x̄)(x − x̄)ᵀ for several columns at once

Two parts merge by the pairwise formula (Chan, Golub and LeVeque 1979), never by E[x²] − x̄², so that a variance of 1 is
still 1 when the mean is 10⁸:

    δ = x̄_b − x̄_a        x̄ = x̄_a + δ n_b/n        M = M_a + M_b + δ² n_a n_b/n

A prior is evidence of the same kind: :mod:`.normal`, :mod:`.normal_inverse_wishart` and :mod:`.linear_gaussian` add
theirs by this formula too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import ROUNDING, Statistics, fading, ratio, remaining, require
from bayeslearn.errors import DataError, MissingValuesError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.sufficient_statistics import Assignment

#: How exactly a mean is known, relative to itself.
MEAN_ROUNDING = 64 * np.finfo(float).eps

#: Numbers up to here have squares that can be added up, and so have those a million spreads away.
LARGEST = 1e140


class CenterdMoments(Statistics):
    """What both kinds share: a weight, a mean, and squared deviations from that mean."""

    event: ClassVar[int]  # how many axes one case has

    def __post_init__(self) -> None:
        super().__post_init__()
        n, mean, square = self.arrays()
        if mean.ndim < self.event:
            raise ShapeError(f"expected a mean of shape (*rows, d), got {mean.shape}")
        rows, case = mean.shape[: mean.ndim - self.event], mean.shape[mean.ndim - self.event :]
        if n.shape != rows or square.shape != (*rows, *case, *case):
            raise ShapeError(f"weights {n.shape}, means {mean.shape} and squares {square.shape} do not fit each other")
        require_range(n, mean, square)
        if (n == 0).any():  # nothing has no mean: one zero, whatever it was made from
            for name, array, axes in (("mean", mean, 1), (self._square_name(), square, 2)):
                cleared = np.where(self._lift(n, axes) == 0, 0.0, array)
                cleared.flags.writeable = False
                object.__setattr__(self, name, cleared)

    def __add__(self, other: Self) -> Self:
        self.require_same_kind(other)
        (n_a, mean_a, square_a), (n_b, mean_b, square_b) = self.arrays(), other.arrays()
        with in_range():
            n = n_a + n_b
            share = ratio(n_b, n)
            δ = mean_b - mean_a
            mean = mean_a + self._lift(share, 1) * δ
            square = square_a + square_b + self._lift(n_a * share, 2) * self._squared(δ)
        return self._made(n, mean, square)

    def __sub__(self, other: Self) -> Self:
        self.require_same_kind(other)
        (n, mean, square), (n_b, mean_b, square_b) = self.arrays(), other.arrays()
        n_a = remaining(n, n_b)
        δ = mean - mean_b
        between = self._lift(n_b * ratio(n, n_a), 2) * self._squared(δ)
        known = MEAN_ROUNDING * (np.abs(mean) + np.abs(mean_b))
        blur = self._lift(n_b * ratio(n, n_a), 1) * (2 * np.abs(δ) + known) * known
        left = square - square_b - between
        slack = ROUNDING * self._diagonal(square + square_b + between) + blur
        require(
            (self._diagonal(left) >= -slack) | (self._lift(n_a, 1) == 0),
            "more evidence removed than had been added: the squared deviations would fall below zero",
            hint="remove only rows that were added, with the same weights",
        )
        below = self._diagonal(left) < 0
        left = np.where(below if self.event == 0 else below[..., None] | below[..., None, :], 0.0, left)
        return self._made(n_a, mean + self._lift(ratio(n_b, n_a), 1) * δ, left)

    def __mul__(self, factor: float) -> Self:
        factor = fading(factor)
        n, mean, square = self.arrays()
        return self._made(factor * n, mean, factor * square)

    @classmethod
    def _made(cls, *arrays: NDArray[np.float64]) -> Self:
        return cls(*map(validation.lock, arrays))  # arrays that were just made need no copy

    # -- one case is a number or a vector

    @classmethod
    def _lift(cls, per_row: NDArray[np.float64], times: int) -> NDArray[np.float64]:
        return per_row.reshape(per_row.shape + (1,) * (times * cls.event))

    @classmethod
    def _squared(cls, δ: NDArray[np.float64]) -> NDArray[np.float64]:
        return δ * δ if cls.event == 0 else δ[..., :, None] * δ[..., None, :]

    @classmethod
    def _diagonal(cls, square: NDArray[np.float64]) -> NDArray[np.float64]:
        return square if cls.event == 0 else np.diagonal(square, axis1=-2, axis2=-1)

    @classmethod
    def _square_name(cls) -> str:
        return "m2" if cls.event == 0 else "scatter"


@dataclass(frozen=True, eq=False)
class Moments(CenterdMoments):
    """Numbers one by one, every array of one shape: each entry has its own weight, so cells may be missing.

    >>> Moments(2, 1.0, 2.0) + Moments(1, 4.0, 0.0)               # 0, 2 and then 4
    Moments(n=array(3.), mean=array(2.), m2=array(8.))
    """

    event: ClassVar[int] = 0

    n: NDArray[np.float64]
    mean: NDArray[np.float64]
    m2: NDArray[np.float64]

    @classmethod
    def zero(cls, shape: tuple[int, ...] = ()) -> Self:
        """No data."""
        nothing = validation.lock(np.zeros(shape))
        return cls(nothing, nothing, nothing)

    @classmethod
    def collect(cls, x: NDArray[np.float64], to: Assignment) -> Self:
        """Moments of a column (n,), shape rows, or of columns (n, d), shape (*rows, d); NaN adds nothing."""
        with in_range():
            if x.ndim == 1:
                return cls(*_column(x, to))
            columns = [_column(column, to) for column in x.T]
        return cls(*(np.stack(parts, axis=-1) for parts in zip(*columns, strict=True)))

    @property
    def var(self) -> NDArray[np.float64]:
        """M/n, the variance of what was seen; 0 where nothing was."""
        return ratio(self.m2, self.n)


@dataclass(frozen=True, eq=False)
class JointMoments(CenterdMoments):
    """Vectors of d numbers: shapes rows, (*rows, d) and (*rows, d, d)."""

    event: ClassVar[int] = 1

    n: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Self:
        """No data; `shape` is that of the mean, (*rows, d)."""
        return cls(np.zeros(shape[:-1]), np.zeros(shape), np.zeros((*shape, shape[-1])))

    @classmethod
    def collect(cls, x: NDArray[np.float64], to: Assignment) -> Self:
        """Moments of whole rows (n, d); a row that is missing altogether adds nothing."""
        gone = missing_rows(x)
        to, x = to.only(~gone), np.where(gone[:, None], 0.0, x)
        with in_range():
            n = to.sum()
            mean = ratio(to.sum(x), n[..., None])
            scatter = np.zeros((*mean.shape, mean.shape[-1]))
            for row, w, cases in to.parts():
                δ = x[cases] - mean[row]
                slip = ratio(w @ δ, n[row])  # what rounding left of the mean
                mean[row] += slip
                δ = np.sqrt(w)[:, None] * (δ - slip)
                scatter[row] = δ.T @ δ
        return cls(n, mean, scatter)

    @property
    def cov(self) -> NDArray[np.float64]:
        """M/n, the covariance of what was seen; 0 where nothing was."""
        return ratio(self.scatter, self.n[..., None, None])


def _column(x: NDArray[np.float64], to: Assignment) -> tuple[NDArray[np.float64], ...]:
    """n, mean and squared deviations of one column, in two passes."""
    present = ~np.isnan(x)
    to, x = to.only(present), np.where(present, x, 0.0)
    n = to.sum()
    mean = ratio(to.sum(x), n)
    cases = x if to.sample_weight.ndim == 1 else x[:, None]
    δ = cases - to.each(mean)
    slip = ratio(to.total(δ), n)  # what rounding left of the mean
    δ = δ - to.each(slip)
    return n, mean + slip, to.total(δ * δ)


### the range of floats


def in_range() -> np.errstate:
    """Within the block, sums and squares may leave the range of floats: :func:`require_range` checks them later."""
    return np.errstate(over="ignore", invalid="ignore")


def require_range(*arrays: NDArray[np.float64]) -> None:
    """Sums and squares are numbers: cells up to 10¹⁴⁰ of usual weights have such."""
    # a sum that is a number is of numbers; one that is none may be of large ones
    with in_range():
        doubtful = [array for array in arrays if not math.isfinite(np.add.reduce(array, axis=None))]
    if not all(np.isfinite(array).all() for array in doubtful):
        raise DataError(
            "numbers or weights are too large to be squared and added up: sums leave the range of floats",
            hint="divide the column by a constant, or make cells that are no measurements missing",
        )


def require_squares(what: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers whose squares are numbers too, NaN among them or not."""
    top = max(float(np.fmax.reduce(x, axis=None, initial=0.0)), -float(np.fmin.reduce(x, axis=None, initial=0.0)))
    if top > LARGEST:
        raise DataError(
            f"{what} of the size of {top:.3g} are too large to be squared: {LARGEST:g} is the limit",
            hint="divide the column by a constant, or make cells that are no measurements missing",
        )
    return x


### cells of numbers


def real_cells(x: ArrayLike, dim: int | None = None) -> NDArray[np.float64]:
    """A column (n,), or a table (n, dim), of finite numbers; NaN is missing."""
    cells = validation.float_array("x", x)
    if dim is not None and cells.shape == (0,):  # [] is no case, whatever a case looks like
        cells = cells.reshape(0, dim)
    if cells.ndim == 0 or cells.shape[1:] != (() if dim is None else (dim,)):
        raise ShapeError(f"expected cases of shape {'(n,)' if dim is None else f'(n, {dim})'}, got {cells.shape}")
    if np.isinf(cells).any():
        raise DataError(
            f"cells must be finite, got {cells[np.isinf(cells)][0]} at {validation.first_position(np.isinf(cells))}",
            hint="NaN marks a missing cell",
        )
    return cells


def missing_rows(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows are missing altogether; a row with only some of its cells is refused."""
    missing = np.isnan(x).sum(axis=1)
    gone = missing == x.shape[1]
    partly = (missing > 0) & ~gone
    if partly.any():
        raise MissingValuesError(
            f"case {validation.first_position(partly)} has some of its cells only, and these columns are seen jointly",
            hint='drop the row, fill the value, or use covariance_type="diag", which takes missing values',
        )
    return gone


def pooled(values: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Sums along every axis that `shape` shares (length 1)."""
    axes = tuple(axis for axis, length in enumerate(shape) if length == 1 != values.shape[axis])
    return values.sum(axis=axes, keepdims=True) if axes else values


def together(moments: Moments) -> Moments:
    """The moments of all rows of parameters as those of one: the first axis is added up."""
    n, mean, m2 = moments.arrays()
    if not n.ndim or len(n) == 1:
        return moments if not n.ndim else Moments(n[0], mean[0], m2[0])
    total = n.sum(axis=0)
    center = ratio((n * mean).sum(axis=0), total)
    return Moments(total, center, m2.sum(axis=0) + (n * (mean - center) ** 2).sum(axis=0))
