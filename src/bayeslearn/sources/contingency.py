"""Counts of groups of columns over a source: dense ones in one pass, large and sparse ones by SQL.

    N(a, b, c) = Σ_i w_i [row i shows a, b and c]

One pass counts all groups. Where most cells are empty, DuckDB groups equal rows, on disk if necessary, and each of the
remaining rows has its count as weight.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bayeslearn.errors import ParameterError
from bayeslearn.sources.duckdb_source import DuckDBSource, duckdb, limited, quoted, require_same
from bayeslearn.sources.engines import ThreadEngine
from bayeslearn.sources.file_source import FileSource, read_shard
from bayeslearn.tables.file_readers import column_names
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables import Table


def count_groups(source: Scanned, column_groups: Sequence[tuple[str, ...]]) -> list[NDArray[np.float64]]:
    """Return the counts of groups of columns of a source, with missing as the last index of every axis."""
    names = tuple(dict.fromkeys(name for group in column_groups for name in group))
    require_known(names, source.schema.names)
    narrow = source.declared(columns=names)
    if len(column_groups) <= FEW and is_near(narrow) and duckdb.is_installed():
        table: Table = group_counts(narrow, names).table()
        return table.count_groups(column_groups)
    return list(narrow.fold(Count(tuple(column_groups))).counts)


#: The number of groups up to which DuckDB counts faster than it returns rows.
FEW = 2


def is_near(source: Any) -> bool:
    """Whether DuckDB can group the rows itself, on this machine."""
    return isinstance(source, DuckDBSource) or (
        isinstance(source, FileSource) and isinstance(source.engine, ThreadEngine)
    )


@dataclass(frozen=True)
class Counted:
    """Counts of groups, with missing as the last index of every axis."""

    counts: tuple[NDArray[np.float64], ...]

    def __add__(self, other: Counted) -> Counted:
        return Counted(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))


@dataclass(frozen=True)
class Count:
    """Counts groups of columns of a batch."""

    column_groups: tuple[tuple[str, ...], ...]

    def __call__(self, table: Table) -> Counted:
        """Return the counts of one batch."""
        return Counted(tuple(table.count_groups(self.column_groups)))


### by SQL

#: The name of the column that says how many rows were equal.
NUMBER = "rows of this kind"


def group_counts(
    source: Any, columns: Iterable[str] | None = None, *, memory_limit: str | int | None = None
) -> DuckDBSource:
    """Equal rows as one that carries their weight: a source again, made by DuckDB's ``GROUP BY``.

    What does not fit into `memory_limit` is put on disk. Numeric columns count as equal where they are the same number.
    """
    if not isinstance(source, FileSource | DuckDBSource):
        raise ParameterError(
            f"DuckDB cannot group {source!r:.60}", hint="it groups files and relations; Table.distinct groups tables"
        )
    names = source.schema.names if columns is None else name_list("columns", columns)
    require_known(names, source.schema.names)
    rows = source.relation if isinstance(source, DuckDBSource) else relation_of(source, memory_limit)
    listed = ", ".join(map(quoted, names))
    number = "count(*)::double" if source.weight is None else f"sum({quoted(source.weight)}::double)"
    asked = rows.aggregate(f"{listed}, {number} as {quoted(NUMBER)}", listed)
    return DuckDBSource(
        relation=asked,
        shards=source.shards,
        schema=source.schema.select(names),
        request=source.request,
        weight=NUMBER,
        digest=None,
    )


def relation_of(files: FileSource, memory_limit: str | int | None) -> Any:
    """The files for DuckDB: Parquet it reads itself, text is read for it as for all others, and stays text."""
    connection = limited(duckdb.connect(), memory_limit)
    require_same(files.shards)
    if files.shards[0].is_text:
        return connection.from_arrow(TextRows(files))
    paths = dict.fromkeys(glob.escape(shard.path) for shard in files.shards)  # DuckDB takes names for patterns
    return connection.read_parquet(list(paths))


@dataclass(frozen=True)
class TextRows:
    """The cells of text files as Arrow hands them over, read anew whenever they are asked for."""

    files: FileSource

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream of batches."""
        names = [name for name in column_names(self.files.shards[0].path) if name in {*self.files.coder.names}]
        schema = pa.schema([(name, pa.string()) for name in names])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    def _batches(self, schema: Any) -> Iterator[Any]:
        for shard in self.files.shards:
            for batch in read_shard(shard, tuple(schema.names), self.files.rows_at_a_time):
                columns = {column.name: column.data.cast(pa.string()) for column in batch}
                yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
