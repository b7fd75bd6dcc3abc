"""A mixture in each state: p(x | s) = Σ_k w_sk p_sk(x), of any emissions.

The parts are emissions of S·K rows, state by state. The share γ_s of a row is divided among the parts of state s:
r_sk = γ_s w_sk p_sk(x) / p(x | s).
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

    from bayeslearn.components.component import Component
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

    mixing_weights: Floats
    parts: Emissions

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:
        """Parts of one row in each state, of the kind that is given."""
        return cls(np.ones((rows, 1)), class_of(kind).blank(kind, cells, rows, names, symbols))

    def __post_init__(self) -> None:
        weights = validation.probabilities(self.mixing_weights, name="mixing_weights")
        if weights.ndim != 2 or weights.size != self.parts.n_states:
            raise ShapeError(f"weights of shape {weights.shape} do not fit {self.parts.n_states} parts")
        object.__setattr__(self, "mixing_weights", frozen(weights))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.mixing_weights)

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
    def feature_names(self) -> tuple[str, ...]:
        """The columns of the parts."""
        return self.parts.feature_names

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Those of the parts."""
        self.parts.require_cells(cells)

    def _symbols_of(self, other: Any) -> bool:
        return self.parts.takes_cells_of(other.parts)

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
        return self.parts.log_prob(cells).reshape(len(cells), *self.mixing_weights.shape) + logs(self.mixing_weights)

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """ln Σ_k w_sk p_sk(x)."""
        return logsumexp(self.log_joint(cells), axis=2)

    def responsibilities(self, cells: NDArray[Any]) -> Floats:
        """P(part | state, x): (rows, S, K); 0 where no part explains x."""
        joint = self.log_joint(cells)
        whole = logsumexp(joint, axis=2, keepdims=True)
        return np.exp(joint - np.where(np.isfinite(whole), whole, 0.0))

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """A part, then an observation."""
        return self.parts.draw(self.component_labels(states, random_state), random_state)

    # -- columns one by one, as products of components have them

    @property
    def label(self) -> str:
        """The kind in reports."""
        return f"mixture of {self.n_parts} {self.parts.label}"

    @property
    def n_parts(self) -> int:  # type: ignore[override]
        """The number of parts of each state."""
        return self.mixing_weights.shape[1]

    @property
    def column_components(self) -> tuple[Component, ...]:
        """Those of the parts."""
        return self.parts.column_components

    @property
    def component_parameters(self) -> tuple[Any, ...]:
        """Those of the parts."""
        return self.parts.component_parameters

    def component_cells(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """Those of the parts."""
        return self.parts.component_cells(cells)

    def component_shares(self, cells: NDArray[Any], gamma: Floats) -> Floats:
        """γ_s P(part | s, x) of each part."""
        return (self.responsibilities(cells) * gamma[:, :, None]).reshape(len(cells), -1)

    def component_labels(
        self, states: NDArray[np.intp], random_state: np.random.Generator, cells: NDArray[Any] | None = None
    ) -> NDArray[np.intp]:
        """A part of the state of each row at random, given its cells."""
        rows = np.arange(len(states))
        p = self.mixing_weights[states] if cells is None else self.responsibilities(cells)[rows, states]
        reached = random_state.random((len(states), 1)) > np.cumsum(p, axis=1)
        return states * self.n_parts + np.minimum(reached.sum(axis=1), self.n_parts - 1)

    def gather(self, cells: NDArray[Any], gamma: Floats) -> StatisticsBundle:
        """What the weights and the parts expect."""
        r = self.component_shares(cells, gamma)
        counts = Counts(r.reshape(len(cells), *self.mixing_weights.shape).sum(axis=0))
        return StatisticsBundle(weights=counts, parts=self.parts.gather(cells, r))

    def estimate(self, prior: MixtureEmissionPrior, statistics: StatisticsBundle) -> Self:
        """Posterior means of both."""
        alpha = prior.weights.of(self.mixing_weights.shape).alpha
        weights = shares(statistics["weights"].n + alpha, self.mixing_weights)
        return replace(self, mixing_weights=weights, parts=self.parts.estimate(prior.parts, statistics["parts"]))

    def log_prior(self, prior: MixtureEmissionPrior) -> float:
        """Of both."""
        weights = xlogy(prior.weights.of(self.mixing_weights.shape).alpha, self.mixing_weights).sum()
        return float(weights) + self.parts.log_prior(prior.parts)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> MixtureEmissionPrior:
        """Priors of the weights of a state, and of each part."""
        return MixtureEmissionPrior(
            Dirichlet.m_estimate(equivalent_sample_size), self.parts.default_prior(cells, equivalent_sample_size)
        )

    def prior_of(self, prior: Any, share_prior: Any, cells: Any) -> MixtureEmissionPrior:
        """The priors of the weights and of the parts by their names."""
        if isinstance(prior, MixtureEmissionPrior):
            return prior
        return MixtureEmissionPrior(dirichlet_prior(share_prior), self.parts.prior_of(prior, None, cells))

    def initialize(self, data: Sequences, random_state: np.random.Generator) -> Emissions:
        """Parts that begin near the data."""
        k = self.n_parts
        known_states = (
            None if data.known_states is None else np.where(data.known_states >= 0, data.known_states * k, -1)
        )
        return MixtureEmissions(
            self.mixing_weights, self.parts.initialize_from(data.cells, known_states, k, random_state)
        )

    def zero(self) -> StatisticsBundle:
        """Of both."""
        return StatisticsBundle(weights=Counts.zero(self.mixing_weights.shape), parts=self.parts.zero())

    def reorder_prior(self, prior: MixtureEmissionPrior, order: NDArray[np.intp]) -> MixtureEmissionPrior:
        """Priors of the parts go with their states."""
        alpha = getattr(prior.weights, "alpha", None)
        weights = Dirichlet(alpha[order]) if alpha is not None and alpha.ndim == 2 else prior.weights
        return MixtureEmissionPrior(weights, self.parts.reorder_prior(prior.parts, self._rows(order)))

    def reorder_statistics(self, statistics: StatisticsBundle, order: NDArray[np.intp]) -> StatisticsBundle:
        """Those of the parts go with their states."""
        weights = Counts(statistics["weights"].n[order])
        return StatisticsBundle(
            weights=weights, parts=self.parts.reorder_statistics(statistics["parts"], self._rows(order))
        )

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        return {"kind": self.kind, "weights": self.mixing_weights, "parts": self.parts.to_document()}

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

    def with_floor(self, cells: NDArray[Any] | Moments) -> Self:
        """Parts that are safe."""
        return replace(self, parts=self.parts.with_floor(cells))

    def reorder_states(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(
            self, mixing_weights=self.mixing_weights[order], parts=self.parts.reorder_states(self._rows(order))
        )

    def _rows(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """The parts of these states."""
        k = self.n_parts
        return (order[:, None] * k + np.arange(k)).ravel()

    def centers(self) -> Floats | None:
        """Means of the parts, weighed."""
        found = self.parts.centers()
        return None if found is None else (found.reshape(self.mixing_weights.shape) * self.mixing_weights).sum(axis=1)

    def describe(self, state: int, max_states: int = 3) -> str:
        """The heaviest parts."""
        best = np.argsort(-self.mixing_weights[state], kind="stable")[:max_states]
        k = self.n_parts
        return "; ".join(
            f"{self.mixing_weights[state, i]:.2g}: {self.parts.describe(state * k + i, max_states)}" for i in best
        )

    def require_like(self, other: Emissions) -> None:
        """Of the same parts."""
        super().require_like(other)
        if isinstance(other, MixtureEmissions):
            self.parts.require_like(other.parts)
