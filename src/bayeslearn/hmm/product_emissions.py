"""Several columns of different kinds, independent given the state: p(x | s) = Π_columns p(x_column | θ_column, s).

A cell that is missing is integrated out. The working form is a number for each column: codes of symbols, numbers, NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.components.product import Product
from bayeslearn.distributions.distribution import by_name, column_names, first_of
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import DataError, MismatchError, ParameterError, ShapeError, listed
from bayeslearn.hmm.categorical_emissions import symbol_codes
from bayeslearn.hmm.column_emissions import ColumnEmissions, blank_parameters, plain_parameters
from bayeslearn.hmm.emissions import Emissions, prior_from, prior_in_order
from bayeslearn.hmm.observations import as_objects, column_kind, number_rows, seen_symbols
from bayeslearn.model_values import plain_prior
from bayeslearn.tables import DiscreteVariable, NumericVariable
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.distributions import Moments, StatisticsBundle
    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table

    Floats = NDArray[np.float64]


class ProductPrior(NamedTuple):
    """A prior for each column."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class ProductEmissions(Emissions):
    """Columns with their distributions, and parameters with a row for each state.

    >>> from bayeslearn.distributions import Categorical, Poisson
    >>> mood = Component((DiscreteVariable("mood", ("bad", "good")),), Categorical(2))
    >>> calls = Component.of(Poisson(), "calls")
    >>> model = ProductEmissions((mood, calls), ([[0.9, 0.1], [0.2, 0.8]], [1.0, 6.0]))
    >>> model.cells([["good", 4], [None, 2]])
    array([[ 1.,  4.],
           [nan,  2.]])
    """

    kind: ClassVar[str] = "product"
    many_columns: ClassVar[bool] = True

    components: tuple[Component, ...]
    parameters: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        owned = tuple(
            tuple(validation.owned(np.asarray(p)) for p in θ) if type(θ) is tuple else θ for θ in self.parameters
        )
        owned = tuple(θ if isinstance(θ, tuple) else validation.owned(np.asarray(θ, np.float64)) for θ in owned)
        object.__setattr__(self, "parameters", owned)
        joint = [c.name for c in self.components if len(c.columns) > 1]
        if joint or not self.components:
            raise ParameterError(f"expected components of one column each, got {listed(joint) or 'none'}")
        if len(self.parameters) != len(self.components) or len({len(first_of(θ)) for θ in self.parameters}) != 1:
            raise ShapeError("expected parameters of each column, with a row for each state")

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:
        """By default, the distribution of a column follows from its values: :func:`.observations.column_kind`."""
        array = as_rows(cells)
        given = dict(kind) if isinstance(kind, Mapping) else {}
        order = tuple(given) if len(given) == array.shape[1] else tuple(f"x{j}" for j in range(array.shape[1]))
        names = names or order
        require_known(list(given), names)
        states = dict(symbols) if isinstance(symbols, Mapping) else {}
        components, parameters = [], []
        for name, column in zip(names, array.T, strict=True):
            guess = given.get(name) or column_kind(column)
            family = validation.choice(f"emissions[{name!r}]", guess, column_names())
            variable: Any = NumericVariable(name)
            if family == "categorical":
                variable = DiscreteVariable(name, tuple(states.get(name) or seen_symbols(column)))
            distribution = by_name(family).over([variable])
            components.append(Component((variable,), distribution))
            even = isinstance(variable, DiscreteVariable)
            parameters.append(
                np.full((rows, variable.n_states), 1 / variable.n_states)
                if even
                else blank_parameters(distribution, rows)
            )
        return cls(tuple(components), tuple(parameters))

    @property
    def product(self) -> Product:
        """The product of the columns."""
        return Product(self.components)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(first_of(self.parameters[0]))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(c.name for c in self.components)

    @property
    def columns_as(self) -> dict[str, str]:
        """The distribution of each column."""
        return {c.name: c.distribution.name for c in self.components}

    def with_parameters(self, parameters: Any) -> Self:
        """The same columns with others."""
        return replace(self, parameters=parameters)

    @property
    def column_components(self) -> tuple[Component, ...]:
        """The columns."""
        return self.components

    @property
    def component_parameters(self) -> tuple[Any, ...]:
        """The parameters of each column."""
        return self.parameters

    # -- observations

    def variables(self, columns: Sequence[str]) -> list[Any]:  # noqa: ARG002 - they have their names
        """The columns of a source."""
        return [
            DiscreteVariable(c.name, c.variable.states) if is_discrete(c) else NumericVariable(c.name)
            for c in self.components
        ]

    def of_table(self, table: Table, columns: tuple[str, ...]) -> Floats:
        """Codes and numbers side by side."""
        codes = (
            missing_codes(table.codes_of(name)) if is_discrete(c) else table.values_of(name)
            for c, name in zip(self.components, columns, strict=True)
        )
        return np.column_stack(list(codes))

    def cells(self, x: Any) -> Floats:
        """Codes and numbers side by side, NaN where missing."""
        array = as_rows(x)
        if array.shape[1] != len(self.components):
            raise ShapeError(
                f"expected rows of {len(self.components)} columns ({listed(self.feature_names)}), got {array.shape}"
            )
        return np.column_stack([column_cells(c, x) for c, x in zip(self.components, array.T, strict=True)])

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Codes within those of the symbols, and numbers that the distributions take."""
        super().require_cells(cells)
        for component, codes in zip(self.components, self.component_cells(cells), strict=True):
            if is_discrete(component):
                validation.indices(f"codes of {component.name}", codes, component.variable.n_states, min_value=-1)

    def _symbols_of(self, other: Any) -> bool:
        return self.components is other.components

    def component_cells(self, cells: Floats) -> list[NDArray[Any]]:
        """The cells of each component as its distribution takes them."""
        return [
            c.cells(np.where(np.isnan(x), -1, x).astype(np.intp) if is_discrete(c) else x)
            for c, x in zip(self.components, cells.T, strict=True)
        ]

    def log_prob(self, cells: NDArray[Any]) -> Floats:
        """Σ_columns ln p(x | state): (rows, S)."""
        joint = np.zeros((self.n_states, len(cells)))
        with np.errstate(over="ignore", invalid="ignore"):
            self.product.density(self.parameters).add(self.component_cells(cells), joint)
        return np.ascontiguousarray(joint.T)

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """Rows at random, as users see them."""
        drawn = self.product.draw(self.parameters, states, random_state)
        if not any(map(is_discrete, self.components)):
            return np.column_stack(drawn)
        found = np.empty((len(states), len(drawn)), dtype=object)
        for j, (component, cells) in enumerate(zip(self.components, drawn, strict=True)):
            found[:, j] = np.array(component.variable.states, object)[cells] if is_discrete(component) else cells
        return found

    # -- learning

    def gather(self, cells: NDArray[Any], gamma: Floats) -> StatisticsBundle:
        """The statistics of every column."""
        shown = self.product.collect(self.component_cells(cells), Assignment(gamma), self.parameters)
        return self.product.total([shown], self.n_states)

    def zero(self) -> StatisticsBundle:
        """Those of no observations."""
        return self.product.total([], self.n_states)

    def estimate(self, prior: ProductPrior, statistics: Any) -> Self:
        """Posterior means of every column."""
        return self.with_parameters(self.product.estimate(prior.parts, statistics, self.parameters))

    def log_prior(self, prior: ProductPrior) -> float:
        """The sum over the columns."""
        return self.product.log_prior(prior.parts, self.parameters)

    def default_prior(self, cells: NDArray[Any] | Moments, equivalent_sample_size: float) -> ProductPrior:
        """A prior of every column with the distribution of all rows."""
        columns = zip(self.components, self.component_cells(cells), strict=True)  # type: ignore[arg-type]
        return ProductPrior(tuple(pooled(c, x, equivalent_sample_size) for c, x in columns))

    def prior_of(self, prior: Any, share_prior: Any, cells: Any) -> ProductPrior:
        """One word for all columns, or a prior by the name of each."""
        if isinstance(prior, ProductPrior):
            return prior
        given = prior if isinstance(prior, Mapping) else dict.fromkeys(self.feature_names, prior)
        require_known(list(given), self.feature_names)
        columns = None if cells is None else self.component_cells(cells)
        parts = []
        for j, component in enumerate(self.components):
            column = ColumnEmissions(component.name, component.distribution, self.parameters[j])
            own = given.get(component.name, "m:1")
            parts.append(column.prior_of(own, share_prior, None if columns is None else columns[j]))
        return ProductPrior(tuple(parts))

    def points(self, cells: NDArray[Any]) -> Floats:
        """The points of all columns side by side."""
        columns = zip(self.components, self.component_cells(cells), strict=True)
        return np.column_stack([c.distribution.points(x) for c, x in columns])

    # -- as a value

    def reorder_states(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return self.with_parameters(self.product.take(self.parameters, order))

    def reorder_prior(self, prior: ProductPrior, order: NDArray[np.intp]) -> ProductPrior:
        """The priors of every column in another order."""
        parts = zip(self.components, prior.parts, strict=True)
        return ProductPrior(tuple(prior_in_order(c.distribution, p, order) for c, p in parts))

    def reorder_statistics(self, statistics: StatisticsBundle, order: NDArray[np.intp]) -> StatisticsBundle:
        """The statistics of every column in another order."""
        return type(statistics)({n: type(s)(*(a[order] for a in s.arrays())) for n, s in statistics.items()})

    def centers(self) -> Floats | None:
        """Those of the first column that has some."""
        found = (c.distribution.centers(θ) for c, θ in zip(self.components, self.parameters, strict=True))
        return next((one for one in found if one is not None and np.ndim(one) == 1), None)

    def describe(self, state: int, max_states: int = 3) -> str:
        """Every column in a few words."""
        parts = zip(self.components, self.parameters, strict=True)
        return "; ".join(
            f"{c.name} {c.distribution.describe(θ, state, variable=c.variable, max_states=max_states)}"
            for c, θ in parts
        )

    def require_like(self, other: Emissions) -> None:
        """Of the same columns."""
        super().require_like(other)
        if isinstance(other, ProductEmissions) and self.components != other.components:
            raise MismatchError("these models emit columns of different kinds", differs="emissions")

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        columns = [
            {"variable": c.variable.to_dict(), "family": c.distribution.name, "parameters": plain_parameters(θ)}
            for c, θ in zip(self.components, self.parameters, strict=True)
        ]
        return {"kind": self.kind, "columns": columns}

    @classmethod
    def from_document(cls, reader: Reader, entry: dict[str, Any], size: int) -> Self:
        """Return the emissions of an entry, all of which is checked."""
        _, columns = reader.entries(entry, {"kind": str, "columns": [dict]}, "product emissions")
        if not columns:
            reader.wrong("its states emit no column")
        components, parameters = zip(*(column_of(reader, column, size) for column in columns), strict=True)
        return cls(components, parameters)

    def plain_prior(self, prior: ProductPrior) -> dict[str, Any]:
        """A prior of every column."""
        return {"parts": [plain_prior(part) for part in prior.parts]}

    def read_prior(self, reader: Reader, entry: dict[str, Any]) -> ProductPrior:
        """A prior that every column takes."""
        (parts,) = reader.entries(entry, {"parts": [dict]}, "a prior of columns")
        if len(parts) != len(self.components):
            reader.wrong(f"there are priors of {len(parts)} columns, not of {len(self.components)}")
        read = zip(parts, self.components, strict=True)
        return ProductPrior(tuple(prior_from(reader, part, c.distribution, c.name) for part, c in read))


### helpers


def is_discrete(component: Component) -> bool:
    """Whether the cells of a component are states."""
    return isinstance(component.variable, DiscreteVariable)


def as_rows(x: Any) -> NDArray[Any]:
    """Rows of cells, of whatever they hold."""
    array = x if isinstance(x, np.ndarray) else as_objects(x)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise ShapeError(f"expected rows of observations, got shape {array.shape}")
    return array


def column_cells(component: Component, x: NDArray[Any]) -> Floats:
    """One column in its working form."""
    if is_discrete(component):
        return missing_codes(symbol_codes(x, component.variable))
    try:
        return np.asarray(component.distribution.cells(number_rows(x)[:, 0]), np.float64)
    except DataError as error:
        raise type(error)(f"column {component.name!r}: {error.message}", hint=error.hint) from None


def missing_codes(codes: NDArray[Any]) -> Floats:
    """Codes as numbers, NaN for −1."""
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def pooled(component: Component, cells: NDArray[Any], equivalent_sample_size: float) -> Any:
    """A prior with the distribution of all cells."""
    distribution = component.distribution
    whole = distribution.marginal().collect(cells, sample_weight=np.ones((len(cells), 1)))
    return distribution.pooled(whole, equivalent_sample_size)


def column_of(reader: Reader, entry: dict[str, Any], size: int) -> tuple[Component, Any]:
    """A column of a file, and its parameters."""
    keys = {"variable": dict, "family": str, "parameters": list}
    variable, family, parameters = reader.entries(entry, keys, "a column")
    if family not in column_names():
        reader.wrong(f"there is no distribution {family!r:.40}")
    found = reader.variable(variable)
    component = Component((found,), by_name(family).over([found]))
    return component, reader.parameters(parameters, component.distribution, [found], size)
