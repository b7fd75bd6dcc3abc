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
from bayeslearn.distributions import Categorical, Counts, Dirichlet, StatisticsBundle
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.priors import dirichlet_prior
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError
from bayeslearn.hmm.categorical_emissions import logs
from bayeslearn.hmm.emissions import Emissions, class_of, emissions_of, prior_from
from bayeslearn.model_values import ARRAY, plain_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table

    Floats = NDArray[np.float64]


class MixtureEmissionPrior(NamedTuple):
    """Priors of the weights and of the parts."""

    weights: Any
    parts: Any


@dataclass(frozen=True, eq=False)
class MixtureEmissions(Emissions):
    """Weights (S, K) and parts of S·K rows, state by state."""

    kind: ClassVar[str] = "mixture"

    weights: Floats
    parts: Emissions

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:
        """Parts of one row in each state, of the kind that is given."""
        return cls(np.ones((rows, 1)), class_of(kind).blank(kind, cells, rows, names, symbols))

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

    @property
    def columns_as(self) -> Any:
        """As the parts."""
        return self.parts.columns_as

    def variables(self, columns: Sequence[str]) -> list[Any]:
        """As the parts."""
        return self.parts.variables(columns)

    def of_table(self, table: Table, columns: tuple[str, ...]) -> NDArray[Any]:
        """As the parts have them."""
        return self.parts.of_table(table, columns)

    def cells(self, x: Any) -> NDArray[Any]:
        """As the parts have them."""
        return self.parts.cells(x)

    def log_joint(self, cells: NDArray[Any]) -> Floats:
        """ln w_sk p_sk(x): (rows, S, K)."""
        return self.parts.log_prob(cells).reshape(len(cells), *self.weights.shape) + logs(self.weights)

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """ln Σ_k w_sk p_sk(x)."""
        return logsumexp(self.log_joint(cells), axis=2)

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """A part, then an observation."""
        reached = random_state.random((len(states), 1)) > np.cumsum(self.weights, axis=1)[states]
        part = np.minimum(reached.sum(axis=1), self.weights.shape[1] - 1)
        return self.parts.draw(states * self.weights.shape[1] + part, random_state)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> StatisticsBundle:
        """What the weights and the parts expect."""
        joint = self.log_joint(cells)
        whole = logsumexp(joint, axis=2, keepdims=True)
        r = np.exp(joint - np.where(np.isfinite(whole), whole, 0.0)) * gamma[:, :, None]
        return StatisticsBundle(
            weights=Counts(r.sum(axis=0)), parts=self.parts.gather(cells, r.reshape(len(cells), -1))
        )

    def estimate(self, prior: MixtureEmissionPrior, statistics: StatisticsBundle) -> Self:
        """Posterior means of both."""
        alpha = prior.weights.of(self.weights.shape).alpha
        weights = shares(statistics["weights"].n + alpha, self.weights)
        return replace(self, weights=weights, parts=self.parts.estimate(prior.parts, statistics["parts"]))

    def log_prior(self, prior: MixtureEmissionPrior) -> float:
        """Of both."""
        weights = xlogy(prior.weights.of(self.weights.shape).alpha, self.weights).sum()
        return float(weights) + self.parts.log_prior(prior.parts)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> MixtureEmissionPrior:
        """So many cases for the weights of a state, and for each part."""
        return MixtureEmissionPrior(
            Dirichlet.m_estimate(equivalent_sample_size), self.parts.default_prior(cells, equivalent_sample_size)
        )

    def prior_of(self, prior: Any, share_prior: Any, cells: Any) -> MixtureEmissionPrior:
        """The prior of the weights by a word of their own."""
        if isinstance(prior, MixtureEmissionPrior):
            return prior
        return MixtureEmissionPrior(dirichlet_prior(share_prior), self.parts.prior_of(prior, None, cells))

    def started(self, data: Sequences, random_state: np.random.Generator) -> Emissions:
        """Parts that begin near the data."""
        k = self.weights.shape[1]
        known = None if data.known is None else np.where(data.known >= 0, data.known * k, -1)
        return MixtureEmissions(self.weights, self.parts.begin(data.cells, known, k, random_state))

    def zero(self) -> StatisticsBundle:
        """Of both."""
        return StatisticsBundle(weights=Counts.zero(self.weights.shape), parts=self.parts.zero())

    def reorder(self, statistics: StatisticsBundle, order: NDArray[np.intp]) -> StatisticsBundle:
        """Those of the parts go with their states."""
        weights = Counts(statistics["weights"].n[order])
        return StatisticsBundle(weights=weights, parts=self.parts.reorder(statistics["parts"], self._rows(order)))

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        return {"kind": self.kind, "weights": self.weights, "parts": self.parts.to_document()}

    @classmethod
    def from_document(cls, reader: Reader, entry: dict[str, Any], size: int) -> Self:  # noqa: ARG003 - of the weights
        """Return the emissions of an entry, all of which is checked."""
        _, weights, parts = reader.entries(entry, {"kind": str, "weights": ARRAY, "parts": dict}, "a mixture")
        if parts.get("kind") == "mixture":
            reader.wrong("a mixture of mixtures")
        shares = reader.numbers(weights, "weights")
        return cls(shares, emissions_of(reader, parts, shares.size))

    def plain_prior(self, prior: MixtureEmissionPrior) -> dict[str, Any]:
        """A prior of two parts."""
        return {"weights": plain_prior(prior.weights), "parts": self.parts.plain_prior(prior.parts)}

    def read_prior(self, reader: Reader, entry: dict[str, Any]) -> MixtureEmissionPrior:
        """A prior of two parts."""
        weights, parts = reader.entries(entry, {"weights": dict, "parts": dict}, "a prior of mixtures")
        shares = prior_from(reader, weights, Categorical(1), "a mixture")
        return MixtureEmissionPrior(shares, self.parts.read_prior(reader, parts))

    def floored(self, cells: NDArray[Any] | Moments) -> Self:
        """Parts that are safe."""
        return replace(self, parts=self.parts.floored(cells))

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, weights=self.weights[order], parts=self.parts.permuted(self._rows(order)))

    def _rows(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """The parts of these states."""
        k = self.weights.shape[1]
        return (order[:, None] * k + np.arange(k)).ravel()

    def centers(self) -> Floats | None:
        """Means of the parts, weighed."""
        found = self.parts.centers()
        return None if found is None else (found.reshape(self.weights.shape) * self.weights).sum(axis=1)

    def described(self, state: int, max_states: int = 3) -> str:
        """The heaviest parts."""
        best = np.argsort(-self.weights[state], kind="stable")[:max_states]
        k = self.weights.shape[1]
        return "; ".join(
            f"{self.weights[state, i]:.2g}: {self.parts.described(state * k + i, max_states)}" for i in best
        )

    def require_like(self, other: Emissions) -> None:
        """Of the same parts."""
        super().require_like(other)
        if isinstance(other, MixtureEmissions):
            self.parts.require_like(other.parts)
