"""Kernels: the weight of a row at distance d = u·h in the fit at a query.

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

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation

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
