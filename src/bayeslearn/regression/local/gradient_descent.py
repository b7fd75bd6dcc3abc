"""The gradient rule: the fit around a query by iterations.

    w_j ← w_j + η Σ K(d(q, x)) (f(x) − f̂(x)) a_j(x)          f̂(x) = Σ_j w_j a_j(x)

The sum is over the rows of the fit (K = 1 without a kernel). The features a_j are 1, the coordinates about the query
and their products, standardized over the neighborhood, without which it converges slowly. It ends where the weighted
normal equations hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.regression.feature_encoding import center_and_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.regression.local.model import LocalRegressionModel

    Floats = NDArray[np.float64]


#: The rule has diverged where the error has grown by this factor.
DIVERGED = 1e9


@dataclass(frozen=True, eq=False)
class Descent:
    """The iterations: f̂ at the query, the last coefficients, and ½ Σ K (f − f̂)² after every one."""

    value: Floats
    coefficients: Floats
    errors: Floats
    converged: bool

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.errors) - 1


def descend(
    model: LocalRegressionModel, query: Any, *, rate: float | None = None, tol: float = 1e-12, max_iter: int = 100_000
) -> Descent:
    """Iterate around one query until no coefficient changes by more than `tol` of the largest target.

    `rate` is η; by default one over the largest eigenvalue of Σ K a aᵀ. Twice that would never converge.

    >>> from bayeslearn.regression.local import fit_local
    >>> model = fit_local([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0], n_neighbors=4)
    >>> descend(model, [[1.5]]).value.round(6).tolist()
    4.0
    """
    rows, K = model.neighborhood(query)
    A, here = attributes(model.space.points[rows] - model.points(query), K, model.settings.degree)
    f, w = model.outputs[rows], np.zeros((A.shape[1], *model.outputs.shape[1:]))
    largest = float(np.linalg.eigvalsh(A.T @ (K[:, None] * A))[-1])
    η = 1 / largest if rate is None else validation.number("rate", rate, above=0)
    small = validation.number("tol", tol, min_value=0) * np.abs(f).max(initial=0)
    errors, converged = [_error(K, f)], False
    for _ in range(validation.integer("max_iter", max_iter, min_value=1)):
        step = η * np.tensordot(A * K[:, None], f - A @ w, axes=(0, 0))
        w += step
        errors.append(_error(K, f - A @ w))
        converged = bool(np.abs(step).max() <= small)
        if converged or errors[-1] > DIVERGED * errors[0]:
            break
    return Descent(np.asarray(here @ w), w, np.array(errors), converged)


def _error(K: Floats, off: Floats) -> float:
    return float((K * off.T**2).sum()) / 2


def attributes(z: Floats, K: Floats, degree: int) -> tuple[Floats, Floats]:
    """1, the coordinates about the query and their products, standardized: at the rows, and at the query."""
    pairs = [z[:, a] * z[:, b] for a in range(z.shape[1]) for b in range(a + 1)]
    columns = [[], [*z.T], [*z.T, *pairs]][degree]
    if not columns:
        return np.ones((len(z), 1)), np.ones(1)
    a = np.column_stack(columns)
    mean, spread = center_and_spread(a, K)
    scale = ratio(1.0, spread)
    return np.column_stack([np.ones(len(z)), (a - mean) * scale]), np.concatenate([[1.0], -mean * scale])
