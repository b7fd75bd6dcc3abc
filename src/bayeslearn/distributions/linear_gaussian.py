"""Linear regression with normal noise: the linear-Gaussian likelihood with a normal-inverse-gamma prior.

    y = a + xᵀb + ε,  ε ~ N(0, σ²)          statistics: joint moments of the cases z = (x, y), y in the last column

Those moments are XᵀWX, XᵀWy, yᵀWy and n in a form that stays exact far from the origin; the prior of
:mod:`.regression` is evidence of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.distribution import Family
from bayeslearn.distributions.moments import JointMoments, real_cells
from bayeslearn.distributions.normal import LOG_2PI, normal_log_density, positive
from bayeslearn.distributions.regression_prior import RegressionPrior
from bayeslearn.distributions.sufficient_statistics import assign, paired
from bayeslearn.errors import MissingValuesError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.student_t import StudentT
    from bayeslearn.distributions.sufficient_statistics import Assignment


@dataclass(frozen=True)
class LinearGaussian(Family[JointMoments, RegressionPrior]):
    """A number that depends on `dim` others. A case is the row (x₁, …, x_d, y); y may be missing (NaN), x may not.

    >>> line = LinearGaussian(1)
    >>> z = line.cases(X=[[0], [1], [2]], y=[1, 3, 5])
    >>> line.estimate(line.fit(z, prior=RegressionPrior.none(1)))
    LinearParameters(intercept=array(1.), coef=array([2.]), var=array(0.))
    """

    dim: int

    def __post_init__(self) -> None:
        validation.integer("dim", self.dim, min_value=0)

    def cases(self, X: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Inputs (n, d) and outputs (n,) as cases (n, d + 1)."""
        inputs, outputs = real_cells(X, self.dim), real_cells(y)
        if len(inputs) != len(outputs):
            raise ShapeError(f"expected one y per row of X, got {len(outputs)} for {len(inputs)} rows")
        return np.column_stack([inputs, outputs])

    def cells(self, x: ArrayLike) -> NDArray[np.float64]:
        """Rows (x, y) of finite numbers, inputs missing only where y is."""
        cells = real_cells(x, self.dim + 1)
        _no_missing(np.isnan(cells[:, :-1]) & ~np.isnan(cells[:, -1:]))
        return cells

    def gather(self, cells: NDArray[np.float64], to: Assignment) -> JointMoments:
        """Joint moments of (x, y), shape (*rows, d + 1)."""
        return JointMoments.collect(np.where(np.isnan(cells[:, -1:]), np.nan, cells), to)

    def zero(self, rows: tuple[int, ...] = ()) -> JointMoments:
        """No data."""
        return JointMoments.zero((*rows, self.dim + 1))

    def update(self, prior: RegressionPrior, statistics: JointMoments) -> RegressionPrior:
        """Moments of prior and data, merged."""
        return prior.of((*statistics.n.shape, self.dim)).plus(statistics)

    def log_evidence(self, prior: RegressionPrior, statistics: JointMoments) -> NDArray[np.float64]:
        """ln p(y | X) = ln Γ(α')/Γ(α) + α ln β − α' ln β' + ½ ln κ|Λ| / κ'|Λ'| − n/2 ln 2π."""
        before = prior.of((*statistics.n.shape, self.dim))
        gain = before.plus(statistics).log_normalizer() - before.log_normalizer()
        return np.asarray(gain - statistics.n / 2 * LOG_2PI)

    def log_prob(
        self, parameters: tuple[ArrayLike, ArrayLike, ArrayLike], x: ArrayLike, *, groups: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Log density of y given x; 0 where y is missing."""
        a, b, var = self._parameters(parameters)
        z = self.cells(x)
        X = np.where(np.isnan(z[:, :-1]), 0.0, z[:, :-1])  # only where y is missing too
        y, a, var = paired(z[:, -1], groups, a, positive(var))
        if groups is None:
            return normal_log_density((y - a - np.tensordot(X, b, axes=(1, -1))) ** 2, var)
        own = assign(len(X), groups=groups, n_groups=len(b)).each(b)
        return normal_log_density((y - a - (X * own).sum(axis=1)) ** 2, var)

    def predictive(self, posterior: RegressionPrior) -> LinearPredictive:
        """Student t at each x."""
        return LinearPredictive(self, posterior)

    def draw(
        self,
        parameters: tuple[ArrayLike, ArrayLike, ArrayLike],
        n: ArrayLike,
        random_state: np.random.Generator | int | None = None,
    ) -> NDArray[np.float64]:
        """One y for each row of inputs, which stand in place of `n`: (n, *rows)."""
        a, b, var = self._parameters(parameters)
        line = a + np.tensordot(self.inputs(n), b, axes=(1, -1))
        return line + np.sqrt(var) * validation.generator(random_state).standard_normal(line.shape)

    def inputs(self, X: ArrayLike) -> NDArray[np.float64]:
        """Inputs (n, d), none missing."""
        x = real_cells(X, self.dim)
        _no_missing(np.isnan(x))
        return x

    def _parameters(
        self, parameters: tuple[ArrayLike, ArrayLike, ArrayLike]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        a, b, var = (np.asarray(p, dtype=float) for p in parameters)
        if b.shape != (*a.shape, self.dim) or var.shape != a.shape:
            raise ShapeError(
                f"expected intercept, coefficients and variance of shapes rows, (*rows, {self.dim}) and rows, "
                f"got {a.shape}, {b.shape} and {var.shape}"
            )
        return a, b, var


@dataclass(frozen=True)
class LinearPredictive:
    """One more y, given its inputs."""

    family: LinearGaussian
    posterior: RegressionPrior

    def at(self, X: ArrayLike) -> StudentT:
        """The distribution of y at each row of X: a Student t of shape (n, *rows)."""
        return self.posterior.predictive(self.family.inputs(X))

    def log_prob(self, x: ArrayLike) -> NDArray[np.float64]:
        """Log density of y in each case (x, y), (n, *rows); 0 where y is missing."""
        z = self.family.cells(x)
        t = self.at(np.where(np.isnan(z[:, -1:]), 0.0, z[:, :-1]))
        y = z[:, -1].reshape(-1, *[1] * (t.location.ndim - 1))
        return np.where(np.isnan(y), 0.0, t.log_pdf(y))

    def mean(self, X: ArrayLike) -> NDArray[np.float64]:
        """The expected y at each row of X."""
        return self.at(X).mean()

    def draw(self, n: ArrayLike, random_state: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """One y for each row of inputs, which stand in place of `n`: (n, *rows)."""
        return self.at(n).draw(1, random_state)[0]

    def interval(self, X: ArrayLike, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Equal-tailed bounds of y at each row of X."""
        return self.at(X).interval(level)


def _no_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise MissingValuesError(
            f"input {validation.first_position(missing)} is missing, and a regression needs its inputs",
            hint="drop the case, or fill the cell; only y may be missing",
        )
