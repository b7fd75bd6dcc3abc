"""Lowess: local fits of one feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.regression.local.model_fit import fit_local

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bayeslearn.regression.local.results import LocalFit


def lowess(
    x: ArrayLike, y: ArrayLike, *, at: ArrayLike | None = None, frac: float = 2 / 3, degree: int = 1,
    kernel: str = "tricube", sample_weight: ArrayLike | None = None,
) -> LocalFit:  # fmt: skip
    """Smooth y over x by fits to the nearest `frac` of the rows, at the rows or `at` other points.

    With degree 1 and the tricube kernel this is lowess without its robust iterations.

    >>> lowess([0, 1, 2, 3, 4], [0, 1, 2, 3, 4], at=[2.5], frac=0.8).mean
    array([2.5])
    """
    x = validation.float_array("x", x).reshape(-1, 1)
    share = validation.number("frac", frac, above=0, max_value=1)
    k = max(int(share * len(x) + 1e-10), 2)
    model = fit_local(x, y, degree=degree, kernel=kernel, n_neighbors=k, sample_weight=sample_weight)
    return model.local_fits(x if at is None else np.reshape(validation.float_array("at", at), (-1, 1)))
