"""Emissions: the distribution of the observations in each state, with its conjugate prior.

Emissions are frozen values with a row of parameters for each state, which are fitted as

    statistics = gather(cells, γ)        posterior = prior + statistics        parameters = its mean

where γ weighs each row for each state. The posterior mean maximizes the likelihood together with

    log_prior = Σ α ln θ        a ln λ − b λ        −(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ²

which is the log-likelihood of the pseudo-observations of the prior; EM maximizes the sum of both. A state without
expected observations and without a prior keeps its parameters.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.distributions.distribution import column_names
from bayeslearn.distributions.priors import PooledPrior, parse_prior
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.hmm.emission_statistics import Rows
from bayeslearn.hmm.observations import table_cells
from bayeslearn.model_values import ARRAY, PRIORS, plain_prior
from bayeslearn.tables import NumericVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments
    from bayeslearn.hmm.emission_statistics import Reading
    from bayeslearn.hmm.sequences import Sequences
    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table

#: The maximum number of rows that are clustered.
SAMPLE = 20_000


class Emissions(ABC):
    """The parameters of all states; see the module."""

    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Emissions:
        """Emissions for these data, with placeholders for the rows of parameters."""

    @property
    def label(self) -> str:
        """The kind in reports."""
        return self.kind

    @property
    @abstractmethod
    def n_states(self) -> int:
        """The number of states."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of the observed columns."""

    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def distribution(self) -> Any:
            """The distribution of an observation in a state."""

        @property
        def parameters(self) -> Any:
            """The parameters of the distribution, a row for each state."""

    @abstractmethod
    def with_parameters(self, parameters: Any) -> Self:
        """The same emissions with others."""

    # -- observations

    @property
    def columns_as(self) -> Any:
        """How the columns of tables are read: a kind for all, or a kind for each by its name."""
        return self.kind

    def variables(self, columns: Sequence[str]) -> list[Any]:
        """The columns of a source, as the emissions read them."""
        return [NumericVariable(name) for name in columns]

    def of_table(self, table: Table, columns: tuple[str, ...]) -> NDArray[Any]:
        """The observations of a table with these variables."""
        return self.cells(table_cells(table, columns))

    @abstractmethod
    def cells(self, x: Any) -> NDArray[Any]:
        """Observations checked and in their working form, a row each."""

    def require_fit(self, data: Sequences) -> None:
        """Check that sequences have the cells and the states of these emissions."""
        known = vars(data).get("_fits")  # arrays of sequences cannot be written to
        if known is self or (known is not None and known.takes_cells_of(self)):
            return
        self.require_cells(data.cells)
        if data.known_states is not None:
            validation.indices("known_states", data.known_states, self.n_states, min_value=-1)
        vars(data)["_fits"] = self

    def takes_cells_of(self, other: Emissions) -> bool:
        """Whether other emissions take the same cells, as those of the next iteration of EM: only parameters differ."""
        return type(self) is type(other) and self.n_states == other.n_states and self._symbols_of(other)

    def _symbols_of(self, other: Any) -> bool:
        """Whether symbols and columns are those of others of this kind and size."""
        return self.feature_names == other.feature_names

    #: The dimensions of one cell in its working form are those of the columns.
    many_columns: ClassVar[bool] = False

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Cells that may have been made for other emissions have the shape and the codes of these."""
        shape = (len(self.feature_names),) if self.many_columns else ()
        if cells.shape[1:] != shape or cells.dtype != np.float64:
            raise ShapeError(
                f"expected observations of shape {('n', *shape)} as floats, got {cells.shape} of {cells.dtype}",
                hint="read the sequences with the model that they are for: model.sequences(...)",
            )

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """ln p(x | state): (rows, S), 0 where x is missing."""
        return self.distribution.log_prob(self.parameters, cells)

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """A random observation for each state of a path, with its original values."""
        drawn = self.distribution.draw(self.parameters, len(states), random_state)
        return drawn[np.arange(len(states)), states]

    def reading(self, cells: NDArray[Any]) -> Reading:
        """The reading of an E step; by log-likelihoods of rows, unless there is a kernel."""
        return Rows(self.log_prob(cells), lambda gamma: self.gather(cells, gamma))

    # -- columns one by one, as products of components have them

    #: The number of parts of which each state is a mixture; components have a row of parameters for each.
    n_parts: ClassVar[int] = 1

    @property
    def column_components(self) -> tuple[Component, ...]:
        """The columns with their distributions."""
        return (Component.of(self.distribution, *self.feature_names),)

    @property
    def component_parameters(self) -> tuple[Any, ...]:
        """The parameters of each component, with a row for each part of each state."""
        return (self.parameters,)

    def component_cells(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """The cells of each component."""
        return [cells]

    def component_shares(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        """The share of each part of each state in rows, given the shares of the states."""
        return gamma

    def component_labels(
        self,
        states: NDArray[np.intp],
        random_state: np.random.Generator,  # noqa: ARG002 - mixtures draw
        cells: NDArray[Any] | None = None,  # noqa: ARG002
    ) -> NDArray[np.intp]:
        """A part of the state of each row at random, given its cells."""
        return states

    # -- learning

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Any:
        """Statistics of observations, each giving its share γ to every state."""
        return self.distribution.expected(cells, Assignment(gamma), self.parameters)

    def gather_known(self, cells: NDArray[Any], states: NDArray[np.intp], sample_weight: NDArray[np.float64]) -> Any:
        """Statistics of observations whose states are known."""
        gamma = np.zeros((len(cells), self.n_states))
        gamma[np.arange(len(cells)), states] = sample_weight
        return self.gather(cells, gamma)

    def log_prob_known(self, cells: NDArray[Any], states: NDArray[np.intp]) -> NDArray[np.float64]:
        """ln p(x | state) of observations whose states are known."""
        return self.log_prob(cells)[np.arange(len(cells)), states]

    def estimate(self, prior: Any, statistics: Any) -> Self:
        """Posterior means; states without observations keep their parameters."""
        posterior = self.distribution.update(prior, statistics)
        return self.with_parameters(self.distribution.estimate(posterior, otherwise=self.parameters))

    def log_prior(self, prior: Any) -> float:
        """Log-likelihood of the pseudo-observations of the prior."""
        return self.distribution.log_prior(prior, self.parameters)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> Any:
        """A prior of each state with the distribution of all rows, given these or their moments."""
        whole = self.distribution.marginal().collect(cells, sample_weight=np.ones((len(cells), 1)))  # type: ignore[arg-type]
        return self.distribution.pooled(whole, equivalent_sample_size)

    def prior_of(self, prior: Any, share_prior: Any, cells: Any) -> Any:  # noqa: ARG002 - only mixtures have weights
        """The prior of a name or an object; `cells` are the data of a pooled prior."""
        found = parse_prior(prior, self.distribution)
        if not isinstance(found, PooledPrior):
            if not self.distribution.takes(found):
                raise ParameterError(f"there is no prior {prior!r:.60} of emissions", hint="take m:1, pooled:1 or none")
            return found
        require_data(cells)
        return self.default_prior(cells, found.equivalent_sample_size)

    #: Whether the moments of all rows are enough for a default prior; else rows are looked at.
    by_moments: ClassVar[bool] = False

    def with_floor(self, cells: NDArray[Any] | Moments) -> Self:  # noqa: ARG002 - only variances can fall to nothing
        """The same, safe from densities that become infinite on these data."""
        return self

    # -- initial values

    def initialize(self, data: Sequences, random_state: np.random.Generator) -> Emissions:
        """Emissions with initial values near the data; estimates where all states are known."""
        known = data.known_states
        if known is not None and self.n_parts == 1 and (known >= 0).all():
            emissions = self.with_floor(data.cells)
            counted = emissions.gather_known(data.cells, known.astype(np.intp), np.ones(data.n_rows))
            return emissions.estimate(emissions.default_prior(data.cells, 1.0), counted)
        return self.initialize_from(data.cells, data.known_states, 1, random_state)

    def initialize_from(
        self, cells: NDArray[Any], known_states: NDArray[Any] | None, n_parts: int, random_state: np.random.Generator
    ) -> Self:
        """Estimates from clusters of rows, or from known states, under a prior with the distribution of all rows.

        `n_parts` is the number of rows of parameters of each state.
        """
        emissions = self.with_floor(cells)
        pick = random_state.permutation(len(cells))[:SAMPLE]
        if known_states is not None:
            pick = np.union1d(pick, np.flatnonzero(known_states >= 0))
        shares = emissions.first_shares(cells[pick], random_state)
        if known_states is not None:
            given = known_states[pick]
            rows = np.flatnonzero(given >= 0)
            own = given[rows, None] + np.arange(n_parts)  # the parts of the state
            shares *= 0.01
            block = np.zeros((len(rows), emissions.n_states))
            np.put_along_axis(block, own, random_state.dirichlet(np.ones(n_parts), len(rows)), axis=1)
            shares[rows] = block
        return emissions.estimate(emissions.default_prior(cells, 1.0), emissions.first_statistics(cells[pick], shares))

    def first_shares(self, cells: NDArray[Any], random_state: np.random.Generator) -> NDArray[np.float64]:
        """A share of each row for each state: its cluster."""
        return np.eye(self.n_states)[nearest(self.points(cells), self.n_states, random_state)]

    def points(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """Rows as points, by which they are clustered."""
        return self.distribution.points(cells)

    def first_statistics(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Any:
        """Statistics of rows before there are parameters."""
        return self.gather(cells, gamma)

    # -- as a value

    def symbol_table(self) -> tuple[Any, NDArray[np.float64]] | None:
        """The variable of the symbols and P(symbol | state), where symbols are emitted."""
        return None

    def zero(self) -> Any:
        """The statistics of no observations."""
        return self.distribution.zero((self.n_states,))

    def reorder_statistics(self, statistics: Any, order: NDArray[np.intp]) -> Any:
        """Statistics of the states in another order."""
        return type(statistics)(*(array[order] for array in statistics.arrays()))

    def reorder_prior(self, prior: Any, order: NDArray[np.intp]) -> Any:
        """The prior of the states in another order; one that all states share stays."""
        return prior_in_order(self.distribution, prior, order)

    def reorder_states(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return self.with_parameters(self.distribution.take(self.parameters, order))

    def centers(self) -> NDArray[np.float64] | None:
        """A number for each state by which to order them, where there is one."""
        return self.distribution.centers(self.parameters)

    def describe(self, state: int, max_states: int = 3) -> str:
        """Return the distribution of a state in a few words."""
        return self.distribution.describe(self.parameters, state, max_states=max_states)

    def require_like(self, other: Emissions) -> None:
        """Only emissions of one kind, size and columns have statistics that add."""
        if (
            type(self) is not type(other)
            or self.n_states != other.n_states
            or self.feature_names != other.feature_names
        ):
            raise MismatchError(
                f"emissions differ: {self.kind} {self.feature_names} and {other.kind} {other.feature_names}",
                differs="emissions",
            )

    # -- files

    #: The kinds of the fields in files, of those that are no arrays.
    fields_in_files: ClassVar[dict[str, Any]] = {"name": str, "columns": [str]}

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        plainly = {n: v if n in self.fields_in_files else np.asarray(v) for n, v in values.items()}
        return {"kind": self.kind, **{n: list(v) if isinstance(v, tuple) else v for n, v in plainly.items()}}

    @classmethod
    def from_document(cls, reader: Reader, entry: dict[str, Any], size: int) -> Emissions:  # noqa: ARG003 - as of others
        """Return the emissions of an entry, all of which is checked."""
        keys: dict[str, Any] = {f.name: cls.fields_in_files.get(f.name, ARRAY) for f in fields(cls)}  # type: ignore[arg-type]
        values = reader.entries(entry, {"kind": str, **keys}, f"{cls.kind} emissions")[1:]
        found = zip(keys, values, strict=True)
        return cls(**{name: cls.field_of(reader, name, value) for name, value in found})

    @classmethod
    def field_of(cls, reader: Reader, name: str, value: Any) -> Any:
        """A field from its value in a file."""
        if name in cls.fields_in_files:
            return tuple(value) if isinstance(value, list) else value
        array = reader.numbers(value, name)
        if name in {"var", "floor"}:
            reader.require_units(name, array)
        return array

    def plain_prior(self, prior: Any) -> dict[str, Any]:
        """A prior as plain values."""
        return plain_prior(prior)

    def read_prior(self, reader: Reader, entry: dict[str, Any]) -> Any:
        """A prior that the emissions take."""
        return prior_from(reader, entry, self.distribution, f"{self.kind} emissions")


def prior_from(reader: Reader, entry: dict[str, Any], distribution: Any, of: str) -> Any:
    """A prior that a distribution takes."""
    kinds = distribution.prior_types
    return reader.prior(entry, {name: PRIORS[name] for name in PRIORS if PRIORS[name] in kinds}, of=of)


def prior_in_order(distribution: Any, prior: Any, order: NDArray[np.intp]) -> Any:
    """The rows of a prior in another order; a prior whose rows are equal is unchanged."""
    shaped = distribution.shaped(prior, len(order))
    arrays = [np.asarray(getattr(shaped, field.name)) for field in fields(shaped)]
    taken = [a[order] if a.ndim and len(a) == len(order) else a for a in arrays]
    equal = all(np.array_equal(a, b) for a, b in zip(arrays, taken, strict=True))
    return prior if equal else type(shaped)(*taken)


def require_data(cells: Any) -> None:
    """A pooled prior needs data."""
    if cells is None:
        raise ParameterError("a pooled prior needs data", hint="give the prior as an object")


def nearest(x: NDArray[np.float64], k: int, random_state: np.random.Generator, rounds: int = 10) -> NDArray[np.intp]:
    """The cluster of each row: centers far from each other (k-means++), then a few rounds of k-means."""
    centers = x[[random_state.integers(len(x))]]
    for _ in range(k - 1):
        away = ((x[:, None, :] - centers) ** 2).sum(axis=-1).min(axis=1)
        p = away / away.sum() if away.sum() > 0 else np.full(len(x), 1 / len(x))
        centers = np.concatenate([centers, x[[random_state.choice(len(x), p=p)]]])
    for _ in range(rounds):
        which = (((x[:, None, :] - centers) ** 2).sum(axis=-1)).argmin(axis=1)
        for j in range(k):
            if (which == j).any():
                centers[j] = x[which == j].mean(axis=0)
    return which


### by kind

#: Emissions with a class of their own; all other distributions of one column have
#: :class:`~bayeslearn.hmm.column_emissions.ColumnEmissions`.
CLASSES = {
    "categorical": "categorical_emissions.CategoricalEmissions",
    "gaussian": "gaussian_emissions.GaussianEmissions",
    "full": "gaussian_emissions.FullGaussianEmissions",
    "poisson": "poisson_emissions.PoissonEmissions",
    "mixture": "mixture_emissions.MixtureEmissions",
    "product": "product_emissions.ProductEmissions",
    "words": "word_emissions.WordEmissions",
}


def class_of(kind: Any) -> Any:
    """The class of a kind of emissions; a mapping by columns is a product."""
    place = CLASSES.get("product" if isinstance(kind, Mapping) else kind, "column_emissions.ColumnEmissions")
    module, _, name = place.partition(".")
    return getattr(importlib.import_module(f"bayeslearn.hmm.{module}"), name)


def declared(kind: Any, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns of a table that are read as states, and those that are read as numbers, whatever they look like."""
    if isinstance(kind, Mapping):
        states = [name for name in names if kind.get(name) == "categorical"]
        return states, [name for name in names if name not in states]
    if kind in {"auto", "product"}:
        return [], []
    return (list(names), []) if kind in {"categorical", "words"} else ([], list(names))


def emissions_of(reader: Reader, entry: dict[str, Any], size: int) -> Emissions:
    """The emissions of an entry of a file."""
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in {*CLASSES, *column_names()}:
        reader.wrong(f"there are no emissions {kind!r:.40}")
    return class_of(kind).from_document(reader, entry, size)
