"""Data of any kind next to their codes, so that completed codes go back into the missing cells and nowhere else.

A missing cell whose state is known is filled with a value that could stand in its column:

    discrete        the state, written as in the first row that shows it, else in the kind of the column
    discretized     a number: the median of the values in the interval, or one of these values at random

The values of an interval are those that the network keeps of its training rows; if it keeps none, those of the rows at
hand; if there are none, the middle of the interval or its finite bound. A column of whole numbers gets whole numbers,
and no column more decimals than its observed cells have. Among text a number is written as the others are: '$450.00'.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayeslearn.errors import BayeslearnWarning, UnknownColumnError, joined, listed, outside
from bayeslearn.tables import DiscreteVariable, Table, as_table
from bayeslearn.tables.columns import all_whole, level_numbers, levels, number_of, one_dictionary
from bayeslearn.tables.imputed_cells import Fill
from bayeslearn.tables.intervals import values_of
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import name_list, require_known
from bayeslearn.tables.state_encoding import NumberStyle, truth
from bayeslearn.tables.type_inference import as_known_numbers, format_of, is_plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.markers import Markers
    from bayeslearn.tables.variables import Variable

    Codes = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Opened:
    """Data in memory, their columns, and the table of the network's variables that they show."""

    data: Any
    columns: list[Column]
    table: Table
    #: What stands for a missing cell.
    markers: Missing
    #: The columns that may be filled.
    fillable: frozenset[str]

    @classmethod
    def of(
        cls,
        network: BayesianNetwork,
        data: Any,
        *,
        handle_unknown: Literal["error", "missing"] = "missing",
        na_values: Markers = (),
        keep_default_na: bool = True,
        columns: Iterable[str] | None = None,
        drop_columns: Iterable[str] = (),
    ) -> Opened:
        """Data of any kind with at least one column that is a variable of the network."""
        from bayeslearn.tables.arrow_columns import gather  # noqa: PLC0415 - as above
        from bayeslearn.tables.imputed_cells import in_memory  # noqa: PLC0415 - Arrow loads when data come in

        what = repr(str(data)) if isinstance(data, str | os.PathLike) else "the data"
        data = in_memory(data)
        found, _ = gather(data, None, network.schema.names)
        fillable, dropped = chosen_columns([column.name for column in found], columns, drop_columns)
        cells = {column.name: column.data for column in found if column.name not in dropped}
        if cells and not known_names(network).intersection(cells):
            raise UnknownColumnError(
                f"no column of {what} is a variable of the network",
                hint=f"the variables are {listed(network.variables)}, the columns {listed(cells)}",
            )
        weights = data.sample_weight if isinstance(data, Table) else None
        code = partial(
            as_table,
            cells,
            schema=network.schema,
            missing_columns="missing",
            na_values=na_values,
            keep_default_na=keep_default_na,
        )
        markers = Missing.of(na_values, keep_default_na=keep_default_na)
        return cls(data, found, code(sample_weight=weights, handle_unknown=handle_unknown), markers, fillable)

    @cached_property
    def gaps(self) -> dict[str, NDArray[np.bool_]]:
        """Which cells of each column are missing: empty ones and markers.

        A state that is unknown to the network is not missing, nor is a word among numbers, though a row is completed
        without them.
        """
        from bayeslearn.tables.columns import levels  # noqa: PLC0415 - Arrow loads when data come in

        found = {}
        for column in self.columns:
            if column.name in self.table.schema and column.name in self.fillable:
                markers = self.markers.of_column(column.name).without(
                    getattr(self.table.schema[column.name], "states", ())
                )
                found[column.name] = np.asarray(levels(column, markers).place < 0)
        return found

    @cached_property
    def missing_dates(self) -> dict[str, int]:
        """How many cells are missing in columns of dates, of which the network has only parts: none is filled."""
        from bayeslearn.tables.columns import levels  # noqa: PLC0415 - Arrow loads when data come in

        origins = {variable.origin for variable in self.table.schema} - set(self.table.schema.names)
        dates = [column for column in self.columns if column.name in origins & self.fillable]
        counts = {column.name: int((levels(column, self.markers).place < 0).sum()) for column in dates}
        return {name: count for name, count in counts.items() if count}

    def warn_of_dates(self) -> None:
        """Report missing dates, which stay missing."""
        if self.missing_dates:
            cells = joined(f"{name!r} ({count:,})" for name, count in self.missing_dates.items())
            warnings.warn(
                f"missing dates stay missing in {cells}: the network has only parts of dates, which do not determine a "
                f"day",
                BayeslearnWarning,
                stacklevel=outside(),
            )

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Which cells of a column are missing."""
        return self.gaps[name]

    def filled(self, full: Table, fills: dict[str, Fill], *, as_intervals: bool = False) -> Any:
        """The data with the new values; a table also needs the codes that are completed."""
        from bayeslearn.tables.imputed_cells import fill_cells  # noqa: PLC0415 - Arrow loads when data come in

        if isinstance(self.data, Table):
            return table_filled(self.data, full, fills, self.fillable if as_intervals else frozenset())
        return fill_cells(self.data, [column.name for column in self.columns], fills)

    def fills(self, full: Table, luck: np.random.Generator | None, *, as_intervals: bool = False) -> dict[str, Fill]:
        """The new values of each column with missing cells; with `as_intervals` every cell of a discretized one."""
        found = {}
        for column in self.columns:
            if column.name not in self.gaps:
                continue
            variable, missing = full.schema[column.name], self.missing(column.name)
            if not isinstance(variable, DiscreteVariable):
                if missing.any():
                    found[column.name] = numbers_of(column, variable, full.values_of(column.name), missing)
                continue
            code = full.codes_of(column.name)
            if as_intervals and variable.cuts is not None:
                found[column.name] = intervals_of(variable, code)
            elif missing.any():
                shown = self.table.codes_of(column.name)
                found[column.name] = fill_of(
                    column, variable, markers=self.markers, missing=missing, shown=shown, code=code, luck=luck
                )  # fmt: skip
        return found


def chosen_columns(
    known: list[str], columns: Iterable[str] | None, drop_columns: Iterable[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The columns that may be filled, and those that are not considered."""
    wanted = None if columns is None else name_list("columns", columns)
    dropped = frozenset(name_list("drop_columns", drop_columns))
    require_known([*(wanted or ()), *dropped], known)
    return frozenset(known if wanted is None else wanted) - dropped, dropped


