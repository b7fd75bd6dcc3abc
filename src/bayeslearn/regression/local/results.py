"""Local fits at their queries: values, intervals, effective numbers of rows.

    f̂(q) ± t_ν s √v          y at q: f̂(q) ± t_ν s √(1 + v)
    s² = (rss + ν₀s₀²)/ν      ν = n − parameters + ν₀

This is the posterior of the linear-Gaussian distribution for the rows around the query, with weights that add up to
their effective number n. Intercept and slopes have a flat prior; the noise has one of ν₀ rows with the variance s₀² of
leave-one-out. With ν₀ = 0 bounds are infinite where the rows leave no degree of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.distributions.student_t import StudentT
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import EvidenceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Fewer degrees of freedom than this share of the rows are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class LocalFit:
    """Fits at queries, one row each; arrays of targets are (q,), or (q, m) of several."""

    mean: Floats
    #: Squared errors of the rows around, by their weights.
    rss: Floats
    #: The effective number of rows around the query, (ΣK)²/ΣK².
    n: Floats
    #: The variance of the mean in units of that of the noise.
    spread: Floats
    #: The number of parameters that the rows determined, with the intercept.
    parameters: Floats
    #: Where a ridge was needed, or no row was within reach; see `ridged` and `out_of_reach`.
    flags: NDArray[np.int8]
    #: The slopes of the fit at each query, for every target and feature: (q, d) or (q, m, d).
    slopes: Floats | None = None
    #: The equivalent sample size of the prior of the noise, ν₀, and its variance for each target, s₀².
    noise_sample_size: float = 0.0
    noise_before: Floats | None = None

    def __repr__(self) -> str:
        return f"LocalFit({len(self)} queries; {self.ridged.sum()} by ridge, {self.out_of_reach.sum()} out of reach)"

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def ridged(self) -> NDArray[np.bool_]:
        """Where the rows did not determine the slopes, and a small ridge did."""
        return (self.flags & kernels.RIDGED) != 0

    @property
    def out_of_reach(self) -> NDArray[np.bool_]:
        """Where no row was within reach of the kernel, and the nearest row was used."""
        return (self.flags & kernels.OUT_OF_REACH) != 0

    @property
    def dof(self) -> Floats:
        """Degrees of freedom, 0 where there are none."""
        left = self.n - self.parameters
        return np.where(left > ROUNDING * self.n, left, 0.0) + self.noise_sample_size

    @property
    def noise(self) -> Floats:
        """The variance of the noise, s²; infinite where it is undetermined."""
        ν = self._wide(self.dof)
        before = 0.0 if self.noise_before is None else self.noise_sample_size * self.noise_before
        return np.where(ν > 0, ratio(self.rss + before, ν), np.inf)

    @property
    def standard_error(self) -> Floats:
        """The standard error of the mean: s √v."""
        return np.sqrt(self.noise * self._wide(self.spread))

    @property
    def std(self) -> Floats:
        """The standard deviation of a new y, √(ν/(ν − 2)) s √(1 + v); infinite where ν ≤ 2."""
        ν = self._wide(self.dof)
        wider = np.where(ν > 2, ratio(ν, ν - 2), np.inf)
        return np.sqrt(wider * self.noise * self._wide(1 + self.spread))

    def predictive(self) -> StudentT:
        """The distribution of a new y at each query; needs degrees of freedom at all of them."""
        if not (self.dof > 0).all():
            where = validation.first_position(self.dof == 0)
            raise EvidenceError(
                f"a prediction is undefined at query {where}: {self.n[where]:.3g} rows for {self.parameters[where]:.3g}"
                " parameters", hint="increase n_neighbors or the bandwidth, or reduce the degree",
            )  # fmt: skip
        return StudentT(self._wide(self.dof), self.mean, np.sqrt(self.noise * self._wide(1 + self.spread)))

    def interval(self, level: float = 0.95, *, of: Literal["y", "mean"] = "y") -> tuple[Floats, Floats]:
        """Equal-tailed bounds of a new y, or of the mean; infinite without degrees of freedom."""
        of = validation.choice("of", of, ["y", "mean"])
        known = self._wide(self.dof > 0)
        scale = np.sqrt(self.noise * self._wide(self.spread + (of == "y")))
        low, high = StudentT(
            np.where(known, self._wide(self.dof), 1.0), self.mean, np.where(known, scale, 0.0)
        ).interval(level)
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)

    def _wide(self, array: NDArray[Any]) -> NDArray[Any]:
        """One number for every query as one for every target."""
        return np.broadcast_to(array[:, None], self.mean.shape) if self.mean.ndim == 2 else array
