"""What states emit: a likelihood for each state, with its conjugate prior.

Emissions are frozen values: the parameters of every state, a row each. They are learned like everything else,

    statistics = gather(cells, γ)        posterior = prior + statistics        parameters = its mean

where γ weighs each row for each state. The posterior mean maximizes the likelihood together with

    log_prior = Σ α ln θ        a ln λ − b λ        −(α − 1) ln σ² − (β + κ(μ − m)²/2) / σ²

which is the log likelihood of the cases that the prior stands for; EM climbs the sum of both. A state of which nothing
is expected any more, and of which the prior says nothing, stays as it is.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.distribution import by_name, column_names, first_of
from bayeslearn.distributions.priors import PooledPrior, parse_prior
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.hmm.emission_statistics import Rows
from bayeslearn.hmm.observations import number_rows, table_cells
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

#: Rows that are clustered at most.
SAMPLE = 20_000


class Emissions(ABC):
    """The parameters of all states; see the module."""

    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Emissions:
        """Emissions for these data, with so many rows of parameters that mean nothing yet."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many states there are."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
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
        """Sequences, which anybody may have made, have the cells and the states of these emissions."""
        if vars(data).get("_fits") is self:  # arrays of sequences cannot be written to
            return
        self.require_cells(data.cells)
        if data.known is not None:
            validation.indices("known", data.known, self.size, min_value=-1)
        vars(data)["_fits"] = self

    #: The dimensions of one cell in its working form are those of the columns.
    many_columns: ClassVar[bool] = False

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Cells that may have been made for other emissions have the shape and the codes of these."""
        shape = (len(self.names),) if self.many_columns else ()
        if cells.shape[1:] != shape or cells.dtype != np.float64:
            raise ShapeError(
                f"expected observations of shape {('n', *shape)} as floats, got {cells.shape} of {cells.dtype}",
                hint="read the sequences with the model that they are for: model.sequences(...)",
            )

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """ln p(x | state): (rows, S), 0 where x is missing."""
        return self.distribution.log_prob(self.parameters, cells)

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """An observation for each state of a path, as users see it."""
        drawn = self.distribution.draw(self.parameters, len(states), random_state)
        return drawn[np.arange(len(states)), states]

    def reading(self, cells: NDArray[Any]) -> Reading:
        """What an E step needs; by log likelihoods of rows, unless there is a quicker way."""
        return Rows(self.log_prob(cells), lambda gamma: self.gather(cells, gamma))

    # -- learning

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Any:
        """Statistics of observations, each giving its share γ to every state."""
        return self.distribution.expected(cells, Assignment(gamma), self.parameters)

    def estimate(self, prior: Any, statistics: Any) -> Self:
        """Posterior means; states that rest on nothing stay as they are."""
        posterior = self.distribution.update(prior, statistics)
        return self.with_parameters(self.distribution.estimate(posterior, otherwise=self.parameters))

    def log_prior(self, prior: Any) -> float:
        """Log likelihood of the cases that the prior stands for."""
        return self.distribution.log_prior(prior, self.parameters)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> Any:
        """A prior of so many cases for each state that look like all rows, given these or their moments."""
        whole = self.distribution.marginal().collect(cells, sample_weight=np.ones((len(cells), 1)))  # type: ignore[arg-type]
        return self.distribution.pooled(whole, equivalent_sample_size)

    def prior_of(self, prior: Any, share_prior: Any, cells: Any) -> Any:  # noqa: ARG002 - only mixtures have weights
        """The prior that a word, or an object, stands for; `cells` are looked at where it looks like the data."""
        found = parse_prior(prior, self.distribution)
        if not isinstance(found, PooledPrior):
            if not self.distribution.takes(found):
                raise ParameterError(f"there is no prior {prior!r:.60} of emissions", hint="take m:1, pooled:1 or none")
            return found
        require_data(cells)
        return self.default_prior(cells, found.equivalent_sample_size)

    #: Whether the moments of all rows are enough for a default prior; else rows are looked at.
    by_moments: ClassVar[bool] = False

    def floored(self, cells: NDArray[Any] | Moments) -> Self:  # noqa: ARG002 - only variances can fall to nothing
        """The same, safe from densities that become infinite on these data."""
        return self

    # -- where EM starts

    def started(self, data: Sequences, random_state: np.random.Generator) -> Emissions:
        """Emissions that begin near the data."""
        return self.begin(data.cells, data.known, 1, random_state)

    def begin(
        self, cells: NDArray[Any], known: NDArray[Any] | None, n_states: int, random_state: np.random.Generator
    ) -> Self:
        """Estimates from rows shared out among states of `k` rows of parameters, with one case of all rows behind.

        What is known of states comes first, then clusters.
        """
        emissions = self.floored(cells)
        pick = random_state.permutation(len(cells))[:SAMPLE]
        if known is not None:
            pick = np.union1d(pick, np.flatnonzero(known >= 0))
        shares = emissions.first_shares(cells[pick], random_state)
        if known is not None:
            told = known[pick]
            rows = np.flatnonzero(told >= 0)
            own = told[rows, None] + np.arange(n_states)  # the parts of the state
            shares *= 0.01
            block = np.zeros((len(rows), emissions.size))
            np.put_along_axis(block, own, random_state.dirichlet(np.ones(n_states), len(rows)), axis=1)
            shares[rows] = block
        return emissions.estimate(emissions.default_prior(cells, 1.0), emissions.first_statistics(cells[pick], shares))

    def first_shares(self, cells: NDArray[Any], random_state: np.random.Generator) -> NDArray[np.float64]:
        """A share of each row for each state: its cluster."""
        return np.eye(self.size)[nearest(self.points(cells), self.size, random_state)]

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
        return self.distribution.zero((self.size,))

    def reorder(self, statistics: Any, order: NDArray[np.intp]) -> Any:
        """Statistics of the states in another order."""
        return type(statistics)(*(array[order] for array in statistics.arrays()))

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return self.with_parameters(self.distribution.take(self.parameters, order))

    def centers(self) -> NDArray[np.float64] | None:
        """A number for each state by which to order them, where there is one."""
        return self.distribution.centers(self.parameters)

    def described(self, state: int, max_states: int = 3) -> str:
        """What a state emits, in a few words."""
        return self.distribution.describe(self.parameters, state, max_states=max_states)

    def require_like(self, other: Emissions) -> None:
        """Only emissions of one kind, size and columns have statistics that add."""
        if type(self) is not type(other) or self.size != other.size or self.names != other.names:
            raise MismatchError(
                f"these models emit different things: {self.kind} {self.names} and {other.kind} {other.names}",
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


def require_data(cells: Any) -> None:
    """A prior that looks like the data needs some."""
    if cells is None:
        raise ParameterError("a prior that looks like the data needs data", hint="give the prior as an object")


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


### one column


@dataclass(frozen=True, eq=False)
class ColumnEmissions(Emissions):
    """Numbers of any registered distribution of one column; those that kernels know have classes of their own."""

    name: str
    distribution: Any
    parameters: Any

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """As if 1 and 2 were seen."""
        distribution = by_name(kind)()
        return cls((names or ("x0",))[0], distribution, blank_parameters(distribution, rows))

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The name of the distribution."""
        return self.distribution.name

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(first_of(self.parameters))

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def with_parameters(self, parameters: Any) -> Self:
        """The same emissions with others."""
        return replace(self, parameters=parameters)

    def cells(self, x: Any) -> NDArray[Any]:
        """Numbers that the distribution takes; NaN is missing."""
        return self.distribution.cells(number_rows(x)[:, 0])

    def require_like(self, other: Emissions) -> None:
        """Of the same distribution."""
        super().require_like(other)
        if isinstance(other, ColumnEmissions) and self.distribution != other.distribution:
            raise MismatchError(f"these models emit {self.kind} and {other.kind}", differs="emissions")

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        return {"kind": self.kind, "name": self.name, "parameters": plain_parameters(self.parameters)}

    @classmethod
    def from_document(cls, reader: Reader, entry: dict[str, Any], size: int) -> Self:
        """Return the emissions of an entry, all of which is checked."""
        keys = {"kind": str, "name": str, "parameters": list}
        kind, name, parameters = reader.entries(entry, keys, f"{entry['kind']} emissions")
        column = NumericVariable(name)
        distribution = by_name(kind).over([column])
        return cls(name, distribution, reader.parameters(parameters, distribution, [column], size))


