"""Kernel density over the cells of a numeric column: a fine histogram, smoothed where it is read.

    statistics   n_cg, the weight of row c in cell g: they add, as those of states do
    position     u_g = (1/C) Σ_c P(cell < g | c) + ½ P(cell = g | c)      the middle rank, rows counting alike
    estimate     θ_cg ∝ Σ_k (n_ck + α_ck) exp(−(u_g − u_k)²/2h²)
    bandwidth    h = ½ σ n^(−1/5), and at least half the median gap between neighboring cells

σ and n are the standard deviation and the weight of a row of parameters, averaged over the rows by their weight: one
bandwidth for all, so that what the kernel does at the ends cancels in the ratio of two rows. Ranks do not change when
the column is transformed, do not run after outliers, and keep apart a value that many rows share. The pooled prior
mixes a little of the density of all data into every row. Rows of parameters are estimated together.
References: B. Silverman, Density Estimation for Statistics and Data Analysis, 1986; G. John, P. Langley, Estimating
continuous distributions in Bayesian classifiers, UAI 1995.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeslearn.distributions.categorical import Categorical, CategoricalPredictive, Dirichlet
from bayeslearn.distributions.distribution import register
from bayeslearn.distributions.sufficient_statistics import NOTHING, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.distribution import How

    Floats = NDArray[np.float64]

#: The bandwidth in units of σ n^(−1/5).
BANDWIDTH = 0.5

#: The smallest bandwidth in units of the median gap.
SMALLEST = 0.5


@register("kernel_density")
@dataclass(frozen=True)
class KernelDensity(Categorical):
    """Numbers in cells, with smoothed probabilities; −1 is missing.

    >>> from bayeslearn.distributions import Dirichlet
    >>> KernelDensity(5).fit([0, 0, 2, 4, 4], prior=Dirichlet.none()).alpha
    array([2., 0., 1., 0., 2.])
    """

    prior_type: ClassVar[Any] = Dirichlet

    @classmethod
    def accepts(cls, variables: Sequence[Any]) -> bool:
        """One column of intervals."""
        return len(variables) == 1 and getattr(variables[0], "cuts", None) is not None

    def estimate(
        self,
        posterior: Dirichlet,
        *,
        how: How = "mean",
        random_state: np.random.Generator | int | None = None,
        otherwise: ArrayLike | None = None,
    ) -> Floats:
        """Smoothed shares of the cells; of a draw of the shares, where one is asked for."""
        alpha = posterior.alpha
        if how == "draw":
            alpha = posterior.draw(random_state) * posterior.strength[..., None]
        elif how == "mean" and otherwise is None:
            posterior.mean()  # an error where there are no cases
        shape = alpha.shape
        theta = smoothed(alpha.reshape(-1, self.n_states)).reshape(shape)
        empty = alpha.sum(axis=-1, keepdims=True) <= NOTHING
        return theta if otherwise is None else np.where(empty, otherwise, theta)

    def predictive(self, posterior: Dirichlet) -> CategoricalPredictive:
        """The estimate."""
        return CategoricalPredictive(self, self.estimate(posterior))


def smoothed(weight: Floats) -> Floats:
    """The estimate of each row of weights (rows, cells); even in a row without weight."""
    if weight.shape[1] == 1:
        return np.ones(weight.shape)
    total = weight.sum(axis=1, keepdims=True)
    seen = total[:, 0] > NOTHING
    shares = np.where(seen[:, None], ratio(weight, total), 1 / weight.shape[1])
    u = positions(shares[seen] if seen.any() else shares)
    h = bandwidth(u, shares, total[:, 0])
    kernel = np.exp(-0.5 * ((u[:, None] - u) / h) ** 2)
    found = shares @ kernel
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def positions(shares: Floats) -> Floats:
    """The middle rank of each cell, every row counting alike."""
    mean = shares.mean(axis=0)
    return np.asarray(np.cumsum(mean) - mean / 2)


def bandwidth(u: Floats, shares: Floats, total: Floats) -> float:
    """½ σ n^(−1/5), with σ and n averaged over the rows by their weight; at least half the median gap."""
    weight = total / total.sum() if total.sum() > NOTHING else np.full(len(total), 1 / len(total))
    center = shares @ u
    spread = np.sqrt(np.maximum(shares @ u**2 - center**2, 0.0))
    n = max(float(weight @ total), 1.0)
    gaps = np.diff(u)
    least = SMALLEST * float(np.median(gaps[gaps > 0])) if (gaps > 0).any() else 1.0
    return max(BANDWIDTH * float(weight @ spread) * n**-0.2, least)
