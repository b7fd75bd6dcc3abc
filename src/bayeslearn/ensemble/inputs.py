"""Rows for the members of an ensemble: every table in the two forms that learners take.

    states     columns as :func:`~bayeslearn.as_table` reads them: whole numbers that repeat themselves are states
    numbers    the same columns, those whose states are numbers as numbers

Both forms have the columns and the states of the training rows; a state that is not among them is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn.errors import DataError, EmptyTableError, MissingValuesError
from bayeslearn.sources.usability import without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.conversion import collected
from bayeslearn.tables.discretization import all_numbers
from bayeslearn.tables.markers import distinct_labels, label_codes
from bayeslearn.tables.schema import code_type, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables import Variable

    Floats = NDArray[np.float64]

#: The form of rows that a learner takes.
Form = Literal["states", "numbers"]

#: More states of a column than this are taken for a mistake.
MAX_STATES = 255


@dataclass(frozen=True)
class Columns:
    """The columns of an ensemble, and how rows are read."""

    schema: Schema

    @cached_property
    def both(self) -> tuple[str, ...]:
        """The columns that are states in one form and numbers in the other."""
        return tuple(v.name for v in self.schema.discrete if all_numbers(v))

    @cached_property
    def numbers(self) -> Schema:
        """The schema of the form `numbers`."""
        return Schema(
            NumericVariable(v.name, read_as=v.read_as, origin=v.origin) if v.name in self.both else v
            for v in self.schema
        )

    def read(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> Table:
        """Rows in the form `numbers`."""
        plain = isinstance(data, np.ndarray) and data.ndim == 2
        rows = {name: data[:, j] for j, name in enumerate(self.schema.names)} if plain else data
        with collected():
            return as_table(rows, schema=self.numbers, handle_unknown="missing", missing_columns=missing_columns)

    def forms(self, table: Table) -> dict[Form, Table]:
        """Both forms of rows that are read."""
        return {"numbers": table, "states": self._states(table)}

    def _states(self, table: Table) -> Table:
        """Rows of the form `numbers` in the other form."""
        if not self.both:
            return table
        codes = [
            code_of_numbers(v, table.values_of(v.name)) if v.name in self.both else table.codes_of(v.name)
            for v in self.schema.discrete
        ]
        values = [table.values_of(v.name) for v in self.schema.numeric]
        block = np.array(values) if values else np.empty((0, table.n_rows))
        return Table(self.schema, np.array(codes, dtype=code_type(self.schema)), block, table.sample_weight)


def code_of_numbers(variable: DiscreteVariable, x: Floats) -> NDArray[np.intp]:
    """The codes of states that are numbers, −1 where a number is no state."""
    states = np.array([float(state) for state in variable.states])
    order = np.argsort(states)
    place = np.minimum(np.searchsorted(states[order], x), len(states) - 1)
    return np.where(states[order][place] == x, order[place], -1)


@dataclass(frozen=True, eq=False)
class Cases:
    """Training rows in both forms, the target of each and its weight."""

    columns: Columns
    tables: dict[Form, Table]
    target: Variable
    #: The code of the class of each row, or its number.
    y: NDArray[Any]
    sample_weight: Floats
    #: Whether weights were given.
    weighted: bool
    dropped_columns: dict[str, str]

    @property
    def informative(self) -> bool:
        """Whether some column and the target show two values."""
        return not {*self.columns.schema.names} <= {*self.dropped_columns} and bool((self.y != self.y[0]).any())

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> Cases:
        """Some of the rows."""
        tables = {form: table.take(rows) for form, table in self.tables.items()}
        return replace(self, tables=tables, y=self.y[rows], sample_weight=self.sample_weight[rows])


def read_cases(
    data: Any,
    target: Any,
    *,
    classes: Sequence[Any] | None,
    numeric: bool,
    columns: Iterable[str] | None,
    discrete: Iterable[str],
    sample_weight: Any,
    max_states: int = MAX_STATES,
) -> Cases:
    """The rows of data whose target is known and whose weight is above 0; columns without information are dropped."""
    named = isinstance(target, str)
    dropped: dict[str, str] = {}
    own = {"numeric" if numeric else "discrete": [target]} if named else {}
    options: dict[str, Any] = {"discrete": list(discrete)} | own
    if named and not numeric:
        options["discrete"] = [*discrete, target]
    wanted = None if columns is None else [*columns, *([target] if named else [])]
    table = as_table(
        data, columns=wanted, sample_weight=sample_weight, allow_constant=True, dropped_columns=dropped,
        max_states=max_states, **options,
    )  # fmt: skip
    if named:
        if target in dropped:
            raise DataError(f"the target cannot be used: {dropped[target]}")
        require_known([target], table.schema.names)
        if not isinstance(data, Table):
            table = without_identifiers(table, dropped, keep=[target])
        table, y = table.drop([target]), (table.values_of(target) if numeric else table.column(target))
    else:
        y = np.asarray(target)
        if len(y) != len(table):
            raise DataError(f"expected a target for each of {len(table)} rows, got {len(y)}")
    name = target if named else ("y" if numeric else "class")
    if not len(table.schema):
        raise EmptyTableError(f"there is no column other than {name!r} to learn from")
    variable, codes, known = numeric_target(name, y) if numeric else class_target(name, y, classes)
    weights = np.ones(len(table)) if table.sample_weight is None else np.asarray(table.sample_weight)
    rows = np.flatnonzero(known & (weights > 0))
    if not len(rows):
        raise MissingValuesError(f"no row that counts has a {name!r}", hint="give rows whose target is known")
    weighted, table = table.sample_weight is not None, table.with_weights(None).take(rows)
    table = without_constant(table, dropped)
    spec = Columns(table.schema)
    return Cases(spec, spec.forms(spec.read(table)), variable, codes[rows], weights[rows], weighted, dropped)


def class_target(
    name: str, y: NDArray[Any], classes: Sequence[Any] | None
) -> tuple[DiscreteVariable, NDArray[np.intp], NDArray[np.bool_]]:
    """The classes as a variable, the code of each row, and whether it has one."""
    labels = distinct_labels(y) if classes is None else np.asarray(classes)
    codes = label_codes(y, labels).astype(np.intp)
    return DiscreteVariable(name, tuple(labels.tolist())), codes, codes >= 0


def numeric_target(name: str, y: NDArray[Any]) -> tuple[NumericVariable, Floats, NDArray[np.bool_]]:
    """The target as a variable, the number of each row, and whether it has one."""
    found = np.asarray(y, dtype=np.float64)
    return NumericVariable(name), found, ~np.isnan(found)


def without_constant(table: Table, dropped: dict[str, str]) -> Table:
    """The table without columns that show fewer than two values; unchanged if there is no other."""
    for v in table.schema:
        cells = table.codes_of(v.name) if isinstance(v, DiscreteVariable) else table.values_of(v.name)
        seen = cells[cells >= 0] if isinstance(v, DiscreteVariable) else cells[~np.isnan(cells)]
        if not len(seen):
            dropped[v.name] = "no values"
        elif (seen == seen[0]).all():
            dropped[v.name] = "constant"
    gone = [v.name for v in table.schema if v.name in dropped]
    return table.drop(gone) if 0 < len(gone) < len(table.schema) else table


def new_weights(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Weights of rows, 1 by default."""
    return np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
