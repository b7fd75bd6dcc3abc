"""Bayesian linear regression of one or several outputs: least squares is its maximum likelihood.

    y = a + xᵀb + ε,  ε ~ N(0, σ²)        argmax_ab Π p(y_i | x_i) = argmin_ab Σ (y_i − a − x_iᵀb)²

    posterior = prior + statistics         Λ = Λ₀ + S_xx     b = Λ⁻¹ S_xy     2β = S_yy − bᵀΛb

The statistics are joint moments of the rows (x, y₁, …, y_m): all outputs share Λ. The prior is that of
:mod:`bayeslearn.distributions.regression_prior`. Where rows and prior leave some direction of b open, b is the
shortest of all that are as good; :attr:`LinearFit.rank` has their number.

Priors are in the units of the data, and their strength is given by a word or found by the marginal likelihood:

    auto        reference where the rows determine every weight, else weak
    none        maximum likelihood; so is None               reference   Jeffreys: the textbooks' intervals
    weak        equivalent sample size 1: y varies around its mean, and does not depend on x
    λ           the same, with sample size λ for the slopes, b_j ~ N(0, σ²/(λ s_j²)): ridge regression
    evidence    the λ of the highest marginal likelihood, with little noise in the prior

Other words are those of :mod:`bayeslearn.distributions.priors`: `m:λ` and `pooled:λ` are λ.

In standardized units, with the eigenvalues e of S_xx, the marginal likelihood of every λ has a closed form:

    2β(λ) = 2β₀ + S_yy − Σ q²/(e + λ)        ln p(y | X, λ) = ½ Σ ln λ/(λ + e) − α ln β(λ) + constant
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from bayeslearn import validation
from bayeslearn.distributions import JointMoments, LinearGaussian, RegressionPrior
from bayeslearn.distributions.lineage import after_update, merged, scaled, separated, without_rows
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.distributions.priors import cases_of
from bayeslearn.distributions.student_t import COLLINEAR, StudentT
from bayeslearn.distributions.sufficient_statistics import assign, require
from bayeslearn.errors import DataError, MismatchError, ParameterError, ShapeError, option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.lineage import Lineage

    Floats = NDArray[np.float64]


#: The equivalent sample sizes that are tried; the best is refined between its neighbors.
STRENGTHS = np.logspace(-8, 8, 161)

#: Fewer rows than this for each weight, or a smaller eigenvalue of the correlations, ask for a prior.
ROWS_PER_WEIGHT, COLLINEARITY = 2, 1e-4

#: The variance of the noise before the data where the evidence chooses, as a share of that of the outputs: a function
#: without noise must not look like one that is not worth its coefficients.
LITTLE = 1e-4


def prior_of(prior: Any, moments: JointMoments, dim: int) -> RegressionPrior:
    """A prior by its name, by its equivalent sample size, or the given one."""
    if isinstance(prior, RegressionPrior):
        return prior
    if isinstance(prior, bool) or not isinstance(prior, str | int | float | np.number | None):
        raise ParameterError(
            f"`prior` must be a name, an equivalent sample size or a RegressionPrior, got {prior!r}",
            hint="the names are auto, reference, weak, none, evidence, m:SIZE and pooled:SIZE",
        )
    if prior == "auto":
        prior = "reference" if undetermined(moments, dim) is None else "weak"
    if prior == "reference":
        return RegressionPrior.reference(dim)
    if not isinstance(prior, str | None):
        return weak(moments, dim, validation.number("prior", float(prior), above=0))
    cases = cases_of("pooled:1" if prior == "weak" else prior)
    if cases == "evidence":
        return best(moments, dim)
    return weak(moments, dim, cases) if cases else RegressionPrior.none(dim)


def undetermined(moments: JointMoments, dim: int) -> str | None:
    """Return why the rows do not determine all coefficients well, or None where they do.

    They do with at least two rows for each coefficient, every indicator set in two rows at least (a row that alone
    sets one has leverage 1), and no eigenvalue of the correlations of the inputs below 1e-4.
    """
    n, mean = float(moments.n), moments.mean[:dim]
    var = np.diagonal(moments.cov)[:dim]
    varies = var > 1e-24 * mean**2
    weights = int(varies.sum()) + 1
    if n < ROWS_PER_WEIGHT * weights:
        return f"{n:.10g} rows for {weights} coefficients"
    share = np.minimum(mean, 1 - mean)
    alone = varies & np.isclose(var, mean * (1 - mean), rtol=1e-9, atol=0) & (share * n < 1.5)
    if alone.any():
        return f"{int(alone.sum())} columns are set in a single row"
    scale = np.sqrt(var[varies])
    correlation = moments.cov[:dim, :dim][np.ix_(varies, varies)] / (scale[:, None] * scale)
    if weights > 2 and np.linalg.eigvalsh(correlation)[0] < COLLINEARITY:
        return "columns are nearly collinear"
    return None


def best(moments: JointMoments, dim: int) -> RegressionPrior:
    """The prior of the highest marginal likelihood."""
    return weak(moments, dim, best_strength(moments, dim), noise=LITTLE)


def weak(moments: JointMoments, dim: int, strength: float, *, noise: float = 1.0) -> RegressionPrior:
    """A prior in which no output depends on x, with an equivalent sample size for the slopes.

    The prior variance of the noise is this share of the variance of the outputs.
    """
    var = variances(moments)
    inputs, outputs = strength * var[:dim], noise * var[dim:]
    scatter = np.stack([np.diag([*inputs, spread]) for spread in outputs])
    center = np.stack([np.append(moments.mean[:dim], level) for level in moments.mean[dim:]])
    return RegressionPrior(np.ones(len(outputs)), center, scatter, np.full(len(outputs), 1.5))


def variances(moments: JointMoments) -> Floats:
    """The variance of every column; 1 of a constant."""
    var = np.diagonal(moments.cov)
    return np.where(np.sqrt(var) > 1e-12 * np.abs(moments.mean), var, 1.0)


def strength_evidence(moments: JointMoments, dim: int, strengths: Floats) -> Floats:
    """ln p(outputs | inputs) under the prior of every strength, up to a constant."""
    scale = np.sqrt(variances(moments))
    S = moments.scatter / scale[:, None] / scale
    e, V = np.linalg.eigh(S[:dim, :dim])
    e = np.maximum(e, 0.0)
    q = V.T @ S[:dim, dim:]
    λ = strengths[:, None]
    with in_range():
        β = LITTLE + np.diagonal(S)[dim:] - (1 / (λ + e)) @ (q * q)  # twice, in units of the variance of the outputs
    require_range(β)
    α = 1.5 + float(moments.n) / 2
    spread = np.log(λ / (λ + e)).sum(axis=1) / 2
    return np.asarray(len(q.T) * spread - α * np.log(np.maximum(β, 1e-300)).sum(axis=1))


def best_strength(moments: JointMoments, dim: int) -> float:
    """The equivalent sample size of the slopes of the highest marginal likelihood."""
    grid = STRENGTHS
    for _ in range(3):
        at = int(strength_evidence(moments, dim, grid).argmax())
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        chosen = float(grid[at])
        grid = np.geomspace(low, high, 33)
    return chosen


class Solution(NamedTuple):
    """The solution of every output."""

    #: Intercepts (m,) and coefficients (m, d).
    intercept: Floats
    coef: Floats
    #: 2β/2 and α of the noise, (m,).
    beta: Floats
    alpha: Floats
    #: R (d, rank) with Λ⁻¹ = R Rᵀ, over the directions that are determined.
    root: Floats


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A prior and the moments of rows (x, y₁, …, y_m); fits with the same prior add.

    >>> fit = LinearFit.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.5])
    >>> fit.coef, fit.intercept
    (array([[2.15]]), array([0.9]))
    >>> both = fit + fit
    >>> both.total_weight, (both - fit).coef
    (8.0, array([[2.15]]))
    """

    prior: RegressionPrior
    statistics: JointMoments
    #: The number of inputs.
    dim: int
    #: What the statistics are made of, where the fit was updated; see :mod:`bayeslearn.distributions.lineage`.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        m = self.statistics.mean.shape[-1] - self.dim
        if self.statistics.n.shape or m < 1:
            raise ShapeError(
                f"expected moments of {self.dim} inputs and some outputs, got {self.statistics.mean.shape}"
            )
        object.__setattr__(self, "prior", self.prior.of((m, self.dim)))
        inputs = self.prior.scatter[:, : self.dim, : self.dim], self.prior.center[:, : self.dim], self.prior.kappa
        if any((part != part[:1]).any() for part in inputs):
            raise ShapeError("the prior must be the same of the inputs for all outputs")

    @classmethod
    def fit(
        cls, X: ArrayLike, y: ArrayLike, *, prior: Any = "reference", sample_weight: ArrayLike | None = None
    ) -> LinearFit:
        """Inputs (n, d) and outputs (n,) or (n, m); a row with a missing output adds nothing.

        The answers of the reference prior are those of the textbooks; others are named in
        the words of this module.
        """
        statistics, dim = collect(X, y, sample_weight)
        return cls(prior_of(prior, statistics, dim), statistics, dim)

    # -- more rows, fewer rows

    def update(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> LinearFit:
        """Return the fit with more rows."""
        return self.with_more(collect(X, y, sample_weight)[0])

    def with_more(self, statistics: JointMoments) -> LinearFit:
        """Return the fit with the statistics of more rows."""
        lineage = after_update(self.lineage, self.statistics, statistics)
        return replace(self, statistics=self.statistics + statistics, lineage=lineage)

    def without(self, statistics: JointMoments) -> LinearFit:
        """Return the fit without the statistics of rows that were added before."""
        left = self.statistics - statistics
        return replace(self, statistics=left, lineage=without_rows(self.lineage, statistics, left))

    def require_same(self, other: LinearFit) -> None:
        """Only fits that began alike can be added."""
        names = ("kappa", "center", "scatter", "alpha")
        if not all(np.array_equal(getattr(self.prior, name), getattr(other.prior, name)) for name in names):
            raise MismatchError("the fits have different priors", hint="fit both with the same prior", differs="prior")

    def __add__(self, other: LinearFit) -> LinearFit:
        if not isinstance(other, LinearFit):
            return NotImplemented
        self.require_same(other)
        statistics, lineage = merged(self.statistics, other.statistics, self.lineage, other.lineage)
        return replace(self, statistics=statistics, lineage=lineage)

    def __sub__(self, other: LinearFit) -> LinearFit:
        if not isinstance(other, LinearFit):
            return NotImplemented
        self.require_same(other)
        statistics, lineage = separated(self.statistics, other.statistics, self.lineage, other.lineage)
        return replace(self, statistics=statistics, lineage=lineage)

    def __mul__(self, factor: float) -> LinearFit:
        return replace(self, statistics=self.statistics * factor, lineage=scaled(self.lineage, factor))

    __rmul__ = __mul__

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""
        return float(self.statistics.n)

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.statistics.mean.shape[-1] - self.dim

    # -- answers

    @cached_property
    def by_output(self) -> JointMoments:
        """The moments of the inputs with each single output, a row for each."""
        d, m = self.dim, self.n_outputs
        place = np.array([[*range(d), d + j] for j in range(m)])
        scatter = self.statistics.scatter[place[:, :, None], place[:, None, :]]
        return JointMoments(np.full(m, self.statistics.n), self.statistics.mean[place], scatter)

    @cached_property
    def posterior(self) -> RegressionPrior:
        """The distribution of intercept, coefficients and noise, a row for every output."""
        return LinearGaussian(self.dim).update(self.prior, self.by_output)

    @cached_property
    def solution(self) -> Solution:
        """Coefficients and noise; undetermined coefficients are the shortest."""
        now, d = self.posterior, self.dim
        require(now.kappa > 0, "nothing was learned yet: there are no rows", hint="add rows")
        Λ, S_xy, S_yy = now.scatter[0, :d, :d], now.scatter[:, :d, -1], now.scatter[:, -1, -1]
        root = inverse_root(Λ)
        coef = (S_xy @ root) @ root.T
        rest = S_yy - ((S_xy @ root) ** 2).sum(axis=1)
        β = np.where(rest <= COLLINEAR * S_yy, 0.0, rest) / 2
        # Jeffreys' prior loses a degree of freedom for every coefficient: for those that are determined only
        free = np.where(self.prior.alpha == -(d + 1) / 2, (d - root.shape[1]) / 2, 0.0)
        level = now.center[:, -1] - (now.center[:, :d] * coef).sum(axis=1)
        return Solution(level, coef, β, now.alpha + free, root)

    @property
    def rank(self) -> int:
        """The number of coefficients that rows and prior determine; fewer than `dim` where columns are collinear."""
        return self.solution.root.shape[1]

    @property
    def coef(self) -> Floats:
        """The expected coefficients (m, d)."""
        return self.solution.coef

    @property
    def intercept(self) -> Floats:
        """The expected intercepts (m,)."""
        return self.solution.intercept

    @property
    def noise(self) -> Floats:
        """The standard deviation of the noise (m,), √(β/α): in textbooks √(RSS/(n − d − 1)); NaN of too few rows."""
        _, _, β, α, _ = self.solution
        return np.sqrt(np.divide(β, α, out=np.full(β.shape, np.nan), where=α > 0))

    def mean(self, X: ArrayLike) -> Floats:
        """The expected outputs at each row of X, (n, m)."""
        return self.inputs(X) @ self.coef.T + self.intercept

    def predictive(self, X: ArrayLike, *, noise: float = 1.0) -> StudentT:
        """The distribution of y at each row of X, Student t of shape (n, m); with ``noise=0`` that of the line."""
        x = self.inputs(X)
        spread = noise + self.leverage(x)[:, None]
        _, _, β, α, _ = self._proper()
        return StudentT(2 * α, self.mean(x), np.sqrt(β / α * spread))

    def coefficients(self) -> StudentT:
        """The posterior of intercept and coefficients: Student t of shape (m, 1 + d), the intercept first."""
        level, coef, β, α, root = self._proper()
        at_zero = self.leverage(np.zeros((1, self.dim)))
        variance = np.concatenate([at_zero, (root**2).sum(axis=1)]) * (β / α)[:, None]
        return StudentT(2 * α[:, None], np.column_stack([level, coef]), np.sqrt(variance))

    def leverage(self, x: Floats) -> Floats:
        """1/κ + (x − c)ᵀΛ⁻¹(x − c), (n,): the variance of the fitted line at x, in units of σ²."""
        now = self.posterior
        z = (x - now.center[0, : self.dim]) @ self.solution.root
        return np.asarray(1 / now.kappa[0] + np.einsum("ij,ij->i", z, z))

    def log_marginal_likelihood(self) -> Floats:
        """ln p(y | X) of every output, coefficients and noise integrated out; needs a proper prior."""
        return LinearGaussian(self.dim).log_evidence(self.prior, self.by_output)

    def leave_one_out_residuals(self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Floats:
        """The residual of each training row when it is predicted from all others, (n, m): e/(1 − h), PRESS.

        NaN where the output is missing, or where the others do not determine it.
        """
        x, outputs = self.inputs(X), columns(y)
        w = validation.weights(sample_weight, len(x))
        left = 1 - w * self.leverage(x)
        left = np.where(left > 1e-10, left, np.nan)
        return (outputs - self.mean(x)) / left[:, None]

    def inputs(self, X: ArrayLike) -> Floats:
        """Inputs (n, d), none missing."""
        return LinearGaussian(self.dim).inputs(X)

    def _proper(self) -> Solution:
        found = self.solution
        require(
            found.alpha > 0,
            f"an interval is undefined: {self.total_weight:.10g} rows are too few for {self.rank + 1} coefficients",
            hint=f"add rows, or use a prior such as {option('prior', 'weak')}",
        )
        return found


### statistics


def collect(X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[JointMoments, int]:
    """The joint moments of inputs and outputs, and how many inputs there are."""
    x = validation.float_array("X", X)
    if x.ndim != 2:
        raise ShapeError(f"expected inputs of shape (n, d), got {x.shape}")
    family, outputs = LinearGaussian(x.shape[1]), columns(y)
    if len(x) != len(outputs):
        raise ShapeError(f"expected one y per row of X, got {len(outputs)} for {len(x)} rows")
    gone = np.asarray(np.isnan(outputs).any(axis=1))
    x = family.inputs(np.where(gone[:, None], 0.0, x) if gone.any() else x)
    z = np.column_stack([x, outputs])
    z[gone] = np.nan
    return JointMoments.collect(z, assign(len(z), sample_weight=sample_weight)), x.shape[1]


def columns(y: ArrayLike) -> Floats:
    """Outputs as columns (n, m) of numbers, NaN where missing."""
    outputs = validation.float_array("y", y)
    outputs = outputs[:, None] if outputs.ndim == 1 else outputs
    if outputs.ndim != 2 or not outputs.shape[1]:
        raise ShapeError(f"expected outputs of shape (n,) or (n, m), got {outputs.shape}")
    if np.isinf(outputs).any():
        where = validation.first_position(np.isinf(outputs))
        raise DataError(f"Input y contains infinity, at {where}", hint="NaN marks a missing output")
    return outputs


### algebra


def inverse_root(Λ: Floats) -> Floats:
    """R with Λ⁻¹ = R Rᵀ, over the directions that Λ determines; nothing along all others."""
    scale = np.sqrt(np.maximum(np.diagonal(Λ), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = Λ / (scale[:, None] * scale)
    with suppress(np.linalg.LinAlgError):
        L = np.linalg.cholesky(correlation)
        if np.diagonal(L).min(initial=1.0) ** 2 > COLLINEAR:
            return np.asarray(solve_triangular(L, np.diag(1 / scale), lower=True).T)
    e, V = np.linalg.eigh(correlation)
    known = e > COLLINEAR * len(Λ)
    open_ = np.linalg.qr(V[:, ~known] / scale[:, None])[0]
    root = V[:, known] / np.sqrt(e[known]) / scale[:, None]
    return root - open_ @ (open_.T @ root)
