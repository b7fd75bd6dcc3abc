"""What local fits say at their queries: a value, how sure it is, and what it rests on.

    f̂(q) ± t_ν s √v          y at q: f̂(q) ± t_ν s √(1 + v)
    s² = (rss + ν₀s₀²)/ν      ν = n − parameters + ν₀

This is the posterior of the linear-Gaussian family, whose cases are the rows around the query with weights that add up
to n, their effective number. Of level and slopes nothing is known before; of the noise as much as ν₀ cases of variance
s₀² say, that of leave-one-out. With ν₀ = 0 bounds are infinite where the rows leave no degree of freedom.
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
    """Answers to queries, one row each; arrays of outputs are (q,), or (q, m) where there are several."""

    mean: Floats
    #: Squared errors of the rows around, by their weights.
    rss: Floats
    #: The effective number of rows around the query, (ΣK)²/ΣK².
    n: Floats
    #: The variance of the mean in units of that of the noise.
    spread: Floats
    #: How many numbers the rows determined, the level among them.
    parameters: Floats
    said: NDArray[np.int8]
    #: The slopes of the fit at each query, for every output and feature: (q, d) or (q, m, d).
    slopes: Floats | None = None
    #: How many cases are known of the noise before, ν₀, and the variance of each output, s₀².
    noise_cases: float = 0.0
    noise_before: Floats | None = None

    def __repr__(self) -> str:
        return f"LocalFit({len(self)} queries; {self.ridged.sum()} by ridge, {self.out_of_reach.sum()} out of reach)"

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def ridged(self) -> NDArray[np.bool_]:
        """Where the rows did not determine the slopes, so that the prior did."""
        return (self.said & kernels.RIDGED) != 0

    @property
    def out_of_reach(self) -> NDArray[np.bool_]:
        """Where no row was within reach of the kernel, so that the nearest answered."""
        return (self.said & kernels.OUT_OF_REACH) != 0

    @property
    def dof(self) -> Floats:
        """Degrees of freedom, 0 where there are none."""
        left = self.n - self.parameters
        return np.where(left > ROUNDING * self.n, left, 0.0) + self.noise_cases

    @property
    def noise(self) -> Floats:
        """The variance of the noise, s²; infinite where nothing is known of it."""
        ν = self._wide(self.dof)
        before = 0.0 if self.noise_before is None else self.noise_cases * self.noise_before
        return np.where(ν > 0, ratio(self.rss + before, ν), np.inf)

    @property
    def standard_error(self) -> Floats:
        """How far the mean is from the function: s √v."""
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
                " numbers", hint="raise k or the bandwidth, or lower the degree",
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
        """One number for every query as one for every output."""
        return np.broadcast_to(array[:, None], self.mean.shape) if self.mean.ndim == 2 else array
