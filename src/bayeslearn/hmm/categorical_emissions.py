"""Categorical emissions: a table of the probability of each symbol in each state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.distributions import Categorical, Counts, Dirichlet
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ShapeError, UnknownStateError, listed
from bayeslearn.hmm.emission_statistics import Symbols
from bayeslearn.hmm.emissions import Emissions
from bayeslearn.hmm.observations import distinct, is_missing, one_column, plain, seen_symbols
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table

#: The maximum range of whole numbers that are looked up in a table.
MAX_BETWEEN = 1 << 16
#: The maximum size of whole numbers that are subtracted from each other.
MAX_WHOLE = 1 << 62

#: The code of a symbol that is not known.
UNKNOWN = -2


def logs(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln p, −inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(p)


@dataclass(frozen=True, eq=False)
class CategoricalEmissions(Emissions):
    """P(symbol | state) = θ: a row for each state, a column for each symbol.

    >>> from bayeslearn.tables import DiscreteVariable
    >>> die = CategoricalEmissions(DiscreteVariable("roll", (1, 2, 3)), [[1/3, 1/3, 1/3], [0.1, 0.1, 0.8]])
    >>> die.cells([3, 1, None])
    array([ 2,  0, -1], dtype=int32)
    """

    kind: ClassVar[str] = "categorical"

    variable: DiscreteVariable
    theta: NDArray[np.float64]

    @classmethod
    def blank(cls, kind: Any, cells: Any, rows: int, names: tuple[str, ...] | None, symbols: Any) -> Self:  # noqa: ARG003
        """Equal probabilities."""
        states = tuple(symbols) if symbols is not None else seen_symbols(cells)
        variable = DiscreteVariable((names or ("symbol",))[0], states)
        return cls(variable, np.full((rows, variable.n_states), 1 / variable.n_states))

    def __post_init__(self) -> None:
        theta = validation.probabilities(self.theta, name="theta")
        if theta.ndim != 2 or theta.shape[1] != self.variable.n_states:
            raise ShapeError(f"expected a table of (states, {self.variable.n_states} symbols), got shape {theta.shape}")
        object.__setattr__(self, "theta", frozen(theta))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.theta)

    @property
    def distribution(self) -> Categorical:
        """Of as many states as there are symbols."""
        return Categorical(self.variable.n_states)

    @property
    def parameters(self) -> NDArray[np.float64]:
        """θ."""
        return self.theta

    def with_parameters(self, parameters: NDArray[np.float64]) -> Self:
        """Other probabilities."""
        return replace(self, theta=parameters)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.variable.name,)

    @property
    def column_components(self) -> tuple[Component, ...]:
        """The one column."""
        return (Component((self.variable,), self.distribution),)

    def variables(self, columns: Sequence[str]) -> list[Any]:
        """The one column."""
        return [DiscreteVariable(name, self.variable.states) for name in columns]

    def of_table(self, table: Table, columns: tuple[str, ...]) -> NDArray[np.int32]:
        """Codes of symbols."""
        return table.codes_of(columns[0]).astype(np.int32)

    def cells(self, x: Any) -> NDArray[np.int32]:
        """Codes of symbols, −1 where missing."""
        return symbol_codes(x, self.variable)

    def require_cells(self, cells: NDArray[Any]) -> None:
        """Codes within those of the symbols."""
        if cells.ndim != 1 or cells.dtype != np.int32:
            raise ShapeError(f"expected codes of symbols, got shape {cells.shape} of {cells.dtype}")
        validation.indices(f"codes of {self.variable.name}", cells, self.variable.n_states, min_value=-1)

    def _symbols_of(self, other: Any) -> bool:
        return self.variable is other.variable

    def draw(self, states: NDArray[np.intp], random_state: np.random.Generator) -> NDArray[Any]:
        """Random symbols."""
        reached = random_state.random((len(states), 1)) > np.cumsum(self.theta, axis=1)[states]
        codes = np.minimum(reached.sum(axis=1), self.variable.n_states - 1)
        return np.array(self.variable.states)[codes]

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """A table to look up."""
        return Symbols(cells, logs(self.theta), Counts)

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Counts:
        """n[s, x] = Σ γ_s [symbol = x], state by state: the table may have many symbols."""
        seen = cells >= 0
        codes, shares = cells[seen], gamma[seen]
        return Counts(np.stack([np.bincount(codes, row, minlength=self.variable.n_states) for row in shares.T]))

    def gather_known(self, cells: NDArray[Any], states: NDArray[np.intp], sample_weight: NDArray[np.float64]) -> Counts:
        """n[s, x] = Σ w [state = s, symbol = x]."""
        n, seen = self.variable.n_states, cells >= 0
        place = states[seen] * n + cells[seen]
        found = np.bincount(place, sample_weight[seen], minlength=self.n_states * n)
        return Counts(found.reshape(self.n_states, n).astype(float))

    def log_prob_known(self, cells: NDArray[Any], states: NDArray[np.intp]) -> NDArray[np.float64]:
        """ln θ of the symbol in its state; 0 where it is missing."""
        return np.where(cells < 0, 0.0, logs(self.theta)[states, cells])

    def default_prior(self, cells: Any, equivalent_sample_size: float) -> Any:  # noqa: ARG002 - the same for all data
        """The equivalent sample size, spread evenly: no symbol is impossible."""
        return Dirichlet.m_estimate(equivalent_sample_size)

    def first_shares(self, cells: NDArray[Any], random_state: np.random.Generator) -> NDArray[np.float64]:
        """Random shares, in which each symbol favors some states."""
        n = self.n_states
        lean = random_state.dirichlet(np.full(n, 0.5), self.variable.n_states + 1)
        return lean[cells] * random_state.uniform(0.5, 1.5, (len(cells), n))

    def symbol_table(self) -> tuple[DiscreteVariable, NDArray[np.float64]]:
        """The variable, and θ."""
        return self.variable, self.theta

    fields_in_files: ClassVar[dict[str, Any]] = {"variable": dict}

    def to_document(self) -> dict[str, Any]:
        """Return the emissions as plain values."""
        return super().to_document() | {"variable": self.variable.to_dict()}

    @classmethod
    def field_of(cls, reader: Reader, name: str, value: Any) -> Any:
        """A field from its value in a file."""
        return reader.discrete(value, "the symbol") if name == "variable" else super().field_of(reader, name, value)

    def describe(self, state: int, max_states: int = 3) -> str:
        """The most probable symbols."""
        return self.distribution.describe(self.theta, state, variable=self.variable, max_states=max_states)


def symbol_codes(x: Any, variable: DiscreteVariable) -> NDArray[np.int32]:
    """Codes of symbols as the user wrote them, −1 where missing."""
    column = one_column(x)
    known = {state: code for code, state in enumerate(variable.states)}
    if column.dtype.kind in "iu" and len(column) and all(type(s) is int for s in known):
        found, place = whole_numbers(column)
    else:
        found, place = distinct(column.astype(object))
    codes = np.array([code_of(symbol, known) for symbol in found], np.int32)[place]
    if codes.min(initial=0) == UNKNOWN:
        row = int(np.argmax(codes == UNKNOWN))
        raise unknown(plain(column[row]), row, variable)
    return codes


def whole_numbers(column: NDArray[Any]) -> tuple[list[int], NDArray[Any]]:
    """Distinct whole numbers, and the number of each row; all between the smallest and the largest if these are few."""
    low, high = int(column.min()), int(column.max())
    if high - low > MAX_BETWEEN or max(high, -low) > MAX_WHOLE:
        values, place = np.unique(column, return_inverse=True)
        return values.tolist(), place
    return list(range(low, high + 1)), column.astype(np.int64) - low


def unknown(symbol: Any, row: int, variable: DiscreteVariable) -> UnknownStateError:
    """The error that names an unknown symbol."""
    return UnknownStateError(
        f"symbol {symbol!r} in row {row} is not among {listed(variable.states)}",
        hint="fit with symbols=[...], or replace it by a missing value",
        symbol=symbol,
        row=row,
    )


def code_of(symbol: Any, known: dict[Any, int]) -> int:
    """The code of a symbol, −1 for a missing one, UNKNOWN for an unknown one."""
    symbol = plain(symbol)
    if symbol in known:
        return known[symbol]
    return -1 if is_missing(symbol) else UNKNOWN
