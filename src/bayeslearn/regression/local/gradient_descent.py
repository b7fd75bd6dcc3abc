"""The gradient rule: the fit around a query found step by step.

    w_j ← w_j + η Σ K(d(q, x)) (f(x) − f̂(x)) a_j(x)          f̂(x) = Σ_j w_j a_j(x)

The sum is over the rows of the criterion (K = 1 for E1). The attributes a_j are 1, the coordinates about the query and
their products, standardized over the neighbourhood, without which the rule crawls. It ends where the weighted normal
equations hold.
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


#: An error that has grown so much will not fall again.
LOST = 1e9


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the rule went: f̂ at the query, the weights of the last step, and ½ Σ K (f − f̂)² at every one."""

    value: Floats
    weights: Floats
    errors: Floats
    converged: bool

    @property
    def steps(self) -> int:
        """How often all weights were changed."""
        return len(self.errors) - 1


def descend(
    model: LocalRegressionModel, query: Any, *, rate: float | None = None, tol: float = 1e-12, max_steps: int = 100_000
) -> Descent:
    """Follow the rule around one query until a step changes no weight by more than `tol` of the largest output.

    `rate` is η; when not given, one over the largest eigenvalue of Σ K a aᵀ: twice that would never settle.

    >>> from bayeslearn.regression.local import local_regression
    >>> model = local_regression([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0], k=4)
    >>> descend(model, [[1.5]]).value.round(6).tolist()
    4.0
    """
    rows, K = model.neighbourhood(query)
    A, here = attributes(model.space.points[rows] - model.points(query), K, model.settings.degree)
    f, w = model.outputs[rows], np.zeros((A.shape[1], *model.outputs.shape[1:]))
    largest = float(np.linalg.eigvalsh(A.T @ (K[:, None] * A))[-1])
    η = 1 / largest if rate is None else validation.number("rate", rate, above=0)
    small = validation.number("tol", tol, min_value=0) * np.abs(f).max(initial=0)
    errors, converged = [_error(K, f)], False
    for _ in range(validation.integer("max_steps", max_steps, min_value=1)):
        step = η * np.tensordot(A * K[:, None], f - A @ w, axes=(0, 0))
        w += step
        errors.append(_error(K, f - A @ w))
        converged = bool(np.abs(step).max() <= small)
        if converged or errors[-1] > LOST * errors[0]:
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