def known_names(network: BayesianNetwork) -> set[str]:
    """The columns that describe a variable: its own, and one that it is a part of."""
    return {name for cpt in network for name in (cpt.name, getattr(cpt.variable, "origin", None)) if name is not None}


### tables


def table_filled(table: Table, full: Table, fills: dict[str, Fill], as_intervals: frozenset[str]) -> Table:
    """A table with another schema than the network's: every column keeps its variable, if the states are enough.

    Discretized columns that are among `as_intervals` become intervals.
    """
    from bayeslearn.tables.table_builder import join  # noqa: PLC0415 - Arrow loads when data come in

    columns: list[tuple[Variable, NDArray[Any]]] = []
    for variable in table.schema:
        name, discrete = variable.name, isinstance(variable, DiscreteVariable)
        cells = (table.codes_of(name) if discrete else table.values_of(name)).copy()
        if name in as_intervals and name in full.schema and full.schema[name].cuts is not None:  # type: ignore[attr-defined]
            columns.append((full.schema[name], full.codes_of(name)))
        elif name not in fills:
            columns.append((variable, cells))
        elif isinstance(variable, DiscreteVariable):
            columns.append(states_filled(variable, cells, fills[name]))
        else:
            cells[fills[name].rows] = fills[name].values
            columns.append((variable, cells))
    return join(columns, table.n_rows, table.sample_weight)


