"""What a scikit-learn user hands over, as columns with variables and as rows in blocks.

Arrays of floats are numbers and arrays of whole numbers are states, and both are read where they lie. Everything else
(frames, text, objects, tables, paths) goes through :func:`~bayeslearn.as_table`, which looks at each column.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from bayeslearn import sources
from bayeslearn.errors import DataError
from bayeslearn.naive_bayes.tables import rows as blocks
from bayeslearn.naive_bayes.tables.learning import read_columns
from bayeslearn.sources.usability import dropping, warn_dropped
from bayeslearn.tables import Discrete, Numeric, Table, as_table
from bayeslearn.tables.raw import RawTable, all_named
from bayeslearn.tables.schema import require_unique

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.naive_bayes.tables.columns import Column
    from bayeslearn.naive_bayes.tables.model import NaiveBayes
    from bayeslearn.naive_bayes.tables.rows import Rows

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
    def of(cls, X: Any, estimator: Any, *, reset: bool) -> Input:
        """X with its shape and names checked by scikit-learn; cells are checked by us."""
        if isinstance(X, Table):  # its missing cells are known
            return cls(X.schema.names, X)
        if is_source(X):
            return cls(estimator.model_.names, estimator._marked(X, reset=reset))  # noqa: SLF001 - ours
        if hasattr(X, "columns"):
            names = tuple(str(name) for name in getattr(X, "column_names", X.columns))  # Arrow calls them so
            require_unique(names)
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            columns = {str(name): X[name] for name in getattr(X, "column_names", X.columns)}
            return cls(names, estimator._marked(columns, reset=reset))  # noqa: SLF001
        array = validate_data(estimator, X, dtype=None, ensure_all_finite=False, reset=reset)
        names = tuple(f"x{j}" for j in range(array.shape[1]))
        numbers = array if array.dtype.kind in "iuf" else None
        marked = estimator._marked(array, reset=reset)  # noqa: SLF001
        if isinstance(marked, RawTable):
            return cls(names, marked, numbers)
        numbers = marked if numbers is not None else None
        return cls(names, {name: marked[:, j] for j, name in enumerate(names)}, numbers)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.data.values()))) if isinstance(self.data, Mapping) else len(self.data)

    def take(self, index: NDArray[np.intp]) -> Input:
        """These rows only."""
        array = None if self.array is None else self.array[index]
        if isinstance(self.data, Table | RawTable):
            return Input(self.names, self.data.take(index), array)
        data = {name: _safe_indexing(column, index) for name, column in self.data.items()}
        return Input(self.names, data, array)

    @property
    def plain(self) -> NDArray[Any] | None:
        """The array, where it can be read as it is."""
        return None if isinstance(self.data, RawTable) else self.array

    def variables(self, families: Any, max_states: int) -> tuple[list[Any], Rows | Table]:
        """The variable of every column as it shows, and the rows or the table."""
        if self.plain is not None and not families:
            if self.plain.dtype.kind == "f":
                return [Numeric(name) for name in self.names], blocks.of_floats(self.plain)
            states = blocks.whole_states(self.plain, MOST_STATES) if len(self.plain) else None
            if states is not None:
                found = [Discrete(name, tuple(known)) for name, known in zip(self.names, states, strict=True)]
                return found, blocks.of_integers(self.plain, states)
        open_to = [name for name in self.names if name not in families]
        whole, numbers = self.whole_columns(), self.floats()
        frame = isinstance(self.data, Mapping) and self.array is None
        gone = dropping(self.data, None) if frame else None
        table = read_columns(
            all_named(self.data) if frame else self.data,
            families,
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

    def states(self, columns: Sequence[Column]) -> dict[str, tuple[Any, ...]]:
        """The states that show in the columns of a model that have some."""
        discrete = [c.name for c in columns if isinstance(c.variable, Discrete) and c.variable.cuts is None]
        if not discrete:
            return {}
        if len(discrete) == len(self.names) and self.plain is not None and self.plain.dtype.kind in "iu":
            found = blocks.whole_states(self.plain, 1 << 16)
            if found is not None:
                return {name: tuple(known) for name, known in zip(self.names, found, strict=True)}
        table = as_table(self.data, columns=discrete, discrete=discrete, allow_constant=True, max_states=1 << 20)
        return {v.name: v.states for v in table.schema.discrete}

    def rows(self, columns: Sequence[Column]) -> Rows:
        """The rows by the columns of a model."""
        if self.plain is not None:
            if all(c.family == "normal" for c in columns):
                return blocks.of_floats(self.plain)
            states = [getattr(c.variable, "states", ()) for c in columns]
            if self.plain.dtype.kind in "iu" and all(near(known) for known in states):
                return blocks.of_integers(self.plain, states)
        return blocks.read(self.data, columns)[0]


def near(states: tuple[Any, ...]) -> bool:
    """Whole numbers that a short list can hold."""
    return bool(states) and all(type(s) is int for s in states) and max(states) - min(states) < 1 << 16


def is_source(X: Any) -> bool:
    """A table, the path of a file, or a source: it names its own columns."""
    return isinstance(X, Table | str | os.PathLike) or sources.is_source(X)


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


def found_finite(model: NaiveBayes) -> bool:
    """Whether all statistics of a model are finite."""
    return all(np.isfinite(a).all() for part in model.statistics.values() for a in part.arrays())
