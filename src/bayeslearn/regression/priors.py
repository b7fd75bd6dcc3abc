"""Priors of linear fits in the units of their data, and their strength by the marginal likelihood.

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

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import RegressionPrior
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.distributions.priors import cases_of
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions import JointMoments

    Floats = NDArray[np.float64]

#: The equivalent sample sizes that are tried; the best is refined between its neighbors.
STRENGTHS = np.logspace(-8, 8, 161)

#: Fewer rows than this for each weight, or a smaller eigenvalue of the correlations, ask for a prior.
ROWS_PER_WEIGHT, COLLINEARITY = 2, 1e-4

#: The variance of the noise before the data where the evidence chooses, as a share of that of the outputs: a function
#: without noise must not look like one that is not worth its coefficients.
LITTLE = 1e-4


def prior_of(prior: Any, moments: JointMoments, dim: int) -> RegressionPrior:
    """A prior by its name, by its equivalent sample size, or as it is."""
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
