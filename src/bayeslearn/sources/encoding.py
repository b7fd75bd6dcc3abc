"""From Arrow batches to tables of codes, by a schema that is known.

Cells of a dictionary and small whole numbers are numbers already: one look into a table gives their code. The table is
made once for a dictionary. Anything else goes the way that :func:`~bayeslearn.as_table` goes.

A sample is the same wherever and in whatever order batches are read: the rows with the lowest numbers.

    number(row) = a hash of its cells and of its place in the batch        lowest k of a + b = lowest k of both

Of no more than k rows all are kept, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bayeslearn import kernels
from bayeslearn.errors import DataError
from bayeslearn.tables.columns import column_weights, is_missing, number_of
from bayeslearn.tables.schema import code_type, require_known
from bayeslearn.tables.state_encoding import UNKNOWN, StateLookup, code_by
from bayeslearn.tables.table import Table
from bayeslearn.tables.table_builder import missing_column, together
from bayeslearn.tables.type_inference import origins, with_origins
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables import Schema
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.conversion import Request
    from bayeslearn.tables.markers import Missing
    from bayeslearn.tables.variables import Variable

    Numbers = NDArray[np.uint64]


def row_numbers(columns: Iterable[NDArray[Any]], n: int) -> Numbers:
    """A number for each of n rows that looks random and depends on its cells and its place alone."""
    mixed = scrambled(np.arange(n, dtype=np.uint64))
    for column in columns:
        mixed = scrambled(mixed ^ bits(column))
    return mixed


def bits(column: NDArray[Any]) -> Numbers:
    """The cells as whole numbers."""
    kind = np.float64 if column.dtype.kind == "f" else np.int64
    return np.ascontiguousarray(column, dtype=kind).view(np.uint64)


def scrambled(x: Numbers) -> Numbers:
    """All bits mixed (the finish of splitmix64), so that near numbers end far apart."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(x ^ (x >> np.uint64(31)))


def lowest(numbers: Numbers, most: int) -> NDArray[np.intp]:
    """The places of the lowest numbers, in the order of the rows; the first of those that are equal."""
    if len(numbers) <= most:
        return np.arange(len(numbers))
    return np.sort(np.argsort(numbers, kind="stable")[:most])


#: Entries of a dictionary that are looked up one by one.
MOST_ENTRIES = 4096

#: The bits of an Arrow array in which nothing is missing.
NO_BITS = np.empty(0, np.uint8)

#: Whole numbers for which there is a table.
SMALL = 1 << 15


@dataclass(frozen=True)
class Coder:
    """Codes batches by a schema."""

    schema: Schema
    request: Request
    #: The column that says how often each row counts.
    weight: str | None = None
    _tables: dict[str, tuple[Any, NDArray[np.int16]]] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Coder, (self.schema, self.request, self.weight)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read, those of them that are there: variables, and the dates that they are parts of."""
        names = tuple(dict.fromkeys((*self.schema.names, *origins(self.schema, self.schema.names))))
        return names if self.weight is None else (*names, self.weight)

    def table(self, columns: list[Column]) -> Table:
        """The table of one batch; one error reports all that is wrong with it."""
        dropped = frozenset(self.request.dropped)
        by_name = {column.name: column for column in columns if column.name not in dropped}
        n = len(columns[0]) if columns else 0
        by_name = with_origins(by_name, self.schema, self.request.missing)
        if self.request.absent == "missing":
            by_name = {name: missing_column(name, n) for name in self.schema.names} | by_name
        require_known([*self.schema.names, *([] if self.weight is None else [self.weight])], by_name)
        codes = np.empty((len(self.schema.discrete), n), code_type(self.schema))
        values = np.empty((len(self.schema.numeric), n))
        errors = []
        for variable in self.schema:
            block = codes if isinstance(variable, DiscreteVariable) else values
            try:
                self._fill(by_name[variable.name], variable, block[self.schema.place(variable.name)])
            except DataError as error:
                errors.append(error)
        if errors:
            raise together(errors)
        weights = None if self.weight is None else column_weights(by_name[self.weight], self.request.missing)
        return Table._trusted(self.schema, codes, values, weights)  # noqa: SLF001 - made of checked parts

    def _fill(self, column: Column, variable: Variable, out: NDArray[Any]) -> None:
        numbered = self._numbered(column, variable) if out.itemsize <= 2 else None
        if numbered is not None:
            index, bits, first, table = numbered
            kernels.recode(index, bits, first, table, out)
            if out.min(initial=0) > UNKNOWN:
                return
        out[:] = code_by(column, variable, self.request)[1]

    def _numbered(self, column: Column, variable: Variable) -> tuple[Any, Any, int, NDArray[np.int16]] | None:
        """Cells as numbers with a table of their codes, where they are so few that this is quick."""
        if (
            not isinstance(variable, DiscreteVariable)
            or variable.cuts is not None
            or not isinstance(column.data, pa.Array)
        ):
            return None
        missing = self.request.missing.of_column(column.name).without(variable.states)
        if pa.types.is_dictionary(column.data.type):
            return self._by_dictionary(column, variable, missing)
        return self._by_number(column, variable, missing) if pa.types.is_integer(column.data.type) else None

    def _by_dictionary(self, column: Column, variable: DiscreteVariable, missing: Missing) -> Any:
        entries = column.data.dictionary
        if len(entries) > MOST_ENTRIES or entries.null_count or not len(entries):
            return None
        known, table = self._tables.get(column.name, (None, None))
        if known is None or not known.equals(entries):
            look = StateLookup(variable)
            table = np.array([-1 if is_missing(v, missing) else look(v) for v in entries.to_pylist()], np.int16)
            self._tables[column.name] = entries, table
        indices = column.data.indices
        return (*raw(indices if indices.type == pa.int32() else indices.cast(pa.int32())), table)

    def _by_number(self, column: Column, variable: DiscreteVariable, missing: Missing) -> Any:
        try:
            small = column.data.cast(pa.int16()).cast(pa.int32())
        except pa.ArrowInvalid:
            return None
        known, table = self._tables.get(column.name, (None, None))
        if known != "numbers":
            table = number_table(variable, missing)
            self._tables[column.name] = "numbers", table
        index, bits, first = raw(small)
        return index, bits, first, table


def number_table(variable: DiscreteVariable, missing: Missing) -> NDArray[np.int16]:
    """The code of every small whole number; negative ones stand at the end, where an index below zero finds them."""
    table, look = np.full(2 * SMALL, UNKNOWN, np.int16), StateLookup(variable)
    numbers = [number_of(state) for state in variable.states]
    for x in (x for x in numbers if x == x // 1 and abs(x) < SMALL):
        table[int(x)] = look(int(x))
    for x in (x for x in missing.numbers if x == x // 1 and abs(x) < SMALL):
        table[int(x)] = -1
    return table


def raw(array: Any) -> tuple[NDArray[np.int32], NDArray[np.uint8], int]:
    """The memory of an Arrow array of numbers: values, bits of what is there, and where the first bit is."""
    bits, values = array.buffers()
    index = np.frombuffer(values, np.int32, count=len(array), offset=4 * array.offset)
    return index, NO_BITS if not array.null_count else np.frombuffer(bits, np.uint8), array.offset
