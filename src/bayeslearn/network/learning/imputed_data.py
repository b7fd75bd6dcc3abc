"""Data of any kind beside their codes, so that completed codes go back into the missing cells and nowhere else."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.errors import BayeslearnWarning, UnknownColumnError, joined, listed
from bayeslearn.tables import Discrete, Table, as_table
from bayeslearn.tables.markers import Missing
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.filling import Fill
    from bayeslearn.tables.markers import Markers
    from bayeslearn.tables.variables import Variable


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
        unseen: Literal["error", "missing"] = "missing",
        missing: Markers = (),
        keep_default_na: bool = True,
        columns: Iterable[str] | None = None,
        drop_columns: Iterable[str] = (),
    ) -> Opened:
        """Data of any kind with at least one column that is a variable of the network."""
        from bayeslearn.tables.filling import in_memory  # noqa: PLC0415 - Arrow loads when data come in
        from bayeslearn.tables.gather import gather  # noqa: PLC0415 - as above

        what = repr(str(data)) if isinstance(data, str | os.PathLike) else "the data"
        data = in_memory(data)
        found, _ = gather(data, None, network.schema.names)
        fillable, dropped = chosen_columns([column.name for column in found], columns, drop_columns)
        cells = {column.name: column.data for column in found if column.name not in dropped}
        if cells and not known_names(network).intersection(cells):
            raise UnknownColumnError(
                f"no column of {what} is a variable of the network",
                hint=f"the variables are {listed(network.names)}, the columns {listed(cells)}",
            )
        weights = data.weights if isinstance(data, Table) else None
        code = partial(
            as_table, cells, schema=network.schema, absent="missing", missing=missing, keep_default_na=keep_default_na
        )
        markers = Missing.of(missing, keep_default_na=keep_default_na)
        return cls(data, found, code(weights=weights, unseen=unseen), markers, fillable)

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
                variable = self.table.schema[column.name]
                assert isinstance(variable, Discrete)
                markers = self.markers.of_column(column.name).without(variable.states)
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
                stacklevel=3,
            )

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Which cells of a column are missing."""
        return self.gaps[name]

    def filled(self, full: Table, fills: dict[str, Fill], *, as_intervals: bool = False) -> Any:
        """The data with the new values; a table also needs the codes that are completed."""
        from bayeslearn.tables.filling import fill_cells  # noqa: PLC0415 - Arrow loads when data come in

        if isinstance(self.data, Table):
            return table_filled(self.data, full, fills, self.fillable if as_intervals else frozenset())
        return fill_cells(self.data, [column.name for column in self.columns], fills)

    def fills(self, full: Table, luck: np.random.Generator | None, *, as_intervals: bool = False) -> dict[str, Fill]:
        """The new values of each column with missing cells; with `as_intervals` every cell of a discretized one."""
        from bayeslearn.network.learning.imputed_values import fill_of, intervals_of  # noqa: PLC0415 - as above

        found = {}
        for column in self.columns:
            if column.name not in self.gaps:
                continue
            variable, missing, code = full.schema[column.name], self.missing(column.name), full.code(column.name)
            assert isinstance(variable, Discrete)
            if as_intervals and variable.cuts is not None:
                found[column.name] = intervals_of(variable, code)
            elif missing.any():
                shown = self.table.code(column.name)
                found[column.name] = fill_of(
                    column, variable, markers=self.markers, missing=missing, shown=shown, code=code, luck=luck
                )  # fmt: skip
        return found


def chosen_columns(
    known: list[str], columns: Iterable[str] | None, drop_columns: Iterable[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The columns that may be filled, and those that are not even looked at."""
    wanted = None if columns is None else name_list("columns", columns)
    dropped = frozenset(name_list("drop_columns", drop_columns))
    require_known([*(wanted or ()), *dropped], known)
    return frozenset(known if wanted is None else wanted) - dropped, dropped


def known_names(network: BayesianNetwork) -> set[str]:
    """The columns that tell of a variable: its own, and one that it is a part of."""
    return {name for cpt in network for name in (cpt.name, getattr(cpt.variable, "origin", None)) if name is not None}


### tables


def table_filled(table: Table, full: Table, fills: dict[str, Fill], as_intervals: frozenset[str]) -> Table:
    """A table with another schema than the network's: every column keeps its variable, if the states are enough.

    Discretized columns that are among `as_intervals` become intervals.
    """
    from bayeslearn.tables.building import join  # noqa: PLC0415 - Arrow loads when data come in

    columns: list[tuple[Variable, NDArray[Any]]] = []
    for variable in table.schema:
        name, discrete = variable.name, isinstance(variable, Discrete)
        cells = (table.code(name) if discrete else table.value(name)).copy()
        if name in as_intervals and name in full.schema and full.schema[name].cuts is not None:  # type: ignore[attr-defined]
            columns.append((full.schema[name], full.code(name)))
        elif name not in fills:
            columns.append((variable, cells))
        elif isinstance(variable, Discrete):
            columns.append(states_filled(variable, cells, fills[name]))
        else:
            cells[fills[name].rows] = fills[name].values
            columns.append((variable, cells))
    return join(columns, table.n_rows, table.weights)


def states_filled(variable: Discrete, code: NDArray[Any], fill: Fill) -> tuple[Discrete, NDArray[Any]]:
    """A discrete column with new states; one that its variable lacks goes to the end of the states."""
    new = [state for state in dict.fromkeys(fill.values) if state not in variable.states]
    if new:
        variable = Discrete(variable.name, (*variable.states, *new), None)
    places = {state: variable.code_of(state) for state in dict.fromkeys(fill.values)}
    code = code.astype(np.int32)
    code[fill.rows] = [places[state] for state in fill.values]
    return variable, code