def states_filled(variable: DiscreteVariable, code: NDArray[Any], fill: Fill) -> tuple[DiscreteVariable, NDArray[Any]]:
    """A discrete column with new states; one that its variable lacks goes to the end of the states."""
    new = [state for state in dict.fromkeys(fill.values) if state not in variable.states]
    if new:
        variable = DiscreteVariable(variable.name, (*variable.states, *new), None)
    places = {state: variable.code_of(state) for state in dict.fromkeys(fill.values)}
    code = code.astype(np.int32)
    code[fill.rows] = [places[state] for state in fill.values]
    return variable, code


#: Distinct cells of a column that show how it writes numbers.
MANY = 1000

#: The most decimals that numbers are rounded to.
MAX_DECIMALS = 15


def fill_of(
    column: Column,
    variable: DiscreteVariable,
    *,
    markers: Missing,
    missing: NDArray[np.bool_],
    shown: Codes,
    code: Codes,
    luck: np.random.Generator | None,
) -> Fill:
    """The values for the missing cells of a column; `shown` are the codes of its rows, `code` the completed ones."""
    rows, style = np.flatnonzero(missing), style_of(column, variable, markers)
    if variable.cuts is None or has_interval_names(column, variable, shown):
        spelled = spellings(column, variable, shown, style)
        return Fill(rows, [spelled[state] for state in code[rows].tolist()])
    x = np.where(shown < 0, np.nan, column_numbers(as_known_numbers(column, variable, markers)))
    chosen = chosen_numbers(variable, code[rows], x, luck)
    decimals = 0 if has_whole_numbers(column, variable, x) else decimals_of(x) if style is None else style.max_decimals
    if decimals is not None:
        chosen = rounded(variable, code[rows], chosen, decimals)
    return Fill(rows, written(column, chosen, style, whole=decimals == 0))


def numbers_of(
    column: Column,
    variable: Variable,
    full: NDArray[np.float64],
    missing: NDArray[np.bool_],
) -> Fill:
    """Numbers for the missing cells of a column that stays numeric, whole ones in a column of integers."""
    whole = column.kind == "number" and pa.types.is_integer(column.data.type)
    style = None if isinstance(column.data, list) or not is_plain_text(column) else NumberStyle.of(
        levels(column, Missing.of((), keep_default_na=True)).values[:MANY].to_pylist(), variable.read_as
    )  # fmt: skip
    decimals = style.max_decimals if style is not None else 0 if whole else None
    rows = np.flatnonzero(missing)
    chosen = full[rows] if decimals is None else np.round(full[rows], decimals)
    return Fill(rows, written(column, chosen, style, whole=whole))


def intervals_of(variable: DiscreteVariable, code: Codes) -> Fill:
    """The intervals of a whole column, observed or not, by name."""
    return Fill(np.arange(len(code)), [variable.states[state] for state in code.tolist()])


### numbers


def has_interval_names(column: Column, variable: DiscreteVariable, shown: Codes) -> bool:
    """Whether a column shows the names of intervals in place of numbers."""
    first = int(np.argmax(shown >= 0))
    return bool(shown[first] >= 0) and cell_at(column, first) in variable.states


def column_numbers(column: Column) -> NDArray[np.float64]:
    """The number in each cell, NaN where there is none."""
    if column.kind == "objects":
        return level_numbers(column.data)
    if column.kind == "number" and not pa.types.is_dictionary(column.data.type):
        return np.asarray(column.data.cast(pa.float64(), safe=False), dtype=np.float64)
    if column.kind == "bool":
        return np.full(len(column), np.nan)
    coded = one_dictionary(column.data)
    return np.append(level_numbers(coded.dictionary), np.nan)[np.asarray(pc.fill_null(coded.indices, -1))]