def blank_parameters(distribution: Any, rows: int) -> Any:
    """Parameters as if 1 and 2 were seen: they mean nothing yet."""
    whole = distribution.collect(np.array([1.0, 2.0]), sample_weight=np.ones((2, 1)))
    return distribution.estimate(distribution.shaped(distribution.pooled(whole), rows))


def plain_parameters(parameters: Any) -> list[NDArray[np.float64]]:
    """Parameters as a list of arrays."""
    return [np.asarray(p) for p in (parameters if isinstance(parameters, tuple) else (parameters,))]


### by kind

#: Emissions with a class of their own; all other distributions of one column have :class:`ColumnEmissions`.
CLASSES = {
    "categorical": "categorical_emissions.CategoricalEmissions",
    "gaussian": "gaussian_emissions.GaussianEmissions",
    "full": "gaussian_emissions.FullGaussianEmissions",
    "poisson": "poisson_emissions.PoissonEmissions",
    "mixture": "mixture_emissions.MixtureEmissions",
    "product": "product_emissions.ProductEmissions",
}


def class_of(kind: Any) -> Any:
    """The class of a kind of emissions; a mapping by columns is a product."""
    module, _, name = CLASSES.get("product" if isinstance(kind, Mapping) else kind, "").partition(".")
    return getattr(importlib.import_module(f"bayeslearn.hmm.{module}"), name) if name else ColumnEmissions


def declared(kind: Any, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns of a table that are read as states, and those that are read as numbers, whatever they look like."""
    if isinstance(kind, Mapping):
        states = [name for name in names if kind.get(name) == "categorical"]
        return states, [name for name in names if name not in states]
    if kind in {"auto", "product"}:
        return [], []
    return (list(names), []) if kind == "categorical" else ([], list(names))


def emissions_of(reader: Reader, entry: dict[str, Any], size: int) -> Emissions:
    """What so many states emit, from an entry of a file."""
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in {*CLASSES, *column_names()}:
        reader.wrong(f"there are no emissions {kind!r:.40}")
    return class_of(kind).from_document(reader, entry, size)
