"""Numbers: normals that are independent given the state; a coordinate that is missing says nothing.

Variances have a floor, far below what the data show: without it one row alone in a state would have an infinite
density.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Moments, MultivariateNormal, MultivariateParameters, NormalInverseGamma
from bayeslearn.distributions.moments import in_range, real_cells, require_range, require_squares
from bayeslearn.distributions.normal import positive
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.sequence.cells import number_rows
from bayeslearn.sequence.emissions import Emissions
from bayeslearn.sequence.observing import Normals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: The floor of a variance, as a share of that of the data.
FLOOR = 1e-9


class NormalBase(Emissions):
    """What both kinds share: means of named columns."""

    columns: tuple[str, ...]
    mean: Floats
    floor: Floats | float

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.mean)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    many_columns: ClassVar[bool] = True
    by_moments: ClassVar[bool] = True

    def cells(self, x: Any) -> Floats:
        """Rows of finite numbers; NaN is missing."""
        return real_cells(number_rows(x), len(self.columns))

    def floored(self, cells: Floats | Moments) -> Self:
        """Variances that cannot fall below a small share of that of the data."""
        return self if np.all(self.floor) else replace(self, floor=FLOOR * spread_of(cells)[1])  # type: ignore[type-var]

    def centres(self) -> Floats:
        """The means of the first column."""
        return self.mean[:, 0]

    def _check_mean(self) -> Floats:
        mean = validation.float_array("mean", self.mean)
        mean = mean[:, None] if mean.ndim == 1 else mean
        if mean.ndim != 2 or mean.shape[1] != len(self.columns) or not np.isfinite(mean).all():
            raise ShapeError(f"expected finite means of shape (states, {len(self.columns)}), got {self.mean!r:.80}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "mean", frozen(mean))
        return mean

    def _check_floor(self) -> Floats:
        return frozen(validation.not_negative("floor", validation.broadcast("floor", self.floor, self.mean.shape[1:])))

    @abstractmethod
    def _spreads(self, state: int) -> Floats:
        """The variance of each column in a state."""

    def described(self, state: int, most: int = 3) -> str:
        """Mean ± deviation of each column."""
        spread = np.sqrt(self._spreads(state))
        parts = [f"{m:.4g} ± {s:.3g}" for m, s in zip(self.mean[state], spread, strict=True)]
        if len(parts) > 1:
            parts = [f"{name} {part}" for name, part in zip(self.columns, parts, strict=True)]
        return ", ".join(parts[:most]) + (", …" if len(parts) > most else "")


@dataclass(frozen=True, eq=False)
class NormalEmissions(NormalBase):
    """Columns that are independent given the state, each normal: means and variances (S, columns).

    >>> NormalEmissions(("heat",), [[10.0], [20.0]], [[4.0], [9.0]]).described(0)
    '10 ± 2'
    """

    kind: ClassVar[str] = "gaussian"

    columns: tuple[str, ...]
    mean: Floats
    var: Floats
    floor: Floats | float = 0.0

    def __post_init__(self) -> None:
        mean = self._check_mean()
        var = validation.float_array("var", self.var)
        var = var[:, None] if var.ndim == 1 and len(var) == len(mean) else var
        object.__setattr__(self, "var", frozen(positive(validation.broadcast("var", var, mean.shape))))
        object.__setattr__(self, "floor", self._check_floor())

    @property
    def distribution(self) -> MultivariateNormal:
        """Columns that are independent given the state."""
        return MultivariateNormal(len(self.columns), "diagonal")

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Rows at random."""
        return self.mean[states] + np.sqrt(self.var[states]) * rng.standard_normal((len(states), len(self.columns)))

    def reading(self, cells: NDArray[Any]) -> Normals:
        """A kernel of its own."""
        return Normals(cells, self.mean, self.var)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> Moments:
        """Moments of each state and column."""
        reading = self.reading(cells)
        totals = reading.totals()
        reading.take_rows(slice(None), gamma, totals)
        return reading.statistics(totals)

    @property
    def parameters(self) -> MultivariateParameters:
        """Means and variances."""
        return MultivariateParameters(self.mean, self.var)

    def with_parameters(self, parameters: Any) -> Self:
        """Others, whose variances are not below the floor."""
        mean, var = parameters
        return replace(self, mean=mean, var=np.maximum(var, self.floor))

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> NormalInverseGamma:
        """So many cases of the mean and variance of all rows."""
        return NormalInverseGamma.unit_information(*spread_of(cells), cases)

    def _spreads(self, state: int) -> Floats:
        return self.var[state]


### helpers


def spread_of(cells: Floats | Moments) -> tuple[Floats, Floats]:
    """Means and variances of columns, or of their moments; 1 for the variance of a column that does not vary."""
    require_squares("observations", cells.mean if isinstance(cells, Moments) else cells)
    with in_range():
        if isinstance(cells, Moments):
            mean, var = cells.mean, cells.var
        elif np.isnan(cells).any():
            seen = ~np.isnan(cells)
            n = np.maximum(seen.sum(axis=0), 1)
            mean = np.where(seen, cells, 0.0).sum(axis=0) / n
            var = np.where(seen, (cells - mean) ** 2, 0.0).sum(axis=0) / n
        else:
            mean, var = cells.mean(axis=0), cells.var(axis=0)
    require_range(mean, var)
    tiny = 1e-12 * np.maximum(np.abs(mean), 1.0)
    return mean, np.where(np.sqrt(var) > tiny, var, 1.0)
