"""The rows of a comparison, and their folds.

What a row holds decides its fold, by a number that is mixed from its cells and the seed:

    key = mix(seed + Σ mix(cell + mix(column)))

Rows stand in the order of their keys and columns in that of their names, so that the result is the same however the
table was sorted. Rows of a class are dealt to the folds in turn, so that each fold shows the classes as the table does.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import evaluation
from bayeslearn.errors import DataError, EmptyTableError, MissingValuesError
from bayeslearn.sources.usability import named_columns, without_identifiers
from bayeslearn.tables import DiscreteVariable, Table, as_table
from bayeslearn.tables.discretization import all_numbers, with_numbers
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with a target, in the order of their keys, and the target of each."""

    target: str
    #: The columns as :func:`as_table` judges them; and with states that are numbers as numbers.
    states: Table
    numbers: Table
    #: The code of a class, or a number.
    targets: NDArray[Any]
    #: The names of the classes; none where the target is a number.
    classes: tuple[Any, ...]
    #: Where each row stands in the table that was given, and of how many.
    place: NDArray[np.intp]
    given: int
    #: Columns that cannot be used, and why.
    dropped_columns: dict[str, str]

    @property
    def sample_weight(self) -> NDArray[np.float64]:
        """How often each row counts."""
        return np.ones(len(self.targets)) if self.states.sample_weight is None else self.states.sample_weight

    def folds(self, n: int) -> NDArray[np.intp]:
        """The fold of each row: classes are dealt one after the other, numbers as they stand."""
        rows = len(self.targets)
        return evaluation.folds(self.targets if self.classes else rows, n, order=np.arange(rows))

    def as_given(self, values: NDArray[Any], nothing: Any) -> NDArray[Any]:
        """Values of the rows in the order of the table that was given, with something for rows that take no part."""
        found = np.full(self.given, nothing, values.dtype)
        found[self.place] = values
        return found


def read(data: Any, target: str, *, task: str, sample_weight: Any, dropped: Sequence[str], seed: int) -> Problem:
    """The rows of a table that have a target and count, without columns that cannot be used.

    `dropped` columns were removed before, and are only reported.
    """
    dropped_columns: dict[str, str] = {}
    table = as_table(
        data, discrete=[target] if task == "classification" else (),
        numeric=[target] if task == "regression" else (), sample_weight=sample_weight, allow_constant=True,
        dropped_columns=dropped_columns,
    )  # fmt: skip
    if target in dropped_columns:
        raise DataError(f"the target cannot be used: {dropped_columns[target]}")
    require_known([target], [*table.schema.names, *dropped_columns])
    dropped_columns |= dict.fromkeys(dropped, "asked for")
    if not isinstance(data, Table):
        table = without_identifiers(table, dropped_columns, keep=[target, *named_columns(data)])
    variable, n = table.schema[target], len(table)
    missing = (
        table.codes_of(target) < 0 if isinstance(variable, DiscreteVariable) else np.isnan(table.values_of(target))
    )
    place = np.flatnonzero(~missing if table.sample_weight is None else ~missing & (table.sample_weight > 0))
    if not len(place):
        raise MissingValuesError(f"no row that counts has a {target!r}", hint="give rows whose target is known")
    table = table.take(place).select(sorted(table.schema.names))
    order = np.argsort(keys(table, seed), kind="stable")
    table, place = table.take(order), place[order]
    rows = table.drop([target])
    if not len(rows.schema):
        raise EmptyTableError(f"there is no column other than {target!r} to learn from")
    labels, classes = targets(table, target)
    own = isinstance(data, Table)  # it says itself what is what
    numbers = rows if own else with_numbers(rows, [v for v in rows.schema.discrete if all_numbers(v)])
    return Problem(target, rows, numbers, labels, classes, place, n, dropped_columns)


def targets(table: Table, target: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """The target of each row, and the classes that occur."""
    variable = table.schema[target]
    if not isinstance(variable, DiscreteVariable):
        return np.array(table.values_of(target)), ()
    shown, codes = np.unique(table.codes_of(target), return_inverse=True)
    if len(shown) < 2:
        raise DataError(
            f"the target {target!r} shows one class only, {variable.states[shown[0]]!r}",
            hint="give rows of at least two classes",
        )
    return codes.astype(np.int64), tuple(variable.states[code] for code in shown)


### keys


def keys(table: Table, seed: int) -> Keys:
    """A number for each row, the same wherever the row and its cells stand."""
    total = np.full(len(table), seed, np.uint64)
    for variable in table.schema:
        total += mix(cell_numbers(table, variable) + mix(digest(variable.name)))
    return mix(total if table.sample_weight is None else total + mix(table.sample_weight.view(np.uint64)))


def cell_numbers(table: Table, variable: Any) -> Keys:
    """A number for each cell of a column, by what stands in it."""
    if isinstance(variable, DiscreteVariable):
        return np.concatenate([digest(repr(state)) for state in (*variable.states, None)])[
            table.codes_of(variable.name)
        ]
    x = table.values_of(variable.name) + 0.0  # −0 is 0
    return np.where(np.isnan(x), np.nan, x).view(np.uint64)


def digest(text: str) -> Keys:
    """Words as a number, in an array, where overflow is meant."""
    return np.frombuffer(blake2b(text.encode(), digest_size=8).digest(), "<u8").astype(np.uint64)


def mix(x: Keys) -> Keys:
    """Every bit spread over all others: the finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
