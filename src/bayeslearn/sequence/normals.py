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
from bayeslearn.errors import ShapeError
from bayeslearn.families import Moments, NormalInverseGamma
from bayeslearn.families.moments import real_cells
from bayeslearn.families.normal import normal_log_density, positive
from bayeslearn.families.statistics import frozen
from bayeslearn.sequence.cells import number_rows
from bayeslearn.sequence.emissions import NOTHING, Emissions
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
        var = positive(
            np.broadcast_to(validation.float_array("var", self.var).reshape(np.shape(self.mean)), mean.shape)
        )
        object.__setattr__(self, "var", frozen(var))
        object.__setattr__(self, "floor", frozen(np.broadcast_to(self.floor, mean.shape[1:])))

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """Σ_d ln N(x_d | μ_d, σ²_d), without the coordinates that are missing."""
        return normal_log_density((cells[:, None, :] - self.mean) ** 2, self.var).sum(axis=-1)

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

    def estimate(self, prior: NormalInverseGamma, statistics: Moments) -> Self:
        """Posterior means of μ and σ², where there is something to rest on."""
        after = prior.of(self.mean.shape).plus(statistics)
        mean = np.where(after.kappa > NOTHING, after.mu, self.mean)
        cases = after.alpha - 1
        var = np.where(cases > NOTHING, after.beta / np.where(cases > NOTHING, cases, 1.0), self.var)
        return replace(self, mean=mean, var=np.maximum(var, self.floor))

    def log_prior(self, prior: NormalInverseGamma) -> float:
        """−(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ²."""
        before = prior.of(self.mean.shape)
        spread = before.beta + before.kappa * (self.mean - before.mu) ** 2 / 2
        return float((-(before.alpha - 1) * np.log(self.var) - spread / self.var).sum())

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> NormalInverseGamma:
        """So many cases of the mean and variance of all rows."""
        return NormalInverseGamma.unit_information(*spread_of(cells), cases)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, mean=self.mean[order], var=self.var[order])

    def _spreads(self, state: int) -> Floats:
        return self.var[state]


### helpers


def spread_of(cells: Floats | Moments) -> tuple[Floats, Floats]:
    """Means and variances of columns, or of their moments; 1 for the variance of a column that does not vary."""
    if isinstance(cells, Moments):
        mean, var = cells.mean, cells.var
    elif np.isnan(cells.sum()):
        seen = ~np.isnan(cells)
        n = np.maximum(seen.sum(axis=0), 1)
        mean = np.where(seen, cells, 0.0).sum(axis=0) / n
        var = np.where(seen, (cells - mean) ** 2, 0.0).sum(axis=0) / n
    else:
        mean, var = cells.mean(axis=0), cells.var(axis=0)
    tiny = 1e-24 * np.maximum(mean * mean, 1.0)
    return mean, np.where(var > tiny, var, 1.0)
