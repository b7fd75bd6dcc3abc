"""Rows in blocks: the cells of every column of a model, some thousand rows at a time.

A table gives slices of itself. A plain array is turned block by block, so that no copy of it is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import DataError
from bayeslearn.tables import Discrete, Schema, Table, as_table
from bayeslearn.tables.table import smallest_code_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.columns import Column

    Cells = list[NDArray[Any]]

R = TypeVar("R")

#: Rows of a block: its columns stay in the cache. Fixed, so that sums do not depend on the number of threads.
BLOCK = 1 << 13

#: Cells from which on two threads are worth their while.
MANY = 200_000


class Other:
    """The name of the state that stands for all that were never seen."""

    def __repr__(self) -> str:
        return "(never seen)"


OTHER = Other()


@dataclass(frozen=True)
class Rows:
    """So many rows, and what gives the cells of those from one to another, column by column."""

    n: int
    width: int
    cells: Callable[[int, int], Cells]

    def blocks(self, function: Callable[[slice, Cells], R]) -> list[R]:
        """What a function makes of every block, in order, on both cores."""
        parts = [slice(a, min(a + BLOCK, self.n)) for a in range(0, self.n, BLOCK)]

        def one(part: slice) -> R:
            return function(part, self.cells(part.start, part.stop))

        return kernels.parallel(one, parts, worth=self.n * max(self.width, 1) > MANY)

    def take(self, index: NDArray[np.intp]) -> Rows:
        """These rows only."""
        return Rows(len(index), self.width, lambda a, b: self._scattered(index[a:b]))

    def _scattered(self, index: NDArray[np.intp]) -> Cells:
        """Cells of rows anywhere: of the blocks they lie in."""
        if not len(index):
            return self.cells(0, 0)
        runs = np.flatnonzero(np.diff(index // BLOCK)) + 1
        parts = []
        for group in np.split(index, runs):
            low = int(group.min())
            found = self.cells(low, int(group.max()) + 1)
            parts.append([read_only(column[group - low]) for column in found])
        return [read_only(np.concatenate(pieces)) for pieces in zip(*parts, strict=True)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not to be written to: kernels are compiled for it once."""
    array.flags.writeable = False
    return array


### tables


def of_table(table: Table, columns: Sequence[Column]) -> Rows:
    """The rows of a table that has the columns of a model."""
    arrays = [table.code(c.name) if isinstance(c.variable, Discrete) else table.value(c.name) for c in columns]
    for column, array in zip(columns, arrays, strict=True):
        column.checked(array)
    return Rows(table.n_rows, len(columns), lambda a, b: [array[a:b] for array in arrays])


def read(
    data: Any, columns: Sequence[Column], *, absent: Literal["error", "missing"] = "error", weights: Any = None
) -> tuple[Rows, Table]:
    """Rows of new data by the columns of a model; a state that it does not know has the code behind the last."""
    if not columns:
        table = as_table(data)
        return Rows(table.n_rows, 0, lambda _a, _b: []), table
    table = as_table(data, schema=Schema(with_other(c.variable) for c in columns), unseen="last", absent=absent,
                     weights=weights)  # fmt: skip
    return of_table(table, columns), table


def with_other(variable: Any) -> Any:
    """A variable with a state for all that it does not know; intervals know every number."""
    if not isinstance(variable, Discrete) or variable.cuts is not None:
        return variable
    return Discrete(variable.name, (*variable.states, OTHER))


### arrays


def of_floats(x: NDArray[Any]) -> Rows:
    """An array of numbers, every column numeric."""
    kind = np.float64

    def cells(a: int, b: int) -> Cells:
        return list(read_only(np.ascontiguousarray(x[a:b].T, dtype=kind)))

    return Rows(len(x), x.shape[1], cells)


def of_integers(x: NDArray[Any], states: Sequence[Iterable[Any]]) -> Rows:
    """An array of whole numbers, every column one of known states; other numbers have the code behind the last."""
    coders = [Coder(list(known)) for known in states]

    def cells(a: int, b: int) -> Cells:
        block = np.ascontiguousarray(x[a:b].T)
        return [read_only(code(column)) for code, column in zip(coders, block, strict=True)]

    return Rows(len(x), x.shape[1], cells)


class Coder:
    """From whole numbers near each other to the codes of states."""

    def __init__(self, states: list[int]) -> None:
        self.low = min(states)
        self.codes = np.full(max(states) - self.low + 3, len(states), dtype=smallest_code_type(len(states) + 1))
        self.codes[np.array(states) - self.low + 1] = np.arange(len(states))

    def __call__(self, column: NDArray[Any]) -> NDArray[Any]:
        """The codes of a column."""
        place = column - (self.low - 1)
        return self.codes[np.clip(place, 0, len(self.codes) - 1, out=place)]


def whole_states(x: NDArray[Any], most: int) -> list[list[int]] | None:
    """The different values of each column of whole numbers, if they are few and near each other."""
    low, high = x.min(axis=0).astype(object), x.max(axis=0).astype(object)
    if any(b - a >= 4 * most or max(abs(a), abs(b)) >= 2**31 for a, b in zip(low, high, strict=True)):
        return None
    spans = [np.zeros(b - a + 1, np.bool_) for a, b in zip(low, high, strict=True)]
    for start in range(0, len(x), BLOCK):
        for seen, a, column in zip(spans, low, np.ascontiguousarray(x[start : start + BLOCK].T), strict=True):
            seen[column - a] = True
    found = [[int(v) + int(a) for v in np.flatnonzero(seen)] for seen, a in zip(spans, low, strict=True)]
    return None if any(len(values) > most for values in found) else found


def require_finite(x: NDArray[Any], names: Sequence[str]) -> None:
    """No infinite number in an array."""
    for start in range(0, len(x), BLOCK):
        infinite = np.isinf(x[start : start + BLOCK])
        if infinite.any():
            row, j = (int(v) for v in np.argwhere(infinite)[0])
            raise DataError(
                f"column {names[j]!r} is {x[start + row, j]} in row {start + row}: infinity is no number to learn from",
                hint="make it missing (NaN) or a finite number",
            )
