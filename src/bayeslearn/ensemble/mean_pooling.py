"""Pools of numbers: a convex mean of the members, and a Student t around it whose width depends on the row.

    f(x) = Σ_m w_m f_m(x)                         w ≥ 0, Σ w = 1: least squares on out-of-fold means, ridge around 1/m
    y | x ~ t_ν(f(x), s(x))                       ln s(x) = a + b ln(σ + d(x))
    d(x)² = Σ_m w_m (f_m(x) − f(x))²              how far the members disagree; σ: the spread of the out-of-fold errors

a, b ≥ 0 and ν are posterior modes given the out-of-fold errors: errors of rows that the members were not fitted to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, nnls

from bayeslearn.distributions.student_t import StudentT, log_density

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Precision of the prior of the weights around 1/members, in rows.
PRECISION = 1.0

#: Degrees of freedom: the least, the most, and those without errors to learn from.
MIN_DOF, MAX_DOF, FEW_DOF = 1.5, 200.0, 3.0

#: The least width, relative to the spread of the target.
MIN_SCALE = 1e-6


@dataclass(frozen=True, eq=False)
class MeanPool:
    """How the means of members, (rows, members), become a distribution of the target.

    Attributes
    ----------
    coefficients
        The weight of each member.
    spread
        σ, the spread of the out-of-fold errors.
    level, slope
        a and b of the width.
    dof
        ν.
    """

    coefficients: Floats
    spread: float
    level: float
    slope: float
    dof: float

    def mean(self, means: Floats) -> Floats:
        """f(x)."""
        return np.asarray(means @ self.coefficients)

    def disagreement(self, means: Floats) -> Floats:
        """d(x)."""
        return np.asarray(np.sqrt(((means - self.mean(means)[:, None]) ** 2) @ self.coefficients))

    def scale(self, means: Floats) -> Floats:
        """s(x)."""
        return np.asarray(np.exp(self.level + self.slope * np.log(self.spread + self.disagreement(means))))

    def predictive(self, means: Floats) -> StudentT:
        """The distribution of the target of each row, (n, 1)."""
        location, scale = self.mean(means)[:, None], self.scale(means)[:, None]
        return StudentT(np.full(location.shape, self.dof), location, scale)


def fit_mean_pool(means: Floats, y: Floats, sample_weight: Floats) -> MeanPool:
    """The pool of out-of-fold means (rows, members), given the target of each row."""
    w = convex(means, y, sample_weight)
    f = means @ w
    total = float(sample_weight.sum())
    least = MIN_SCALE * max(float(np.sqrt(sample_weight @ (y - y.mean()) ** 2 / total)), 1e-300)
    spread = max(float(np.sqrt(sample_weight @ (y - f) ** 2 / total)), least)
    start = MeanPool(w, spread, 0.0, 1.0, FEW_DOF)
    reach = np.log(spread + start.disagreement(means))
    return MeanPool(w, spread, *widths(y - f, reach, np.log(spread), sample_weight))


def convex(means: Floats, y: Floats, sample_weight: Floats) -> Floats:
    """The weights w ≥ 0, Σ w = 1 of the least wᵀ Q w, Q = Σ_i ω_i e_i e_iᵀ / σ² + λ I, e the errors of the members.

    With Q = L Lᵀ, non-negative least squares of |Lᵀ w|² + κ (Σ w − 1)² has the same solution for every κ > 0, up to its
    sum.
    """
    m = means.shape[1]
    errors = means - y[:, None]
    gram = (errors * sample_weight[:, None]).T @ errors
    best = float(np.diagonal(gram).min()) / max(float(sample_weight.sum()), 1.0)  # σ² of the best member
    gram /= max(best, 1e-12 * float(np.trace(gram)), 1e-300)
    root = np.linalg.cholesky(gram + PRECISION * np.eye(m)).T
    side = np.sqrt(float(np.diagonal(gram).min()) + PRECISION)
    w, _ = nnls(np.vstack([root, np.full((1, m), side)]), np.append(np.zeros(m), side))
    return np.asarray(w / w.sum())


def widths(errors: Floats, reach: Floats, center: float, sample_weight: Floats) -> tuple[float, float, float]:
    """a, b and ν: a around center of the errors, b around 0, ln(ν − 1) around ln 4, all with precision 1."""

    def objective(theta: Floats) -> float:
        level, slope, log_dof = theta
        log_scale = center + level + slope * (reach - center)
        dof = np.full(errors.shape, np.exp(log_dof) + 1)
        z = errors * np.exp(-log_scale)
        prior = level**2 + slope**2 + (log_dof - np.log(4.0)) ** 2
        return -float(sample_weight @ log_density(dof, z * z, log_scale)) + prior / 2

    low, high = np.log(MIN_DOF - 1), np.log(MAX_DOF - 1)
    found = minimize(
        objective, np.array([0.0, 0.0, np.log(4.0)]), method="L-BFGS-B",
        bounds=[(-10.0, 5.0), (0.0, 3.0), (low, high)],
    )  # fmt: skip
    level, slope, log_dof = found.x
    return float(center + level - slope * center), float(slope), float(np.exp(log_dof) + 1)
