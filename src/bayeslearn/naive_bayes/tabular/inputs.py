"""Rows as an estimator reads them, as columns with variables and as rows in blocks.

Arrays of floats are numbers and arrays of whole numbers are states, and both are read where they lie. Everything else
(frames, text, objects, tables) goes through :func:`~bayeslearn.as_table`, which looks at each column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import DataError
from bayeslearn.estimators import column_names
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.naive_bayes.tabular.fit import read_columns
from bayeslearn.tables import DiscreteVariable, NumericVariable, Table, as_table
from bayeslearn.tables.raw import RawTable, all_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.components import Component
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import Rows

#: More different whole numbers than this in a column of an array, and it is numeric.
MOST_STATES = 255


@dataclass(frozen=True, eq=False)
class Input:
    """Columns by name, and the array they come from if it is one of numbers.

    An array with markers of missing values says of which kind its columns are, and is not read itself.
    """

    names: tuple[str, ...]
    data: Any
    array: NDArray[Any] | None = None

    @classmethod
    def of(cls, rows: Any, names: tuple[str, ...], *, marked: bool = False) -> Input:
        """Rows as they were read; `names` are those of an array, and `marked` says that it had markers."""
        if isinstance(rows, np.ndarray):
            return cls(names, {name: rows[:, j] for j, name in enumerate(names)}, rows)
        if isinstance(rows, Table):
            return cls(rows.schema.names, rows)
        if isinstance(rows, RawTable) and marked:
            columns = [np.asarray(rows[name]) for name in rows]
            whole = all(column.dtype.kind in "iu" for column in columns)
            return cls(tuple(rows), rows, np.column_stack(columns) if whole else None)
        if not isinstance(rows, Mapping):
            rows = {str(name): rows[name] for name in getattr(rows, "column_names", rows.columns)}
        return cls(column_names(rows), rows)

    @property
    def plain(self) -> NDArray[Any] | None:
        """The array, where it can be read as it is."""
        return None if isinstance(self.data, RawTable) else self.array

    def variables(self, distributions: Any, max_states: int) -> tuple[list[Any], Rows | Table]:
        """The variable of every column as it shows, and the rows or the table."""
        if self.plain is not None and not distributions:
            if self.plain.dtype.kind == "f":
                return [NumericVariable(name) for name in self.names], blocks.of_floats(self.plain)
            states = blocks.whole_states(self.plain, MOST_STATES) if len(self.plain) else None
            if states is not None:
                found = [DiscreteVariable(name, tuple(known)) for name, known in zip(self.names, states, strict=True)]
                return found, blocks.of_integers(self.plain, states)
        from bayeslearn.sources.usability import dropping, warn_dropped  # noqa: PLC0415 - arrays of numbers drop none

        open_to = [name for name in self.names if name not in distributions]
        whole, numbers = self.whole_columns(), self.floats()
        frame = isinstance(self.data, Mapping) and self.array is None
        gone = dropping(self.data, None) if frame else None
        table = read_columns(
            all_named(self.data) if frame else self.data,
            distributions,
            also_discrete=[name for name in open_to if name in whole],
            also_numeric=[name for name in open_to if name in numbers],
            max_states=max_states,
            left_out=gone,
        )
        warn_dropped(gone, named=True)
        return list(table.schema), table

    def whole_columns(self) -> list[str]:
        """The columns of an array of whole numbers that are states: those that are not too many."""
        if self.array is None or self.array.dtype.kind == "f":
            return []
        return [n for n, column in zip(self.names, self.array.T, strict=True) if len(np.unique(column)) <= MOST_STATES]

    def floats(self) -> list[str]:
        """The columns of floats, which are numbers even if they are whole; so are too many whole numbers."""
        if self.array is not None and self.array.dtype.kind != "f":
            return [name for name in self.names if name not in self.whole_columns()]
        if not isinstance(self.data, Mapping):
            return []
        return [name for name, column in self.data.items() if np.asarray(column[:0]).dtype.kind == "f"]

    def states(self, columns: Sequence[Component]) -> dict[str, tuple[Any, ...]]:
        """The states that show in the columns of a model that have some."""
        discrete = [c.name for c in columns if isinstance(c.variable, DiscreteVariable) and c.variable.cuts is None]
        if not discrete:
            return {}
        if len(discrete) == len(self.names) and self.plain is not None and self.plain.dtype.kind in "iu":
            found = blocks.whole_states(self.plain, 1 << 16)
            if found is not None:
                return {name: tuple(known) for name, known in zip(self.names, found, strict=True)}
        table = as_table(self.data, columns=discrete, discrete=discrete, allow_constant=True, max_states=1 << 20)
        return {v.name: v.states for v in table.schema.discrete}

    def rows(self, columns: Sequence[Component]) -> Rows:
        """The rows by the columns of a model."""
        if self.plain is not None and [c.name for c in columns] == list(self.names):  # else columns were left out
            if all(c.kernels is not None and not isinstance(c.variable, DiscreteVariable) for c in columns):
                return blocks.of_floats(self.plain)
            states = [getattr(c.variable, "states", ()) for c in columns]
            if self.plain.dtype.kind in "iu" and all(near(known) for known in states):
                return blocks.of_integers(self.plain, states)
        return blocks.read(self.data, columns)[0]


def near(states: tuple[Any, ...]) -> bool:
    """Whole numbers that a short list can hold."""
    if not states or not all(type(s) is int for s in states):
        return False
    return max(states) - min(states) < 1 << 16 and max(map(abs, states)) < 1 << 62


def finite(given: Input, answer: Callable[[], Any]) -> Any:
    """An answer, or an error that names the number that is infinite or too large."""
    array = given.plain if given.plain is not None and given.plain.dtype.kind == "f" else None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = answer()
    except DataError:
        if array is not None:
            blocks.require_finite(array, given.names)
        raise
    if not isinstance(found, np.ndarray) and not found_finite(found):
        if array is not None:
            blocks.require_finite(array, given.names)
        raise DataError("there are numbers too large to be squared", hint="divide the column by its largest number")
    return found


def found_finite(model: NaiveBayesModel) -> bool:
    """Whether all statistics of a model are finite."""
    return all(np.isfinite(a).all() for part in model.statistics.values() for a in part.arrays())
