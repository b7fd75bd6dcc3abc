"""A table: rows of discrete codes and numeric values under a schema, with a weight each.

    codes           (n_discrete, n_rows)   whole numbers, −1 = missing       one contiguous row of memory per variable
    values          (n_numeric, n_rows)    floats, NaN = missing
    sample_weight   (n_rows,) or None      None means that every row counts once

A table is a value: its arrays are its own and read-only, and every method returns a new table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ParameterError, UnknownColumnError, listed
from bayeslearn.printable import printable
from bayeslearn.tables import discretization
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import Schema, checked_shapes, code_type, different, name_list, row_positions
from bayeslearn.tables.source_protocol import Source
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable, state_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.contingency import Counter
    from bayeslearn.tables.documents import DocumentBatch
    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.markers import Markers
    from bayeslearn.tables.source_protocol import Folded

    Codes = NDArray[np.signedinteger[Any]]

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Table(Source):
    """Rows of codes and values under a schema; :func:`~bayeslearn.tables.as_table` makes one from anything.

    >>> schema = Schema([DiscreteVariable("wind", ["weak", "strong"]), NumericVariable("hours")])
    >>> table = Table(schema, codes=[[0, 1, -1]], values=[[1.5, 2.0, float("nan")]])
    >>> table
    Table(3 rows × 2 columns)
      wind   2 states: weak, strong   1 missing
      hours  numeric                  1 missing
    >>> table.column("wind")
    array(['weak', 'strong', None], dtype=object)
    >>> table.row(1)
    {'wind': 'strong', 'hours': 2.0}
    """

    schema: Schema
    codes: Codes
    values: NDArray[np.float64]
    sample_weight: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        codes, values = np.asarray(self.codes), validation.float_array("values", self.values)
        n = checked_shapes(self.schema, codes, values)
        weights = None if self.sample_weight is None else validation.owned(validation.weights(self.sample_weight, n))
        codes = validation.owned(codes.reshape(len(self.schema.discrete), n), code_type(self.schema))
        self._store(codes, validation.owned(values.reshape(len(self.schema.numeric), n)), weights)

    @classmethod
    def _trusted(cls, schema: Schema, codes: Any, values: Any, sample_weight: Any) -> Table:
        """A table of parts that were checked before, without another owner that writes to them."""
        table = object.__new__(cls)
        object.__setattr__(table, "schema", schema)
        table._store(np.ascontiguousarray(codes, dtype=code_type(schema)), np.ascontiguousarray(values), sample_weight)
        return table

    def _store(self, codes: Codes, values: NDArray[np.float64], sample_weight: NDArray[np.float64] | None) -> None:
        for name, array in (("codes", codes), ("values", values), ("sample_weight", sample_weight)):
            object.__setattr__(self, name, None if array is None else read_only(array))

    # -- size

    if not TYPE_CHECKING:
        from bayeslearn.other_names import missing_attribute as __getattr__  # noqa: PLC0415 - the method

    @property
    def n_rows(self) -> int:
        """How many rows there are, whatever they weigh."""
        return self.codes.shape[1]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self.n_rows, len(self.schema)

    @property
    def total_weight(self) -> float:
        """The total weight of the rows."""
        return float(self.n_rows if self.sample_weight is None else self.sample_weight.sum())

    # -- columns

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.schema.names

    def __getitem__(self, columns: str | Iterable[str]) -> Any:
        """A column as an array, numbers as floats and states as they are named; or a table of several columns.

        >>> table = Table(Schema([DiscreteVariable("wind", ["weak", "strong"])]), codes=[[0, 1, -1]], values=[])
        >>> table["wind"]
        array(['weak', 'strong', None], dtype=object)
        >>> table[["wind"]].shape
        (3, 1)
        """
        if isinstance(columns, list | tuple):
            return self.select(columns)
        numeric = isinstance(self.schema[columns], NumericVariable)  # type: ignore[index]
        return self.values_of(columns) if numeric else self.column(columns)  # type: ignore[arg-type]

    #: A table has rows, columns and cells: what to go through must be said.
    __iter__ = None

    def codes_of(self, name: str) -> Codes:
        """The codes of a discrete column, −1 where missing."""
        if not isinstance(self.schema[name], DiscreteVariable):
            raise UnknownColumnError(
                f"column {name!r} is numeric, it has no codes",
                hint=f"use .values_of({name!r}), or .discretize([{name!r}])",
            )
        return self.codes[self.schema.place(name)]

    def values_of(self, name: str) -> NDArray[np.float64]:
        """The floats of a numeric column, NaN where missing."""
        if not isinstance(self.schema[name], NumericVariable):
            raise UnknownColumnError(
                f"column {name!r} is discrete, it has no numeric values", hint=f"use .codes_of({name!r})"
            )
        return self.values[self.schema.place(name)]

    def column(self, name: str) -> NDArray[np.object_]:
        """A column as the user wrote it, with None where missing."""
        variable = self.schema[name]
        if isinstance(variable, DiscreteVariable):
            return state_array(variable)[self.codes_of(name)]
        x = self.values_of(name)
        return np.where(np.isnan(x), np.array(None), x.astype(object))

    def missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""
        holes = self.codes.min(initial=0) < 0  # most tables have none, and to know that is quick
        codes = (self.codes < 0).sum(axis=1) if holes else np.zeros(len(self.codes), np.int64)
        values = np.isnan(self.values).sum(axis=1)
        count = {v.name: int(n) for v, n in zip(self.schema.discrete, codes, strict=True)}
        count |= {v.name: int(n) for v, n in zip(self.schema.numeric, values, strict=True)}
        return {name: count[name] for name in self.schema.names}

    # -- for other libraries

    def to_dict(self) -> dict[str, list[Any]]:
        """Every column as the user wrote it."""
        return {name: self.column(name).tolist() for name in self.schema.names}

    def to_arrow(self, *, sample_weight: str | None = None) -> Any:
        """A pyarrow table; parameters and columns as in :meth:`to_frame`."""
        from bayeslearn.tables import frames  # noqa: PLC0415 - Arrow loads when it is needed

        return frames.to_arrow(self, sample_weight)

    def to_frame(self, backend: Backend = "pandas", *, sample_weight: str | None = None) -> Any:
        """A data frame: text states are categories in their order, numbers are numbers, missing values are null.

        Parameters
        ----------
        backend
            The library of the frame: "pandas", "polars" or "pyarrow".
        sample_weight
            The name of a column for the weights of the rows, which are left out by default.

        Returns
        -------
        The frame; ``as_table(frame, schema=table.schema)`` is the table again, without weights.
        """
        from bayeslearn.tables import frames  # noqa: PLC0415 - Arrow loads when it is needed

        return frames.to_frame(self.to_arrow(sample_weight=sample_weight), backend)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for every library that reads Arrow, without weights: ``polars.DataFrame(table)``."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # -- rows

    def row(self, i: int) -> dict[str, Any]:
        """One row as the user wrote it, counted from 0, or from the end when negative."""
        if not -self.n_rows <= i < self.n_rows:
            raise ParameterError(f"there is no row {i} in a table of {self.n_rows} rows")
        return {name: column[0] for name, column in self.take([i]).to_dict().items()}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row as the user wrote it."""
        names = self.schema.names
        for cells in zip(*self.to_dict().values(), strict=True):
            yield dict(zip(names, cells, strict=True))

    # -- parts of it

    def select(self, names: Iterable[str]) -> Table:
        """These columns only, in this order."""
        schema = self.schema.select(names)
        codes = self.codes[[self.schema.place(v.name) for v in schema.discrete]]
        values = self.values[[self.schema.place(v.name) for v in schema.numeric]]
        return Table._trusted(schema, codes, values, self.sample_weight)

    def drop(self, names: Iterable[str]) -> Table:
        """Every column but these."""
        return self.select(self.schema.drop(name_list("names", names)).names)

    def mask(self, names: Iterable[str]) -> Table:
        """The same table with every cell of these columns missing."""
        codes, values = self.codes.copy(), self.values.copy()
        for name in name_list("names", names):
            if isinstance(self.schema[name], DiscreteVariable):
                codes[self.schema.place(name)] = -1
            else:
                values[self.schema.place(name)] = np.nan
        return Table._trusted(self.schema, codes, values, self.sample_weight)

    def take(self, rows: ArrayLike) -> Table:
        """These rows, by their positions or by a mask."""
        index = row_positions(np.asarray(rows), self.n_rows)
        weights = None if self.sample_weight is None else self.sample_weight[index]
        return Table._trusted(
            self.schema, np.take(self.codes, index, axis=1), np.take(self.values, index, axis=1), weights
        )

    def head(self, n: int = 5) -> Table:
        """The first `n` rows, or all if there are fewer."""
        return self.take(np.arange(min(validation.integer("n", n, min_value=0), self.n_rows)))

    def with_weights(self, sample_weight: ArrayLike | None) -> Table:
        """The same rows with other weights; None for one each."""
        checked = None if sample_weight is None else validation.owned(validation.weights(sample_weight, self.n_rows))
        return Table._trusted(self.schema, self.codes, self.values, checked)

    def distinct(self) -> Table:
        """Equal rows folded into one that carries their weight, in order of first appearance.

        >>> coin = Table(Schema([DiscreteVariable("side", ["head", "tail"])]), codes=[[0, 1, 0, 0]], values=[])
        >>> coin.distinct().codes, coin.distinct().sample_weight
        (array([[0, 1]], dtype=int8), array([3., 1.]))
        """
        from bayeslearn.tables.contingency import groups  # noqa: PLC0415 - few count

        first, group = groups(self.codes, [v.n_states for v in self.schema.discrete], self.values)
        folded = np.bincount(group, self.sample_weight, minlength=len(first)).astype(float)
        return self.take(first).with_weights(folded)

    def discretize(
        self,
        columns: Iterable[str] | None = None,
        *,
        strategy: Literal["quantile", "uniform", "mdl"] = "quantile",
        n_bins: int | None = None,
        target: str | None = None,
    ) -> Table:
        """Return the table with numeric columns discretized; see :mod:`bayeslearn.tables.discretization`.

        Parameters
        ----------
        columns
            The columns; all numeric ones by default.
        strategy
            ``"quantile"``: bins of about equal weight. ``"uniform"``: bins of equal width. ``"mdl"``: cut points that
            separate the states of `target`, by minimum description length.
        n_bins
            The number of bins of ``"quantile"`` and ``"uniform"``; 5 by default.
        target
            The column whose states ``"mdl"`` separates.

        Raises
        ------
        ConstantColumnError
            A column has fewer than two different values.
        """
        return self.with_intervals(
            discretization.find_intervals(self, columns, strategy=strategy, n_bins=n_bins, target=target)
        )

    def apply_cuts(self, cuts: Mapping[str, Iterable[float]]) -> Table:
        """Return the table with numeric columns discretized at the given cut points, which the schema keeps."""
        return self.with_intervals(discretization.intervals_between(self, cuts))

    def with_intervals(self, cut: Mapping[str, DiscreteVariable]) -> Table:
        """Return the table with numeric columns coded by these intervals."""
        new = {name: variable.cut(self.values_of(name)) for name, variable in cut.items()}
        schema = Schema(cut.get(v.name, v) for v in self.schema)
        codes = np.empty((len(schema.discrete), self.n_rows), dtype=code_type(schema))
        for row, variable in zip(codes, schema.discrete, strict=True):
            row[:] = new[variable.name] if variable.name in new else self.codes_of(variable.name)
        values = self.values[[self.schema.place(v.name) for v in schema.numeric]]
        return Table._trusted(schema, codes, values, self.sample_weight)

    # -- batches

    def fold(self, collect: Callable[[Table], S]) -> S:
        """`collect` of the whole table: it is its own only batch."""
        return collect(self)

    def batches(self, n: int | None = None) -> Iterator[Table]:
        """The rows in order, `n` at a time, or all at once; the last batch may be shorter."""
        n = max(self.n_rows, 1) if n is None else validation.integer("n", n, min_value=1)
        for start in range(0, self.n_rows, n):
            part = slice(start, start + n)
            weights = None if self.sample_weight is None else self.sample_weight[part]
            yield Table._trusted(self.schema, self.codes[:, part], self.values[:, part], weights)

    # -- raw columns, as every source has them

    def fold_streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        work: Callable[[Iterator[T]], S | None],
        *,
        rows: int | None = None,
        whole_files: bool = False,
    ) -> S:
        """`work` of the only stream, that of the table."""
        (stream,) = self.streams(names, read, rows=rows, whole_files=whole_files)
        return work(stream)  # type: ignore[return-value]

    def streams(
        self,
        names: tuple[str, ...] | None,
        read: Callable[[list[Column]], T],
        *,
        rows: int | None = None,  # noqa: ARG002 - it is in memory already
        whole_files: bool = False,  # noqa: ARG002
    ) -> tuple[Iterator[T]]:
        """One stream of one batch."""
        from bayeslearn.tables.arrow_columns import table_column  # noqa: PLC0415 - Arrow loads when it is needed

        there = self.schema.names if names is None else [name for name in names if name in self.schema]
        return (map(read, [[table_column(self, name) for name in there]]),)

    def column_names(self) -> list[tuple[str, ...]]:
        """Those of the schema."""
        return [self.schema.names]

    @property
    def markers(self) -> Missing:
        """None: what is missing is known."""
        return Missing.plain([])

    def documents(
        self,
        text: str | None = None,
        label: str | None = None,
        *,
        sample_weight: str | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> Folded[DocumentBatch]:
        """The documents of a column with their labels, and the weights of the rows; see :class:`Source`."""
        found = super().documents(
            text, label, sample_weight=sample_weight, na_values=na_values, keep_default_na=keep_default_na
        )
        own = self.sample_weight if sample_weight is None else None
        return found if own is None else found.map(lambda batch: replace(batch, sample_weight=own))

    @staticmethod
    def concat(tables: Iterable[Table]) -> Table:
        """The rows of several tables of the same schema, one after the other."""
        tables = list(tables)
        if not tables:
            raise ParameterError("there is no table to concatenate")
        schema = tables[0].schema
        for number, table in enumerate(tables):
            if table.schema != schema:
                raise ParameterError(
                    f"table {number} has another schema than table 0: {listed(different(schema, table.schema))} differ",
                    hint="read it with as_table(..., schema=...)",
                )
        weights = None
        if any(t.sample_weight is not None for t in tables):
            weights = np.concatenate(
                [np.ones(t.n_rows) if t.sample_weight is None else t.sample_weight for t in tables]
            )
        codes = np.concatenate([t.codes for t in tables], axis=1)
        return Table._trusted(schema, codes, np.concatenate([t.values for t in tables], axis=1), weights)

    # -- counts

    def count_groups(self, column_groups: Sequence[tuple[str, ...]]) -> list[NDArray[np.float64]]:
        """Return the counts of groups of discrete columns, with missing as the last index of every axis."""
        return self.counter.count([self.counter.columns(names) for names in column_groups])

    @cached_property
    def counter(self) -> Counter:
        """The counter of groups of columns, which keeps bitmaps; see :func:`contingency_tables`."""
        from bayeslearn.tables.contingency import Counter  # noqa: PLC0415 - few count

        return Counter(self)

    # -- as a value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if self.schema != other.schema or (self.sample_weight is None) != (other.sample_weight is None):
            return False
        same = np.array_equal(self.codes, other.codes) and np.array_equal(self.values, other.values, equal_nan=True)
        return same and (
            self.sample_weight is None or np.array_equal(self.sample_weight, np.asarray(other.sample_weight))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.schema, self.codes, self.values, self.sample_weight)

    def __repr__(self) -> str:
        from bayeslearn.tables import frames  # noqa: PLC0415 - text is made when somebody reads it

        return printable("\n".join([f"Table({frames.heading(self)})", *frames.text_lines(self)]))

    def _repr_html_(self) -> str:
        from bayeslearn.tables import frames  # noqa: PLC0415

        return frames.html(self)


### parts of a table


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
