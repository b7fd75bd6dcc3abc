"""Symbols and counts: emissions that are looked up in a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import validation
from bayeslearn.errors import ShapeError, UnknownStateError, listed
from bayeslearn.families import Categorical, Counts, Dirichlet, Gamma, Poisson, Totals
from bayeslearn.families.statistics import frozen
from bayeslearn.sequence.emissions import NOTHING, Emissions, shares
from bayeslearn.sequence.observing import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables import Discrete

#: What stands for a missing symbol, besides None and NaN.
MISSING = ("?", "")

#: Whole numbers between the least and the largest, up to which each has a place of its own.
MOST_BETWEEN = 1 << 16
#: Whole numbers beyond these are not subtracted from each other.
MOST_WHOLE = 1 << 62

#: The code of a symbol that is not known.
UNKNOWN = -2


def logs(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln p, −inf for 0."""
    with np.errstate(divide="ignore"):
        return np.log(p)


@dataclass(frozen=True, eq=False)
class CategoricalEmissions(Emissions):
    """P(symbol | state) = θ: a row for each state, a column for each symbol.

    >>> from bayeslearn.tables import Discrete
    >>> die = CategoricalEmissions(Discrete("roll", (1, 2, 3)), [[1/3, 1/3, 1/3], [0.1, 0.1, 0.8]])
    >>> die.cells([3, 1, None])
    array([ 2,  0, -1], dtype=int32)
    """

    kind: ClassVar[str] = "categorical"

    variable: Discrete
    theta: NDArray[np.float64]

    def __post_init__(self) -> None:
        theta = validation.probabilities(self.theta, name="theta")
        if theta.ndim != 2 or theta.shape[1] != self.variable.size:
            raise ShapeError(f"expected a table of (states, {self.variable.size} symbols), got shape {theta.shape}")
        object.__setattr__(self, "theta", frozen(theta))

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.theta)

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.variable.name,)

    def cells(self, x: Any) -> NDArray[np.int32]:
        """Codes of symbols, −1 where missing."""
        return symbol_codes(x, self.variable)

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """ln θ."""
        return Categorical(self.variable.size).log_prob(self.theta, cells)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Symbols at random."""
        reached = rng.random((len(states), 1)) > np.cumsum(self.theta, axis=1)[states]
        codes = np.minimum(reached.sum(axis=1), self.variable.size - 1)
        return np.array(self.variable.states)[codes]

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """A table to look up."""
        return Symbols(cells, logs(self.theta), Counts)

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Counts:
        """Σ γ of each symbol."""
        return Categorical(self.variable.size).collect(cells, weights=gamma)

    def estimate(self, prior: Any, statistics: Counts) -> Self:
        """(n + α) / Σ (n + α)."""
        return replace(self, theta=shares(statistics.n + prior.of(self.theta.shape).alpha, self.theta))

    def log_prior(self, prior: Any) -> float:
        """Σ α ln θ."""
        return float(xlogy(prior.of(self.theta.shape).alpha, self.theta).sum())

    def default_prior(self, cells: NDArray[Any], cases: float) -> Any:  # noqa: ARG002 - the same for all data
        """So many cases, spread evenly: no symbol is impossible."""
        return Dirichlet.m_estimate(cases)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, theta=self.theta[order])

    def centres(self) -> None:
        """Symbols have no order."""

    def described(self, state: int, most: int = 3) -> str:
        """The most probable symbols."""
        best = np.argsort(-self.theta[state], kind="stable")[:most]
        return ", ".join(f"{self.variable.states[k]} {self.theta[state, k]:.3g}" for k in best)


def symbol_codes(x: Any, variable: Discrete) -> NDArray[np.int32]:
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
    """Whole numbers that may be there, and which one each row has; all in between, where these are few."""
    low, high = int(column.min()), int(column.max())
    if high - low > MOST_BETWEEN or max(high, -low) > MOST_WHOLE:
        values, place = np.unique(column, return_inverse=True)
        return values.tolist(), place
    return list(range(low, high + 1)), column.astype(np.int64) - low


def unknown(symbol: Any, row: int, variable: Discrete) -> UnknownStateError:
    """The error that names a symbol nobody declared."""
    return UnknownStateError(
        f"symbol {symbol!r} in row {row} is not among {listed(variable.states)}",
        hint="declare all symbols when learning, or make it missing",
        symbol=symbol,
        row=row,
    )


def code_of(symbol: Any, known: dict[Any, int]) -> int:
    """The code of a symbol, −1 for a missing one, UNKNOWN for one that nobody declared."""
    symbol = plain(symbol)
    if symbol in known:
        return known[symbol]
    return -1 if is_missing(symbol) else UNKNOWN


def plain(symbol: Any) -> Any:
    """A Python value."""
    return symbol.item() if isinstance(symbol, np.generic) else symbol


def is_missing(symbol: Any) -> bool:
    """Whether a cell says nothing: None, NaN, a question mark or blanks."""
    if isinstance(symbol, str):
        return symbol.strip() in MISSING
    return symbol is None or (isinstance(symbol, float) and math.isnan(symbol))


def distinct(column: NDArray[np.object_]) -> tuple[list[Any], NDArray[np.intp]]:
    """Different symbols in order of appearance, and which one each row has; missing ones are one symbol."""
    seen: dict[Any, int] = {}
    place = np.array([seen.setdefault(None if is_missing(s) else s, len(seen)) for s in column], dtype=np.intp)
    return list(seen), place


def one_column(x: Any) -> NDArray[Any]:
    """A column, also when it is the only one of a table."""
    column = x if isinstance(x, np.ndarray) else as_objects(x)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ShapeError(f"expected one column of observations, got shape {column.shape}")
    return column


def as_objects(x: Any) -> NDArray[np.object_]:
    """A list of cells as an array of the objects they are: 1 and "1" stay different."""
    cells = list(x)
    if any(isinstance(cell, list | tuple | np.ndarray) for cell in cells):
        return np.array([list(row) for row in cells], dtype=object)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


@dataclass(frozen=True, eq=False)
class PoissonEmissions(Emissions):
    """p(count | state) = λˣ e^−λ / x!.

    >>> PoissonEmissions("calls", [2.0, 9.0]).described(1)
    'about 9'
    """

    kind: ClassVar[str] = "poisson"

    name: str
    rate: NDArray[np.float64]

    def __post_init__(self) -> None:
        rate = validation.not_negative("rate", validation.float_array("rate", self.rate))
        if rate.ndim != 1:
            raise ShapeError(f"expected a rate for each state, got shape {rate.shape}")
        object.__setattr__(self, "rate", frozen(rate))

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.rate)

    @property
    def names(self) -> tuple[str, ...]:
        """The one column."""
        return (self.name,)

    def cells(self, x: Any) -> NDArray[np.float64]:
        """Whole numbers, not negative; NaN is missing."""
        column = one_column(x)
        if column.dtype == object:
            column = np.array([np.nan if is_missing(c) else c for c in column], dtype=object)
        return Poisson().cells(column)

    def log_prob(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """x ln λ − λ − ln x!."""
        return Poisson().log_prob(self.rate, cells)

    def draw(self, states: NDArray[np.intp], rng: np.random.Generator) -> NDArray[Any]:
        """Counts at random."""
        return rng.poisson(self.rate[states])

    def reading(self, cells: NDArray[Any]) -> Symbols:
        """Distinct counts are symbols."""
        seen = ~np.isnan(cells)
        values, place = np.unique(cells[seen], return_inverse=True)
        codes = np.full(len(cells), -1, np.int32)
        codes[seen] = place
        codes.flags.writeable = False  # as those of symbols: one compiled kernel for both

        def collected(n: NDArray[np.float64]) -> Totals:
            return Totals(n.sum(axis=1), n @ values, n @ gammaln(values + 1))

        return Symbols(codes, Poisson().log_prob(self.rate, values).T, collected)

    def gather(self, cells: NDArray[Any], gamma: NDArray[np.float64]) -> Totals:
        """Σ γ and Σ γ x."""
        return Poisson().collect(cells, weights=gamma)

    def estimate(self, prior: Any, statistics: Totals) -> Self:
        """(Σx + a) / (n + b)."""
        after = Poisson().update(prior, statistics)
        alive = after.rate > NOTHING
        return replace(self, rate=np.where(alive, after.shape / np.where(alive, after.rate, 1.0), self.rate))

    def log_prior(self, prior: Any) -> float:
        """a ln λ − b λ."""
        before = prior.of(self.rate.shape)
        return float((xlogy(before.shape, self.rate) - before.rate * self.rate).sum())

    def default_prior(self, cells: NDArray[Any], cases: float) -> Gamma:
        """So many cases of the mean of all."""
        seen = cells[~np.isnan(cells)]
        return Gamma.m_estimate(cases, float(seen.mean()) if len(seen) else 1.0)

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The states in another order."""
        return replace(self, rate=self.rate[order])

    def centres(self) -> NDArray[np.float64]:
        """The rates."""
        return self.rate

    def described(self, state: int, most: int = 3) -> str:  # noqa: ARG002 - one number says it all
        """The rate."""
        return f"about {self.rate[state]:.4g}"
