"""The settings of local fits: degree, locality, kernel, number of neighbors and bandwidth.

    neighbors           Σ over the n nearest rows of (f(x) − f̂(x))²                 criterion E1 of the textbook
    kernel              Σ over all rows of (f(x) − f̂(x))² K(d/h)                    E2
    kernel_neighbors    Σ over the n nearest rows of (f(x) − f̂(x))² K(d/h)          E3

h is a number, or None: the distance of the n-th nearest row, as in lowess.

A kernel gives the weight of a row at distance d = u·h in the fit at a query:

    gaussian          exp(−(u² − u_min²)/2)
    tricube           (1 − u³)³           0 beyond u = 1
    epanechnikov      1 − u²              0 beyond u = 1
    inverse_square    1/u²                without bound: the fit passes through the rows that are at the query
    uniform           1                   0 beyond u = 1

h is the bandwidth. Only ratios of weights matter: kernels are not normalized, and the Gaussian is relative to that of
the nearest row, so that it reaches any distance. Where no row is within reach of a kernel that ends, the nearest rows
have weight 1, and the fit is flagged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


#: Their numbers in compiled code.
KERNELS = {"uniform": 0, "gaussian": 1, "tricube": 2, "epanechnikov": 3, "inverse_square": 4}


def kernel_weights(kernel: str, distances: ArrayLike, bandwidth: float | None = None) -> NDArray[np.float64]:
    """The weights of rows at these distances; the default bandwidth is the largest of them.

    >>> kernel_weights("epanechnikov", [0, 1, 2])
    array([1.  , 0.75, 0.  ])
    """
    kernel = validation.choice("kernel", kernel, KERNELS)
    d = validation.not_negative("distances", validation.float_array("distances", distances))
    h = d.max(initial=0.0) if bandwidth is None else validation.number("bandwidth", bandwidth, above=0)
    if kernel == "inverse_square":
        h = d.min(initial=np.inf)
    if h == 0:
        return np.asarray(d == 0, dtype=float)
    w = _WEIGHTS[kernel](d / h)
    return w if w.any() else np.asarray(d == d.min(initial=np.inf), dtype=float)


_WEIGHTS = {
    "uniform": lambda u: (u <= 1).astype(float),
    "gaussian": lambda u: np.exp((u.min(initial=np.inf) ** 2 - u**2) / 2),
    "tricube": lambda u: np.maximum(1 - u**3, 0) ** 3,
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
    "inverse_square": lambda u: 1 / u**2,
}


LOCALITIES = ("neighbors", "kernel", "kernel_neighbors")


@dataclass(frozen=True)
class Settings:
    """How the fit around every query is made.

    >>> Settings(n_neighbors=20)
    Settings(degree=1, locality='kernel_neighbors', kernel='tricube', n_neighbors=20, bandwidth=None, ridge=0.0)
    """

    degree: int = 1
    locality: Literal["neighbors", "kernel", "kernel_neighbors"] = "kernel_neighbors"
    kernel: str = "tricube"
    n_neighbors: int | None = None
    bandwidth: float | None = None
    #: The prior's precision of the slopes; see :class:`~bayeslearn.distributions.RegressionPrior`.
    ridge: float = 0.0

    def __post_init__(self) -> None:
        validation.integer("degree", self.degree, min_value=0, max_value=2)
        object.__setattr__(self, "locality", validation.choice("locality", self.locality, LOCALITIES))
        object.__setattr__(self, "kernel", validation.choice("kernel", self.kernel, KERNELS))
        validation.number("ridge", self.ridge, min_value=0)
        if self.bandwidth is not None:
            validation.number("bandwidth", self.bandwidth, above=0)
        if self.locality == "kernel" and self.bandwidth is None and self.kernel != "inverse_square":
            raise ParameterError('locality "kernel" needs a bandwidth', hint='use a number, or "auto"')
        if self.locality != "kernel":
            if self.n_neighbors is None:
                raise ParameterError(
                    f"locality {self.locality!r} needs the number of neighbors", hint='use a number, or "auto"'
                )
            validation.integer("n_neighbors", self.n_neighbors, min_value=1)

    @property
    def neighbors(self) -> int | None:
        """The number of rows in a fit; None for all."""
        return None if self.locality == "kernel" else self.n_neighbors

    @property
    def reach(self) -> float:
        """The bandwidth of compiled code: 0 is the distance of the farthest row of the fit."""
        return 0.0 if self.locality == "neighbors" or self.bandwidth is None else self.bandwidth

    @property
    def weighting(self) -> str:
        """The kernel that is used; neighbors without a kernel are uniform."""
        return "uniform" if self.locality == "neighbors" else self.kernel


def parameters(degree: int, dim: int) -> int:
    """The number of parameters of a fit, with the intercept."""
    return (1, 1 + dim, 1 + dim + dim * (dim + 1) // 2)[degree]