def chosen_numbers(
    variable: DiscreteVariable, code: Codes, observed: NDArray[np.float64], luck: np.random.Generator | None
) -> NDArray[np.float64]:
    """A number for each code: the median of its interval, or a draw from the values there."""
    values = values_of(variable, observed)
    if luck is None:
        return np.array([v[(len(v) - 1) // 2] for v in values])[code]
    length = np.array([len(v) for v in values])
    start = np.cumsum(length) - length
    return np.concatenate(values)[start[code] + (luck.random(len(code)) * length[code]).astype(np.intp)]


def has_whole_numbers(column: Column, variable: DiscreteVariable, observed: NDArray[np.float64]) -> bool:
    """Whether a column is of whole numbers: by its type, by what the network keeps, else by what it shows."""
    if column.kind == "number" and pa.types.is_integer(column.data.type):
        return True
    kept = [x for values in variable.interval_values or () for x in values]
    return all_whole(np.array(kept) if kept else observed) and bool(kept or not np.isnan(observed).all())


def decimals_of(x: NDArray[np.float64]) -> int | None:
    """The most decimals that observed numbers have; None where there are none, or more than can be listed."""
    x = x[np.isfinite(x)]
    fitting = (d for d in range(MAX_DECIMALS + 1) if all((np.round(part, d) == part).all() for part in (x[:256], x)))
    return next(fitting, None) if len(x) else None


def rounded(variable: DiscreteVariable, code: Codes, x: NDArray[np.float64], decimals: int = 0) -> NDArray[np.float64]:
    """The nearest numbers with this many decimals, on the other side where only that one lies in the interval."""
    scale = 10.0**decimals
    nearest = np.round(x, decimals)
    other = np.where(nearest < x, np.ceil(x * scale), np.floor(x * scale)) / scale
    return np.where((variable.cut(nearest) != code) & (variable.cut(other) == code), other, nearest)


def written(column: Column, x: NDArray[np.float64], style: NumberStyle | None, *, whole: bool) -> list[Any]:
    """Numbers as the column holds them: as text among text, in the style of the others."""
    if style is not None:
        return [style.write(value) for value in x.tolist()]
    numbers: list[Any] = [int(value) for value in x.tolist()] if whole else x.tolist()
    if column.kind == "text" and not pa.types.is_null(column.data.type):
        return [str(value) for value in numbers]
    return numbers


def style_of(column: Column, variable: DiscreteVariable, markers: Missing) -> NumberStyle | None:
    """How a column of text writes numbers; None for other columns, and for states that are no numbers in a format."""
    if isinstance(column.data, list) or not is_plain_text(column):
        return None
    found = levels(column, markers)
    name = format_of(found, variable) if len(found.values) else None
    if name is None and variable.cuts is None:
        return None
    return NumberStyle.of(found.values[:MANY].to_pylist(), name)


### states


def spellings(column: Column, variable: DiscreteVariable, shown: Codes, style: NumberStyle | None = None) -> list[Any]:
    """How the column writes each state: as in the first row that shows it, else by its kind."""
    seen, first = np.unique(shown, return_index=True)
    rows = {int(state): int(row) for state, row in zip(seen, first, strict=True) if state >= 0}
    return [
        cell_at(column, rows[state]) if state in rows else converted(column, variable.states[state], style)
        for state in range(variable.n_states)
    ]


def cell_at(column: Column, row: int) -> Any:
    """One cell as a Python object."""
    return column.data[row] if isinstance(column.data, list) else column.data[row].as_py()


def converted(column: Column, state: Any, style: NumberStyle | None = None) -> Any:
    """A state in the kind of a column that does not show it: text, number or truth value."""
    if style is not None and isinstance(state, int | float):
        return style.write(state)
    if column.kind == "text" and not pa.types.is_null(column.data.type):
        return str(state)
    if column.kind == "number" and not np.isnan(x := np.nan if isinstance(state, bool) else number_of(state)):
        return int(x) if x.is_integer() else x
    if column.kind == "bool" and truth(state) in {"true", "false"}:
        return truth(state) == "true"
    return state
