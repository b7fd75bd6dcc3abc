"""A mixture in each state: p(x | s) = Σ_k w_sk p_sk(x), of any emissions.

The parts are emissions of S·K rows, state by state. A row of data gives its share γ_s on to the parts of state s as
they explain it: r_sk = γ_s w_sk p_sk(x) / p(x | s).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp, xlogy

from bayeslearn import validation
from bayeslearn.distributions import Bundle, Counts, Dirichlet
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.sequence.emissions import Emissions
from bayeslearn.sequence.symbols import logs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments

    Floats = NDArray[np.float64]


class MixturePrior(NamedTuple):
    """Priors of the weights and of the parts."""

    weights: Any
    parts: Any


@dataclass(frozen=True, eq=False)
class MixtureEmissions(Emissions):
    """Weights (S, K) and parts of S·K rows, state by state."""

    kind: ClassVar[str] = "mixture"

    weights: Floats
    parts: Emissions

    def __post_init__(self) -> None:
        weights = validation.probabilities(self.weights, name="weights")
        if weights.ndim != 2 or weights.size != self.parts.size:
            raise ShapeError(f"weights of shape {weights.shape} do not fit {self.parts.size} parts")
        object.__setattr__(self, "weights", frozen(weights))

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.weights)

    @property
    def parameters(self) -> Any:
        """Those of the parts."""
        return self.parts.parameters

    def with_parameters(self, parameters: Any) -> Self:
        """Other parts."""
        return replace(self, parts=self.parts.with_parameters(parameters))

    @property
    def by_moments(self) -> bool:  # type: ignore[override]
        """As the parts."""
        return self.parts.by_moments

    @property
    def distribution(self) -> Any:
        """That of the parts."""
        return self.parts.distribution

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the parts."""
        return self.parts.names

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Those of the parts."""
        self.parts.require_cells(cells)

    def cells(self, x: Any) -> NDArray[Any]:
        """As the parts have them."""
        return self.parts.cells(x)

    def log_joint(self, cells: NDArray[Any]) -> Floats:
        """ln w_sk p_sk(x): (rows, S, K)."""
        return self.parts.log_prob(cells).reshape(len(cells), *self.weights.shape) + logs(self.weights)

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """ln Σ_k w_sk p_sk(x)."""
        return logsumexp(self.log_joint(cells), axis=2)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """A part, then an observation."""
        reached = rng.random((len(states), 1)) > np.cumsum(self.weights, axis=1)[states]
        part = np.minimum(reached.sum(axis=1), self.weights.shape[1] - 1)
        return self.parts.draw(states * self.weights.shape[1] + part, rng)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> Bundle:
        """What the weights and the parts expect."""
        joint = self.log_joint(cells)
        whole = logsumexp(joint, axis=2, keepdims=True)
        r = np.exp(joint - np.where(np.isfinite(whole), whole, 0.0)) * gamma[:, :, None]
        return Bundle(weights=Counts(r.sum(axis=0)), parts=self.parts.gather(cells, r.reshape(len(cells), -1)))

    def estimate(self, prior: MixturePrior, statistics: Bundle) -> Self:
        """Posterior means of both."""
        alpha = prior.weights.of(self.weights.shape).alpha
        weights = shares(statistics["weights"].n + alpha, self.weights)
        return replace(self, weights=weights, parts=self.parts.estimate(prior.parts, statistics["parts"]))

    def log_prior(self, prior: MixturePrior) -> float:
        """Of both."""
        weights = xlogy(prior.weights.of(self.weights.shape).alpha, self.weights).sum()
        return float(weights) + self.parts.log_prior(prior.parts)

    def default_prior(self, cells: NDArray[Any] | Moments, cases: float) -> MixturePrior:
        """So many cases for the weights of a state, and for each part."""
        return MixturePrior(Dirichlet.m_estimate(cases), self.parts.default_prior(cells, cases))

    def floored(self, cells: NDArray[Any] | Moments) -> Self:
        """Parts that are safe."""
        return replace(self, parts=self.parts.floored(cells))

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        k = self.weights.shape[1]
        rows = (order[:, None] * k + np.arange(k)).ravel()
        return replace(self, weights=self.weights[order], parts=self.parts.permuted(rows))

    def centres(self) -> Floats | None:
        """Means of the parts, weighed."""
        found = self.parts.centres()
        return None if found is None else (found.reshape(self.weights.shape) * self.weights).sum(axis=1)

    def described(self, state: int, most: int = 3) -> str:
        """The heaviest parts."""
        best = np.argsort(-self.weights[state], kind="stable")[:most]
        k = self.weights.shape[1]
        return "; ".join(f"{self.weights[state, i]:.2g}: {self.parts.described(state * k + i, most)}" for i in best)

    def require_like(self, other: Emissions) -> None:
        """Of the same parts."""
        super().require_like(other)
        if isinstance(other, MixtureEmissions):
            self.parts.require_like(other.parts)
